// Proves that the generated inputs are the same every time, legal wherever they are cut, and of the stated shape.
import { createHash } from 'node:crypto'
import { LogFold } from 'session-persistence'
import { describe, expect, it } from 'vitest'
import { deltaLog, eventPages, messagesLog, takeEvents } from '../src/input/generated-log.ts'
import { jsonLines } from '../src/reference/bare-append.ts'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

describe.each([deltaLog, messagesLog])('the $name log', (input) => {
  it('is the same every time', () => {
    expect(hash(jsonLines(takeEvents(input, 5000)))).toBe(hash(jsonLines(takeEvents(input, 5000))))
  })

  it('is a prefix of its longer self', () => {
    expect(takeEvents(input, 3000).slice(0, 1234)).toEqual(takeEvents(input, 1234))
  })

  it('is accepted by the grammar, event by event, and times never go back', () => {
    const fold = new LogFold()
    let time = 0
    for (const event of takeEvents(input, 20_000)) {
      fold.accept(event)
      expect(event.time).toBeGreaterThanOrEqual(time)
      time = event.time
    }
    expect(fold.nextSeq).toBe(20_000)
  })

  it('comes in pages that join to the whole, the last one short', () => {
    const pages = [...eventPages(input, 250, 100)]
    expect(pages.map((page) => page.length)).toEqual([100, 100, 50])
    expect(pages.flat()).toEqual(takeEvents(input, 250))
  })
})

describe('the shapes', () => {
  const shapeOf = (input: typeof deltaLog): { readonly chunks: number; readonly bytes: number } => {
    const events = takeEvents(input, 50_000)
    return {
      chunks: events.filter(({ type }) => type === 'assistant/chunk').length / events.length,
      bytes: Buffer.byteLength(jsonLines(events)) / events.length,
    }
  }

  it('delta: 96 % chunks, and 190 bytes a line with its checksum of 17', () => {
    const { chunks, bytes } = shapeOf(deltaLog)
    expect(chunks).toBeCloseTo(0.96, 2)
    expect(bytes + 17).toBeGreaterThan(180)
    expect(bytes + 17).toBeLessThan(200)
  })

  it('messages: no chunks, 1.1 kB an event', () => {
    const { chunks, bytes } = shapeOf(messagesLog)
    expect(chunks).toBe(0)
    expect(bytes).toBeGreaterThan(1050)
    expect(bytes).toBeLessThan(1150)
  })
})
