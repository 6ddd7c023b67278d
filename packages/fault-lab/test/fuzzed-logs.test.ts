// Proves that no changed log makes a reader fail without a type, hang, or give events that nobody stored.
import { isSessionError } from '@session-persistence/core'
import { encodeSessionName } from '@session-persistence/file-log'
import { jsonlStorage } from '@session-persistence/jsonl'
import { describe, expect, it } from 'vitest'
import {
  DiskImage,
  FILE_BACKENDS,
  type FileBackend,
  JSONL,
  ModelFileSystem,
  mutate,
  newMount,
  Random,
  readSession,
  report,
  SCALE,
  SEED,
  sampleBatches,
  sampleHeader,
} from '../src/index.ts'

const RUNS = Math.round((SCALE >= 5 ? 100_000 : 4000) * SCALE)

/** Any file system; only what stands in the log differs. */
function place(backend: FileBackend, log: Buffer): ModelFileSystem {
  const directory = `root/${encodeSessionName('session')}`
  const nodes = new Map([
    ['root', undefined],
    [directory, undefined],
    [`${directory}/${backend.logName}`, log],
  ])
  return new ModelFileSystem({ mount: newMount(), disk: new DiskImage(nodes).toDisk() })
}

async function storedLog(backend: FileBackend, random: Random) {
  const fileSystem = new ModelFileSystem({
    mount: newMount(),
    disk: new DiskImage(new Map([['root', undefined]])).toDisk(),
  })
  const root = `${fileSystem.mount}/root`
  const batches = sampleBatches(random, 5, 4, 60)
  const storage = backend.open(fileSystem, root)
  const writer = await storage.openWriter('session', { kind: 'create', header: sampleHeader('session') })
  for (const batch of batches) await writer.append(batch)
  await writer.close()
  const file = await fileSystem.open(`${root}/${encodeSessionName('session')}/${backend.logName}`, 'read')
  const log = Buffer.alloc((await file.stat()).size)
  await file.read(log, 0)
  return { log, events: batches.flat() }
}

/** Undefined when all is well. */
async function readFuzzed(backend: FileBackend, log: Buffer, events: readonly unknown[]): Promise<string | undefined> {
  const fileSystem = place(backend, log)
  const storage = backend.open(fileSystem, `${fileSystem.mount}/root`)
  try {
    const found = (await readSession(storage, 'session')) ?? []
    const text = JSON.stringify(found)
    if (found.length > events.length || text !== JSON.stringify(events.slice(0, found.length)))
      return `other events: ${text}`
  } catch (error) {
    if (!isSessionError(error)) return `an error without a type: ${String(error)}`
    if (!/^(?:CORRUPT|UNSUPPORTED_VERSION)$/.test(error.code)) return `${error.code}: ${error.message}`
  }
  return undefined
}

/** The other entry points: whatever they say, they say it with a type. */
async function enter(backend: FileBackend, log: Buffer): Promise<string | undefined> {
  const fileSystem = place(backend, log)
  const storage = backend.open(fileSystem, `${fileSystem.mount}/root`)
  const steps: readonly (() => Promise<unknown>)[] = [
    () => storage.list({ limit: 10 }),
    () => storage.check('session'),
    async () => storage.repair?.('session', { dryRun: true }),
    async () => {
      const writer = await storage.openWriter('session', { kind: 'resume' })
      try {
        if (writer.tail.torn !== undefined) await writer.discardTornTail()
        await writer.settle()
      } finally {
        await writer.close()
      }
    },
    async () => storage.repair?.('session', { dryRun: false }),
  ]
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      if (!isSessionError(error)) return `an error without a type: ${String(error)}`
    }
  }
  return undefined
}

describe.each(FILE_BACKENDS)('$name, changed at random', { timeout: 120_000 * (1 + SCALE) }, (backend) => {
  it('is refused, or reads as what was stored', async () => {
    const random = new Random(SEED)
    let sample = await storedLog(backend, random)
    for (let run = 0; run < RUNS; run++) {
      if (run % 2000 === 1999) sample = await storedLog(backend, random)
      const log = mutate(sample.log, random)
      const problem =
        (await readFuzzed(backend, log, sample.events)) ?? (run % 10 === 0 ? await enter(backend, log) : undefined)
      expect(problem, problem === undefined ? '' : `run ${run}, log ${log.toString('base64')}`).toBeUndefined()
    }
    report(`fuzzed logs: ${backend.name}`, { mutations: RUNS, violations: 0 })
  })
})

it('sees a reader that skips the checksum', async () => {
  const weak: FileBackend = {
    ...JSONL,
    open: (fileSystem, root) => jsonlStorage({ root, fileSystem, checksum: 'none' }),
  }
  const random = new Random(SEED)
  const { log, events } = await storedLog(weak, random)
  let caught = 0
  for (let run = 0; run < 300; run++) if ((await readFuzzed(weak, mutate(log, random), events)) !== undefined) caught++
  expect(caught).toBeGreaterThan(0)
})
