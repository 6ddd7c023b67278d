// Proves that a store stays its owner's, whatever root does to it: logs, locks, documents and copies of originals.
import { chown, lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createPersistence } from '@session-persistence/core'
import { expect, it } from 'vitest'
import { store } from '../../jsonl/test/parts/sample-log.ts'
import { temporaryDirectory } from '../../jsonl/test/parts/temporary-directory.ts'
import { jsonlZstdStorage } from '../src/index.ts'
import { readLog, writeLog } from './parts/frame-log.ts'

const OWNER = 65_534
const isRoot = process.geteuid?.() === 0

/** Path and owner of everything below a directory, itself included. */
async function ownersBelow(path: string): Promise<Map<string, number>> {
  const stat = await lstat(path)
  const owners = new Map([[path, stat.uid]])
  if (!stat.isDirectory()) return owners
  for (const name of await readdir(path)) {
    for (const [below, uid] of await ownersBelow(join(path, name))) owners.set(below, uid)
  }
  return owners
}

async function giveAway(root: string): Promise<void> {
  for (const path of (await ownersBelow(root)).keys()) await chown(path, OWNER, OWNER)
}

const batches = Array.from({ length: 2000 }, (_, seq) => [
  { seq, time: seq, type: 'session/title', data: { title: `title ${seq}` } },
])

it.runIf(isRoot)('what root adds to or replaces in a store is its owner’s (needs root)', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlZstdStorage({ root, durability: 'process', sealAtClose: false })
  for (const id of ['damaged', 'torn', 'a'.repeat(300)]) await store(storage, id, batches)
  const whole = await readLog(root, 'damaged')
  await writeLog(root, 'damaged', Buffer.concat([whole.subarray(0, -200), Buffer.alloc(40), whole.subarray(-160)]))
  const torn = await readLog(root, 'torn')
  await writeLog(root, 'torn', torn.subarray(0, -5))
  await giveAway(root)

  const persistence = createPersistence(jsonlZstdStorage({ root, durability: 'process' }))
  const repaired = await persistence.repair('damaged', { dryRun: false })
  expect(repaired.originalAt).toBeDefined()
  // Cuts a torn tail and keeps it, seals at close, writes a snapshot and a summary.
  const resumed = await persistence.resume('torn')
  expect(resumed.recovery?.torn?.keptAt).toBeDefined()
  resumed.append('session/title', { title: 'by root' })
  await resumed.flush()
  const whileLocked = await ownersBelow(root)
  await resumed.close()
  await persistence.annotate('a'.repeat(300), { title: 'by root' })
  await (await persistence.fork('torn', { id: 'b'.repeat(300) })).close()
  const created = await persistence.create({ id: 'new' })
  created.append('session/title', { title: 'by root' })
  await created.close()
  await persistence.close()

  const owners = await ownersBelow(root)
  expect(new Set(whileLocked.values())).toEqual(new Set([OWNER]))
  expect(new Set(owners.values())).toEqual(new Set([OWNER]))
  const files = [...owners.keys()].map((path) => path.slice(root.length + 1))
  expect(files).toEqual(
    expect.arrayContaining([
      'new/session.jsonl.zst',
      'torn/snapshots.json',
      'torn/summary.json',
      'torn/session.jsonl.zst',
    ]),
  )
})

it.runIf(isRoot)('a new store is its maker’s, also in a directory of somebody else (needs root)', async () => {
  const home = await temporaryDirectory()
  await chown(home, OWNER, OWNER)
  const root = join(home, 'sessions')
  await store(jsonlZstdStorage({ root, durability: 'process' }), 'private', batches.slice(0, 1))
  expect(new Set((await ownersBelow(root)).values())).toEqual(new Set([0]))
})
