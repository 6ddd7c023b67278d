// Proves: an annotation or a resume that is refused for its arguments leaves a torn log byte for byte as it was, and no lock.
import { mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openPersistence } from '../src/open-persistence.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'refused-annotation-'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function bytesBelow(directory: string): Promise<Map<string, string>> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const found = new Map<string, string>()
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    found.set(path, (await readFile(path)).toString('base64'))
  }
  return found
}

it('leaves a torn tail alone', async () => {
  const persistence = await openPersistence(`jsonl:${root}`)
  const session = await persistence.create({ id: 's' })
  session.append('user/message', { message: 'first' })
  await session.flush()
  session.append('user/message', { message: 'second' })
  await session.close()
  const log = join(root, 's', 'session.jsonl')
  await truncate(log, (await readFile(log)).length - 5)
  const before = await bytesBelow(root)

  const tooLong = 'x'.repeat(65 * 1024 * 1024)
  const annotations: readonly unknown[] = [null, {}, { title: 5 }, { labels: { a: 1 } }, { labels: new Map() }]
  for (const annotation of annotations) {
    const refusal = persistence.annotate('s', annotation as never)
    await expect(refusal).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(await bytesBelow(root)).toEqual(before)
  }
  await expect(persistence.annotate('s', { title: tooLong })).rejects.toMatchObject({ code: 'TOO_LARGE' })
  await expect(persistence.resume('s', { writer: 5 } as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
  await expect(persistence.resume('s', { writer: tooLong })).rejects.toMatchObject({ code: 'TOO_LARGE' })
  expect(await bytesBelow(root)).toEqual(before)

  await persistence.annotate('s', { title: 'kept' })
  expect((await persistence.inspect('s')).summary().title).toBe('kept')
  await persistence.close()
})
