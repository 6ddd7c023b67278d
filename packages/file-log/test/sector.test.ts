// Proves which NULs a power cut explains: those that fill a batch's whole share of a 512-byte sector, and no others.
import { expect, it } from 'vitest'
import { hasZeroedSector, SECTOR_BYTES } from '../src/index.ts'

/** A file of `x` with NULs at `[from, to)`, and a batch at `[start, end)` of it. */
function zeroed(from: number, to: number, start: number, end: number): boolean {
  const bytes = Buffer.alloc(4 * SECTOR_BYTES, 'x')
  bytes.fill(0, from, to)
  return hasZeroedSector(bytes.subarray(start, end), 0, end - start, start, start, end)
}

it.each([
  ['a whole sector inside the batch', 512, 1024, 100, 1800, true],
  ['all but its first byte', 513, 1024, 100, 1800, false],
  ['all but its last byte', 512, 1023, 100, 1800, false],
  ['two sectors and parts of two more', 300, 1600, 100, 1800, true],
  ['the share of the first sector', 100, 512, 100, 1800, true],
  ['the share of the first sector without its first byte', 101, 512, 100, 1800, false],
  ['the share of the last sector', 1536, 1800, 100, 1800, true],
  ['the share of the last sector without its last byte', 1536, 1799, 100, 1800, false],
  ['a batch inside one sector', 100, 200, 100, 200, true],
  ['nothing', 0, 0, 100, 1800, false],
] as const)('%s', (_, from, to, start, end, expected) => {
  expect(zeroed(from, to, start, end)).toBe(expected)
})

it('looks only where it is told to', () => {
  const bytes = Buffer.alloc(2048, 'x').fill(0, 512, 1024)
  expect(hasZeroedSector(bytes, 0, 512, 0, 0, 2048)).toBe(false)
  expect(hasZeroedSector(bytes, 512, 1024, 0, 0, 2048)).toBe(true)
  expect(hasZeroedSector(bytes, 1024, 2048, 0, 0, 2048)).toBe(false)
})
