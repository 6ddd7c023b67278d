// Proves that the logs below a directory are found in order, and that a directory that cannot be listed is reported and
// keeps nothing else out.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { logFilesOf } from '../src/log-files.ts'
import { temporaryRoot } from './support/temporary-root.ts'

it('goes on behind a directory that cannot be listed', async () => {
  await using place = await temporaryRoot()
  const inPlace = (name: string): string => join(place.directory, name)
  for (const name of ['a', 'gone', 'z']) {
    await mkdir(inPlace(name))
    await writeFile(inPlace(`${name}/log.jsonl`), '')
  }
  await writeFile(inPlace('a/log.jsonl.zst'), '')
  await writeFile(inPlace('a/log.json'), '')
  const failures: unknown[] = []
  const found: string[] = []
  const remember = async (error: unknown): Promise<void> => {
    failures.push(error)
  }
  for await (const file of logFilesOf(place.directory, remember)) {
    found.push(file)
    // After it was seen in its parent, before it is listed itself.
    await rm(inPlace('gone'), { recursive: true, force: true })
  }
  expect(found).toEqual([inPlace('a/log.jsonl'), inPlace('a/log.jsonl.zst'), inPlace('z/log.jsonl')])
  expect(failures).toMatchObject([{ code: 'NOT_FOUND', path: inPlace('gone') }])
})
