import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AnySessionEvent,
  isCoreType,
  type Json,
  LogFold,
  losslessCopy,
  validateCoreEvent,
} from '@session-persistence/core'
import { afterAll, beforeAll } from 'vitest'
import { type ImportedLog, readLogs } from '../src/index.ts'

/** A directory for the files of one test file, removed at its end. */
export function useSourceFiles(): (content: string | Uint8Array) => Promise<string> {
  let directory = ''
  let count = 0
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'interchange-'))
  })
  afterAll(() => rm(directory, { recursive: true, force: true }))
  return async (content) => {
    const path = join(directory, `source-${count++}.jsonl`)
    await writeFile(path, content)
    return path
  }
}

export interface ReadLog extends Pick<ImportedLog, 'header' | 'report'> {
  readonly events: readonly AnySessionEvent[]
  readonly fold: LogFold
}

/** Every log of a file, its events judged by the grammar, the schemas and the losslessness check as an import would. */
export async function readAll(path: string): Promise<ReadLog[]> {
  const logs: ReadLog[] = []
  for await (const { header, events: pages, report } of readLogs(path)) {
    const fold = new LogFold()
    const events: AnySessionEvent[] = []
    for await (const page of pages) {
      for (const event of page) {
        const { value } = losslessCopy(event.data)
        if (isCoreType(event.type)) validateCoreEvent(event.type, value as Json)
        fold.accept(event)
        events.push(event)
      }
    }
    logs.push({ header, report, events, fold })
  }
  return logs
}

/** The only log of a file. */
export async function readOne(path: string): Promise<ReadLog> {
  const [log, ...others] = await readAll(path)
  if (log === undefined || others.length > 0)
    throw new Error(`expected one log, found ${others.length + (log ? 1 : 0)}`)
  return log
}

export function ofType(events: readonly AnySessionEvent[], type: string): AnySessionEvent[] {
  return events.filter((event) => event.type === type)
}

/** Lines of a small log of DeepSeek Harness: one turn with one prompt, and `middle` after it. */
export function dshLog(middle: readonly (string | Buffer)[] = [], header: object = {}): Buffer {
  const lines = [
    JSON.stringify({ type: 'session', version: 0, id: 'session-1', createdAt: 1000, cwd: '/work', ...header }),
    '{"type":"turn/start","seq":0,"time":1001,"data":{"turn":1}}',
    '{"type":"user/message","seq":1,"time":1002,"data":{"content":[{"type":"text","text":"hello"}],"source":{"kind":"user"},"role":"user","id":"m1"},"surfaceOp":"append"}',
    ...middle,
  ]
  return Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]))
}
