import { type FileHandle, open, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { exportSession } from '@session-persistence/interchange'
import { Command } from 'commander'
import type { Runtime } from '../runtime.ts'
import { findSession, sessionArgument } from '../session-id.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { systemError } from '../system-error.ts'
import { Progress } from '../terminal/progress.ts'
import { byteSize } from '../terminal/quantity.ts'

export function exportCommand(runtime: Runtime): Command {
  return addStoreOptions(new Command('export').description('write a session as canonical JSONL, which import reads'))
    .addArgument(sessionArgument())
    .option('-o, --output <file>', 'a new file instead of standard output')
    .addHelpText(
      'after',
      `
The header on the first line, then every event as it is stored, one a line. A file that exists is not replaced.

Examples:
  session-persistence export 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 --output session.jsonl
  session-persistence export 0197c3f2-8a4e-7c41-9d65-3f1b2a9c7e10 | gzip > session.jsonl.gz`,
    )
    .action(async (given: string, options: StoreOptions & { readonly output?: string }) => {
      const { out, err, signal } = runtime
      await using persistence = await openStore(options)
      const id = await findSession(persistence, given, signal)
      const lines = exportSession(persistence, id, { signal })
      if (options.output === undefined) {
        for await (const line of lines) await out.write(line)
      } else {
        using progress = new Progress(err)
        await writeNewFile(options.output, lines, (bytes) => progress.show(() => `${byteSize(bytes)} written …`))
      }
    })
}

/** Writes a file that was not there, synced; leaves none behind when that fails. */
async function writeNewFile(
  file: string,
  parts: AsyncIterable<string>,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const path = resolve(file)
  // The first part before the file: a session that cannot be read must leave no empty file.
  const iterator = parts[Symbol.asyncIterator]()
  let next = await iterator.next()
  let handle: FileHandle
  try {
    handle = await open(path, 'wx', 0o600)
  } catch (error) {
    throw systemError(error, 'the file could not be made', path)
  }
  try {
    for (let bytes = 0; next.done !== true; next = await iterator.next()) {
      await handle.appendFile(next.value)
      bytes += Buffer.byteLength(next.value)
      onProgress(bytes)
    }
    await handle.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw systemError(error, 'the file could not be written', path)
  } finally {
    await iterator.return?.()
    await handle.close()
  }
}
