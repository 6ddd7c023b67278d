// Proves that a name is looked at again as soon as anything in its directory changed, or a second passed, and that a
// directory is believed only once its next change is sure to show.
import { lstatSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { SteadyNames } from '../src/steady-names.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let directory = ''
let looks = 0
let now = 0
let name: SteadyNames

beforeEach(async () => {
  // Below one that is removed, since a test moves it away.
  directory = join(await temporaryDirectory(), 'logs')
  await mkdir(directory)
  await writeFile(join(directory, 'log'), 'one')
  await writeFile(join(directory, 'other'), 'two')
  looks = 0
  // Long after the last change, whatever the file system's times are made of.
  now = lstatSync(directory).ctimeMs + 60_000
  name = new SteadyNames(
    directory,
    () => {
      looks++
      return lstatSync(join(directory, 'log'), { throwIfNoEntry: false })?.ino.toString() ?? 'nothing'
    },
    () => now,
  )
})

it('looks once while the directory stays as it is', async () => {
  const found = name.identity()
  await writeFile(join(directory, 'log'), 'written in place')
  expect([name.identity(), name.identity(), looks]).toEqual([found, found, 1])
  expect(found).toBe(String(lstatSync(join(directory, 'log')).ino))
})

it.each<[string, () => Promise<void>]>([
  ['removed', () => rm(join(directory, 'log'))],
  ['replaced', () => rename(join(directory, 'other'), join(directory, 'log'))],
  ['moved away with its directory', () => rename(directory, `${directory}-moved`)],
])('sees at once that the file was %s', async (_, change) => {
  const before = name.identity()
  await change()
  expect(name.identity()).not.toBe(before)
  expect(looks).toBe(2)
})

it('looks again after a second, and when the clock was set back', () => {
  name.identity()
  now += 999
  name.identity()
  expect(looks).toBe(1)
  now += 1
  name.identity()
  expect(looks).toBe(2)
  now -= 5_000
  name.identity()
  expect(looks).toBe(3)
})

it('looks each time while a change might not show yet', () => {
  for (const age of [-10, 0, 50]) {
    now = lstatSync(directory).ctimeMs + age
    name.identity()
    name.identity()
  }
  expect(looks).toBe(6)
})

it('keeps nothing of a look that failed', () => {
  let fails = true
  const failing = new SteadyNames(
    directory,
    () => {
      if (fails) throw new Error('planted')
      return 'plain'
    },
    () => now,
  )
  expect(() => failing.identity()).toThrow('planted')
  expect(() => failing.identity()).toThrow('planted')
  fails = false
  expect(failing.identity()).toBe('plain')
})
