// Which file a crash can tear is seen from what each flush does to the files: appends, a new file a batch, or one that replaces the last.
import { expect, it } from 'vitest'
import { batchFileOf, type FilesAtRest } from '../src/batch-file.ts'

/** Files as `name: [contents, inode]`. */
function files(given: Readonly<Record<string, readonly [string, number]>>): FilesAtRest {
  return new Map(
    Object.entries(given).map(([path, [text, inode]]) => [path, { bytes: Buffer.from(text), inode: BigInt(inode) }]),
  )
}

it('a file that grows', () => {
  const states = [
    files({}),
    files({ log: ['h1', 1], lock: ['x', 2] }),
    files({ log: ['h12', 1], lock: ['x', 2] }),
    files({ log: ['h123', 1], lock: ['x', 2] }),
  ]
  expect(batchFileOf(states)).toEqual({ kind: 'appended', path: 'log', ends: [2, 3, 4] })
})

it('a new file a batch', () => {
  const states = [
    files({}),
    files({ 0: ['h', 1], 1: ['one', 2] }),
    files({ 0: ['h', 1], 1: ['one', 2], 2: ['two', 3] }),
    files({ 0: ['h', 1], 1: ['one', 2], 2: ['two', 3], 3: ['three', 4] }),
  ]
  expect(batchFileOf(states)).toEqual({ kind: 'new', path: '3', ends: [0, 0, 5] })
})

it('a file that takes the place of the last, whose inode may come again', () => {
  const states = [files({}), files({ log: ['[1]', 1] }), files({ log: ['[1,2]', 2] }), files({ log: ['[1,2,3]', 1] })]
  expect(batchFileOf(states)).toEqual({ kind: 'replaced' })
})

it('a file that is changed in place can be torn nobody knows where', () => {
  const states = [files({}), files({ db: ['aaaa', 1] }), files({ db: ['abba', 1] }), files({ db: ['acca', 1] })]
  expect(batchFileOf(states)).toEqual({ kind: 'unknown' })
  expect(batchFileOf(states.slice(0, 2))).toEqual({ kind: 'unknown' })
})
