/** Logs of lines that no writer of ours made. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { jsonlStorage } from '@session-persistence/jsonl'
import { sampleHeader } from '../scenario/sample-events.ts'
import { behind, HOSTILE_TASK, type HostileFile, instead, sparse } from './hostile-file.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

/** A line behind the header of a log that has no checksums, so that what is in the line is looked at. */
function unguarded(line: string | Buffer): HostileFile['plant'] {
  return async ({ root, path }) => {
    rmSync(dirname(path), { recursive: true })
    const storage = jsonlStorage({ root, checksum: 'none' })
    const writer = await storage.openWriter(HOSTILE_TASK.id, { kind: 'create', header: sampleHeader(HOSTILE_TASK.id) })
    await writer.append([{ seq: 0, time: 1, type: 'turn/start', data: { turn: 1 } }])
    await writer.close()
    await storage.close()
    const header = readFileSync(path).subarray(0, readFileSync(path).indexOf(0x0a) + 1)
    writeFileSync(path, Buffer.concat([header, Buffer.from(line), Buffer.from('\n')]))
  }
}

/** Another value of a header field, its checksum put right. */
function header(field: string, value: string): HostileFile['plant'] {
  return ({ path }) => {
    const log = readFileSync(path)
    const end = log.indexOf(0x0a)
    const fields = log.toString('utf8', 0, end).replace(/,"crc":"[0-9a-f]{8}"\}$/, '')
    const body = Buffer.from(fields.replace(new RegExp(`"${field}":("[^"]*"|-?[0-9]+)`), () => `"${field}":${value}`))
    const crc = crc32(body).toString(16).padStart(8, '0')
    writeFileSync(path, Buffer.concat([body, Buffer.from(`,"crc":"${crc}"}`), log.subarray(end)]))
  }
}

function event(data: string): string {
  return `{"seq":0,"time":1,"type":"a/b","data":${data},"batch":0}`
}

const PLANTS: Readonly<Record<string, HostileFile['plant']>> = {
  nothing: instead(''),
  'text of another program': instead('just some notes\nof somebody\n'.repeat(50)),
  'JSON lines of another program': instead('{"type":"session","id":"x"}\n{"type":"user"}\n'),
  'random bytes': instead(Buffer.from(Uint8Array.from({ length: 50_000 }, (_, index) => (index * 7919) & 255))),
  'a gzip file': instead(Buffer.from('1f8b0800000000000003534c4a060041f8d3c603000000', 'hex')),
  'text in UTF-16': instead(Buffer.from('\ufeff{"seq":0}\n', 'utf16le')),
  '60,000 nested arrays': instead(`${'['.repeat(60_000)}\n`),
  'a long line that never ends': instead(`{"x":"${'x'.repeat(8 * MiB)}`),
  'a gigabyte of zeros': sparse(GiB, ''),
  'a gigabyte of zeros behind the log': sparse(GiB),
  'a line of 512 MB behind the log': ({ path }) => {
    behind('{"seq":999,"time":1,"type":"a/b","data":"')({ path, root: '' })
    truncateSync(path, 512 * MiB)
  },
  'a header of another version': header('version', '4294967296'),
  'a header of another session': header('id', '"somebody"'),
  'a header with an id of 1 MB': header('id', `"${'x'.repeat(MiB)}"`),
  'a log of another format': instead(Buffer.from('28b52ffd2000010000', 'hex')),
}

const CONTENTS: Readonly<Record<string, string | Buffer>> = {
  'JSON of 200,000 levels': event('['.repeat(200_000) + ']'.repeat(200_000)),
  'objects of 200,000 levels': event(`${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`),
  '`__proto__` as a key': event('{"__proto__":{"polluted":true}}'),
  'bytes that are no UTF-8': Buffer.concat([Buffer.from(event('"x')), Buffer.from([0xff, 0xc0, 0x22])]),
  'a number without an end': event('1'.repeat(200_000)),
  '100,000 keys of one name': event(`{${'"a":1,'.repeat(100_000)}"a":1}`),
}

export const HOSTILE_LOGS: readonly HostileFile[] = [
  ...Object.entries(PLANTS).map(([name, plant]) => ({ name, backend: 'jsonl' as const, plant })),
  ...Object.entries(CONTENTS).map(([name, line]) => ({
    name,
    backend: 'jsonl' as const,
    unguarded: true,
    plant: unguarded(line),
  })),
]
