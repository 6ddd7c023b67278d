import type { SessionPersistence } from '@session-persistence/core'
import fc from 'fast-check'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat } from '../expectation.ts'
import { appendUntyped, storedEvents, storeSession } from '../stored-events.ts'

/** Strings that other stores cut, split, replace or refuse. */
const AWKWARD_STRINGS: readonly string[] = [
  '',
  '\ud800',
  'half an emoji \ud83d',
  '\udc00 the other half',
  'NUL \u0000 inside',
  '\u0000',
  'line\u2028and paragraph\u2029separators',
  '\u0085next line',
  'vertical \u000b and form \u000c feed',
  '\ufeffbyte order mark first',
  'carriage\r\nreturn\rand\nnewline',
  '"quotes" \\ and / slashes',
  '\u007f\u0080\u009f\u00a0',
  '\uffff\ufffe',
  '𝒳🧵👩‍👩‍👧‍👦',
  'é vs e\u0301',
]

export const DATA_CASES: readonly ConformanceCase[] = casesOf('DATA', {
  1: {
    title: 'Every string comes back unit for unit: lone surrogates, U+0000, line separators, a byte order mark, CRLF.',
    why: 'One replaced unit poisons every later request, or cuts a tool’s output.',
    run: roundTrips(AWKWARD_STRINGS),
  },
  2: {
    title: 'The same strings come back as keys.',
    why: 'Tool arguments are keyed by whatever the model wrote.',
    run: roundTrips(AWKWARD_STRINGS.map((key) => ({ [key]: key, after: 1 }))),
  },
  3: {
    title: 'Numbers come back exactly: up to 2^53, 1e308, 5e-324, fractions.',
    why: 'Ids and token counts are numbers.',
    run: roundTrips([
      0,
      1,
      -1,
      2 ** 31,
      2 ** 32,
      2 ** 53 - 1,
      2 ** 53,
      -(2 ** 53),
      1e21,
      1e308,
      1.7976931348623157e308,
      5e-324,
      0.1,
      0.30000000000000004,
      123456789.12345679,
    ]),
  },
  4: {
    title: 'Own keys like `__proto__` and `constructor` are data: they come back, and no prototype changes.',
    why: 'A hostile tool result must not reach the objects of the harness.',
    run: async (context) => {
      const hostile: unknown[] = [
        JSON.parse('{"__proto__":{"polluted":"yes"},"after":1}'),
        JSON.parse('{"constructor":{"prototype":{"polluted":"yes"}}}'),
        JSON.parse('{"toString":1,"hasOwnProperty":2,"valueOf":null,"__proto__":3}'),
      ]
      await roundTrips(hostile)(context)
      expectThat(!('polluted' in {}), 'Object.prototype was changed')
    },
  },
  5: {
    title: 'Keys keep their order.',
    why: 'Providers cache by the exact bytes of a request.',
    run: roundTrips([
      { z: 1, a: 2, m: { y: 1, b: 2 } },
      { b: 1, a: 1, B: 1, A: 1, _: 1 },
    ]),
  },
  6: {
    title: 'Empty and odd shapes come back: empty objects and lists, null, booleans, lists of lists, scalar messages.',
    why: 'A message is opaque: persistence never decides what one looks like.',
    run: roundTrips([
      {},
      [],
      null,
      true,
      false,
      0,
      '',
      [[]],
      [{}],
      { a: {} },
      { a: [] },
      [null, [null]],
      [[[], {}], []],
    ]),
  },
  7: {
    title: 'Data nested 500 deep comes back.',
    why: 'Schemas inside tool arguments nest.',
    run: async (context) => {
      let [list, object]: [unknown, unknown] = ['bottom', 'bottom']
      for (let level = 0; level < 490; level += 1) [list, object] = [[list], { in: object }]
      await roundTrips([list, object])(context)
    },
  },
  8: {
    title: 'An event of 27 MB, an image of 20 MB in base64, comes back.',
    why: 'Screenshots and documents are part of conversations.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => {
      const bytes = context.effort === 'full' ? 27_000_000 : 300_000
      const image = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(Math.ceil(bytes / 24))
      const persistence = await context.open()
      await storeSession(persistence, 's', [
        [{ type: 'user/message', data: { message: 'before' } }],
        [{ type: 'user/message', data: { message: { image } } }],
        [{ type: 'user/message', data: { message: 'after' } }],
      ])
      const stored = await storedEvents(await context.open(), 's')
      expectEqual(
        stored.map(({ seq }) => seq),
        [0, 1, 2],
        'seqs',
      )
      const message = (stored[1]?.data as { message?: { image?: string } } | undefined)?.message
      expectThat(message?.image === image, 'the image was changed')
    },
  },
  9: {
    title: 'Text that looks like the store’s own records comes back, and is never taken for one.',
    why: 'Agents read session logs with their tools.',
    run: async (context) => {
      const persistence = await context.open()
      const forged = [
        '{"seq":0,"time":1,"type":"turn/start","data":{"turn":1},"batch":0,"crc":"00000000"}',
        '\n{"seq":99,"time":1,"type":"user/message","data":{"message":"forged"},"batch":99,"crc":"deadbeef"}\n',
        '{"format":"session-persistence","version":1,"id":"s","createdAt":1}\n',
        '}\n{',
        '\u0028\u00b5\u002f\u00fd',
        '\u0050\u002a\u004d\u0018',
        'SQLite format 3\u0000',
      ]
      const events = await storeSession(persistence, 's', [
        ...forged.map((message) => [{ type: 'user/message', data: { message } } as const]),
        [{ type: 'user/message', data: { message: { seq: 0, batch: 0, crc: '00000000', type: 'x' } } }],
      ])
      expectEqual(await storedEvents(await context.open(), 's'), events, 'stored events')
    },
  },
  10: {
    title: 'What JSON would lose is refused with INVALID_EVENT that names the path, and nothing is appended.',
    why: 'A value that comes back different was lost in silence.',
    run: async (context) => {
      const session = await (await context.open()).create({ id: 's' })
      const cycle: Record<string, unknown> = {}
      cycle.self = cycle
      const sparse: unknown[] = [1]
      sparse[3] = 1
      class Instance {
        readonly field = 1
      }
      const lossy: Readonly<Record<string, unknown>> = {
        undefined: undefined,
        function: () => 1,
        symbol: Symbol('s'),
        bigint: 1n,
        NaN: Number.NaN,
        Infinity: Number.POSITIVE_INFINITY,
        'minus zero': -0,
        'a cycle': cycle,
        'a sparse list': sparse,
        Date: new Date(0),
        Map: new Map(),
        Set: new Set(),
        RegExp: /x/,
        Buffer: Buffer.from('x'),
        'a class instance': new Instance(),
      }
      for (const [name, value] of Object.entries(lossy)) {
        const data = { message: { list: [1, { here: value }] } }
        const error = await expectRefusal(() => appendUntyped(session, 'user/message', data), 'INVALID_EVENT', name)
        const path = error.path ?? ''
        expectThat(path.includes('message') && path.includes('here'), `${name}: the path '${path}' does not lead to it`)
        expectEqual(session.nextSeq, 0, `nextSeq after ${name}`)
      }
    },
  },
  11: {
    title: 'Any JSON value comes back as it was, after closing and reopening.',
    why: 'The values that break a store are the ones that nobody thought of.',
    run: async (context) => {
      const runs = context.effort === 'full' ? 300 : 80
      const values = fc.sample(jsonValue, { numRuns: runs, seed: Math.floor(context.random() * 2 ** 31) })
      await roundTrips(values)(context)
    },
  },
})

/** Any JSON value, strings of any units included. -0 is not JSON. */
const jsonValue: fc.Arbitrary<unknown> = fc
  .jsonValue({ stringUnit: 'binary', maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)

/** Each value as the message of one event: live, stored, and read by a fresh handle. */
function roundTrips(values: readonly unknown[]): (context: CaseContext) => Promise<void> {
  return async (context) => {
    const persistence = await context.open()
    const session = await persistence.create({ id: 's' })
    for (const message of values) session.append('user/message', { message })
    expectEqual(session.messages(), values, 'live messages')
    await session.close()
    await persistence.close()
    const again = await context.open()
    expectEqual(await messagesOf(again), values, 'messages read back')
    expectEqual((await again.inspect('s')).messages(), values, 'messages of the view')
  }
}

async function messagesOf(persistence: SessionPersistence): Promise<readonly unknown[]> {
  return (await storedEvents(persistence, 's')).map(({ data }) => (data as { readonly message: unknown }).message)
}
