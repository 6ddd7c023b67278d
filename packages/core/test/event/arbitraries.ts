/** Generators that several tests of events share. */
import fc from 'fast-check'
import type { AnySessionEvent } from '../../src/event/event.ts'

/** Multiplies the number of runs. */
export const scale: number = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? '1')

/** Any text that JavaScript can hold: lone surrogates, U+0000, separators and quotes included. */
export function anyText(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    fc.constantFrom('', '\0', '\ud800', '\udc00', '\u2028', '"\\', '__proto__', 'constructor', '{"seq":0}'),
  )
}

/** Any number that JSON gives back: finite, not -0. */
function anyNumber(): fc.Arbitrary<number> {
  return fc
    .oneof(fc.integer(), fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .map((n) => n + 0)
}

/** Any lossless JSON value; own `__proto__` keys included. */
export function losslessJson(): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      anyText(),
      anyNumber(),
      fc.constantFrom(null, true, false),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.array(fc.tuple(anyText(), tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  })).value
}

const count = (): fc.Arbitrary<number> => fc.integer({ min: 1, max: 3 })

/** The data of a delta, in the usual key order and now and then in another. */
function chunkData(): fc.Arbitrary<unknown> {
  const block = { turn: count(), step: count(), index: fc.integer({ min: 0, max: 1 }), text: anyText() }
  return fc.oneof(
    fc
      .record({ ...block, kind: fc.constantFrom('text', 'reasoning') })
      .map(({ turn, step, kind, index, text }) => ({ turn, step, kind, index, text })),
    fc
      .record({
        ...block,
        callId: fc.constantFrom('c1', 'c2'),
        name: fc.option(fc.constant('tool'), { nil: undefined }),
      })
      .map(({ turn, step, index, callId, name, text }) => ({
        ...{ turn, step, kind: 'tool-arguments', index, callId },
        ...(name === undefined ? {} : { name }),
        text,
      })),
    fc.record(block).map(({ turn, step, index, text }) => ({ step, turn, kind: 'text', index, text })),
    fc.record(block).map((data) => ({ ...data, kind: 'text', extra: 1 })),
    fc.record({ turn: count(), step: count(), kind: fc.constant('other'), value: losslessJson() }),
  )
}

/** A log: contiguous seqs from `first`, runs of similar deltas, other events, envelopes with and without extras. */
export function anyLog(first: number = 0): fc.Arbitrary<readonly AnySessionEvent[]> {
  const time = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.maxSafeInteger())
  const alike = fc
    .tuple(chunkData(), fc.array(fc.tuple(anyText(), time), { maxLength: 12 }))
    .map(([data, deltas]) =>
      deltas.map(([text, at]) => ({ time: at, type: 'assistant/chunk', data: { ...(data as object), text } })),
    )
  const mixed = fc.array(fc.record({ time, type: fc.constant('assistant/chunk'), data: chunkData() }), { maxLength: 3 })
  const other = fc.array(fc.record({ time, type: fc.constant('acme/note'), data: losslessJson() }), { maxLength: 2 })
  const extras = fc.constantFrom<object>({}, {}, {}, {}, { ignorable: true }, { sources: [[0, 0]] }, { sources: [] })
  return fc
    .array(fc.tuple(fc.oneof(alike, alike, mixed, other), extras), { maxLength: 6 })
    .map((groups) =>
      groups.flatMap(([events, extra]) => events.map((event, at) => (at === 0 ? { ...event, ...extra } : event))),
    )
    .map((events) => events.map((event, at) => ({ seq: first + at, ...event })))
}
