// Proves that a summary is believed only where its receipt could be that of an event: what is disposable must not refuse a log.
import { expect, it } from 'vitest'
import { summaryHead, summaryText } from '../../src/session/summary-document.ts'

const facts = { labels: {}, turns: 1, messages: 2 }
const headOf = (seq: number): unknown => summaryHead(summaryText(facts, { seq, crc: '00000000' }))

it.each([1.5, 1e16, 1e308, -0.5])('a summary of the event %d is as good as absent', (seq) => {
  expect(headOf(seq)).toBeUndefined()
})

it.each([-1, 0, 7, Number.MAX_SAFE_INTEGER])('a summary of the event %d is believed', (seq) => {
  expect(headOf(seq)).toEqual({ seq, crc: '00000000' })
})
