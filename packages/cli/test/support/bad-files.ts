import { execFileSync } from 'node:child_process'
import { mkdir, open, writeFile } from 'node:fs/promises'

const gigabyte = 1024 ** 3

/** Everything that somebody may name by mistake where a log is expected, each with how to make it at a path. */
export const badFiles: { readonly [what: string]: (path: string) => Promise<void> } = {
  'a directory': async (path) => {
    await mkdir(path)
  },
  'a binary': (path) =>
    writeFile(path, Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7919) % 251))),
  'an empty file': (path) => writeFile(path, ''),
  'a gigabyte of zeros': async (path) => {
    const file = await open(path, 'wx')
    await file.truncate(gigabyte) // a hole: it takes no space
    await file.close()
  },
  'a FIFO': async (path) => {
    execFileSync('mkfifo', [path])
  },
  'a log of another program': (path) =>
    writeFile(path, '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n'),
  'a text': (path) => writeFile(path, 'Dear diary,\n\nnothing happened today.\n'),
}
