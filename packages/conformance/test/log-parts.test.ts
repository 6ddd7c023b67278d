// A log in pieces is damaged where the case says, and keeps its pieces.
import { describe, expect, it } from 'vitest'
import { bytesOf, endsOf, flippedParts, type LogPart, zeroedParts } from '../src/log-parts.ts'

const part = (...texts: readonly string[]): LogPart => texts.map((text) => Buffer.from(text))
const PARTS = [part('head', 'one'), part('two'), part('', 'three')]

const textsOf = (parts: readonly LogPart[]): readonly (readonly string[])[] => {
  return parts.map((pieces) => pieces.map((piece) => Buffer.from(piece).toString('latin1')))
}

describe('parts of a log', () => {
  it('end where their last piece ends', () => {
    expect(bytesOf(PARTS).toString()).toBe('headonetwothree')
    expect(endsOf(PARTS)).toEqual([7, 10, 15])
  })

  it('have one bit flipped, whichever piece it is in', () => {
    expect(textsOf(flippedParts(PARTS, 4))).toEqual([['head', 'nne'], ['two'], ['', 'three']])
    expect(textsOf(flippedParts(PARTS, 10, 5))).toEqual([['head', 'one'], ['two'], ['', 'Three']])
  })

  it('have a run of zeros across pieces', () => {
    expect(textsOf(zeroedParts(PARTS, 6, 12))).toEqual([['head', 'on\0'], ['\0\0\0'], ['', '\0\0ree']])
  })

  it('are left as they were themselves', () => {
    zeroedParts(PARTS, 0, 15)
    expect(textsOf(PARTS)).toEqual([['head', 'one'], ['two'], ['', 'three']])
  })
})
