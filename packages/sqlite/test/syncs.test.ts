// Proves that every commit is synced before it is acknowledged, once, also on a database that was opened again, where
// the driver alone would have stopped syncing.
import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { notes, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'
import { WriterProcess } from './parts/writer-process.ts'

const hasStrace = spawnSync('strace', ['-V']).status === 0

/** Calls that sync, write or say `ack`, in order, of a process that appends to a stored session. */
async function traceOf(batches: number, journal: 'wal' | 'delete'): Promise<readonly ('sync' | 'write' | 'ack')[]> {
  const file = join(await temporaryDirectory(), 'sessions.db')
  const storage = sqliteStorage({ file, journal })
  await store(storage, 's', [notes(2)])
  await storage.close()
  const log = join(dirname(file), 'trace')
  const calls = 'trace=fsync,fdatasync,pwrite64,write'
  const writer = new WriterProcess({
    file,
    id: 's',
    batches,
    words: journal === 'delete' ? ['delete'] : [],
    under: ['strace', '-f', '-y', '-s', '64', '-o', log, '-e', calls],
  })
  await writer.until(({ kind }) => kind === 'closed')
  await writer.exit()
  const lines = (await readFile(log, 'utf8')).split('\n')
  return lines.flatMap((line) => {
    if (/f(?:data)?sync\(.*sessions\.db/.test(line)) return ['sync'] as const
    if (/pwrite64\(.*sessions\.db/.test(line)) return ['write'] as const
    return line.includes('\\"kind\\":\\"ack\\"') ? (['ack'] as const) : []
  })
}

describe.runIf(hasStrace)('a commit (needs strace)', { timeout: 60_000 }, () => {
  it('costs one sync with a write-ahead log', async () => {
    const syncs = async (batches: number): Promise<number> =>
      (await traceOf(batches, 'wal')).filter((call) => call === 'sync').length
    expect((await syncs(30)) - (await syncs(10))).toBe(20)
  })

  it.each(['wal', 'delete'] as const)(
    'is synced between its last write and its acknowledgement (journal: %s)',
    async (journal) => {
      const trace = await traceOf(10, journal)
      expect(trace.filter((call) => call === 'ack')).toHaveLength(10)
      let unsynced = 0
      for (const call of trace) {
        if (call === 'write') unsynced++
        if (call === 'sync') unsynced = 0
        if (call === 'ack') expect(unsynced).toBe(0)
      }
      expect(trace.indexOf('write')).toBeLessThan(trace.indexOf('ack'))
    },
  )
})

if (!hasStrace) it.skip('syncs: not exercised, strace is not installed')
