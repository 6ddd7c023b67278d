// Proves what the README says of damage before the newest snapshot: who does not read there goes on, who does is refused.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openJsonl } from '../src/index.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

/** A close writes a snapshot of so many. */
const EVENTS = 1_200
const DAMAGED = 20

it('damage before a snapshot', async () => {
  const root = await temporaryDirectory()
  const persistence = await openJsonl({ root })
  const session = await persistence.create({ id: 's' })
  for (let count = 0; count < EVENTS; count++) {
    session.append('user/message', { message: `message ${count}.` })
    if (count % 100 === 99) await session.flush()
  }
  await session.close()
  const path = join(root, 's', 'session.jsonl')
  const bytes = await readFile(path)
  bytes.writeUInt8(0x21, bytes.indexOf(`message ${DAMAGED}.`))
  await writeFile(path, bytes)

  const corrupt = { code: 'CORRUPT', seq: DAMAGED }
  expect((await persistence.inspect('s')).nextSeq).toBe(EVENTS)
  await persistence.annotate('s', { title: 'another' })
  const resumed = await persistence.resume('s')
  await resumed.close()
  expect((await persistence.verify('s')).problems).toMatchObject([corrupt])
  await expect(persistence.fork('s')).rejects.toMatchObject(corrupt)
  await expect(persistence.inspect('s', { at: DAMAGED })).rejects.toMatchObject(corrupt)
  const child = await persistence.fork('s', { at: DAMAGED - 1 })
  expect(child.nextSeq).toBe(DAMAGED + 1)
  await persistence.close()
})
