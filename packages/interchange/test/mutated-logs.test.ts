// Proves that no damage makes a reader fail, hang or give events that an import would refuse, and that lines which the
// damage did not touch are not lost: seeded mutations of logs of both formats.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dshLog, readAll, useSourceFiles } from './source-files.ts'

const file = useSourceFiles()
const RUNS = 150 * Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1)

type Mutation =
  | { readonly kind: 'drop' | 'twice' | 'glue' | 'cut' | 'nuls'; readonly at: number }
  | { readonly kind: 'move'; readonly at: number; readonly to: number }
  | { readonly kind: 'flip'; readonly at: number; readonly byte: number; readonly bit: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }

const position = fc.nat(1000)
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constantFrom('drop', 'twice', 'glue', 'cut', 'nuls'), at: position }),
  fc.record({ kind: fc.constant('move'), at: position, to: position }),
  fc.record({ kind: fc.constant('flip'), at: position, byte: position, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('insert'), at: position, bytes: fc.uint8Array({ maxLength: 40 }) }),
)

function mutate(lines: readonly Buffer[], mutations: readonly Mutation[]): Buffer {
  const all = lines.map((line) => Buffer.concat([line, Buffer.from('\n')]))
  for (const change of mutations) {
    const at = change.at % Math.max(1, all.length)
    const line = all[at] ?? Buffer.alloc(0)
    switch (change.kind) {
      case 'drop':
        all.splice(at, 1)
        break
      case 'twice':
        all.splice(at, 0, line)
        break
      case 'glue':
        all[at] = line.subarray(0, -1)
        break
      case 'cut':
        all[at] = line.subarray(0, Math.floor(line.length / 2))
        break
      case 'nuls':
        all[at] = Buffer.concat([Buffer.alloc(17), line])
        break
      case 'move':
        all.splice(change.to % Math.max(1, all.length), 0, ...all.splice(at, 1))
        break
      case 'flip': {
        const copy = Buffer.from(line)
        const byte = change.byte % Math.max(1, copy.length)
        copy[byte] = (copy[byte] ?? 0) ^ (1 << change.bit)
        all[at] = copy
        break
      }
      case 'insert':
        all.splice(at, 0, Buffer.from(change.bytes))
    }
  }
  return Buffer.concat(all)
}

const STEP = (turn: number, step: number, id: string): string[] => [
  `{"type":"step/start","data":{"turn":${turn},"step":${step}}}`,
  `{"type":"assistant/chunk","data":{"turn":${turn},"step":${step},"chunk":{"type":"block-start","index":0}}}`,
  `{"type":"text-chunks","data":{"turn":${turn},"step":${step},"index":0,"dt":[1,2],"texts":["a","b","c"]}}`,
  `{"type":"assistant/message","data":{"turn":${turn},"step":${step},"content":[{"type":"tool-call","id":"${id}","name":"t","arguments":"{}"}]},"surfaceOp":"append"}`,
  `{"type":"tool/call","data":{"turn":${turn},"step":${step},"callId":"${id}","name":"t","arguments":"{}"}}`,
  `{"type":"tool/result","data":{"turn":${turn},"step":${step},"callId":"${id}","content":[]},"surfaceOp":"append"}`,
  `{"type":"user/message","data":{"content":[]},"surfaceOp":{"op":"replace","start":1,"end":${step * 7}}}`,
  `{"type":"step/end","data":{"turn":${turn},"step":${step}}}`,
]
const DSH = dshLog(
  [
    ...STEP(1, 1, 'c1'),
    ...STEP(1, 2, 'c1'),
    '{"type":"turn/end","data":{"turn":1,"reason":{"kind":"completed"}}}',
    '{"type":"turn/start","data":{"turn":2}}',
    ...STEP(2, 1, 'c2'),
  ],
  { parentSession: 'p', seedLength: 4 },
)

const CLAUDE = [
  ['user', 'u1', null, { role: 'user', content: 'one' }],
  ['assistant', 'a1', 'u1', { id: 'm1', content: [{ type: 'text', text: 'x' }] }],
  ['assistant', 'a2', 'a1', { id: 'm1', content: [{ type: 'tool_use', id: 'c1', name: 't', input: {} }] }],
  ['user', 'r1', 'a2', { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'ok' }] }],
  [
    'assistant',
    'a3',
    'r1',
    {
      id: 'm2',
      content: [
        { type: 'tool_use', id: 'c2', name: 't', input: {} },
        { type: 'tool_use', id: 'c3', name: 't', input: {} },
      ],
    },
  ],
  [
    'user',
    'r2',
    'a3',
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c2', content: 'ok' },
        { type: 'tool_result', tool_use_id: 'c3', content: 'ok' },
      ],
    },
  ],
  ['user', 'u2', 'r2', { role: 'user', content: 'two' }],
  ['assistant', 'a4', 'u2', { id: 'm3', content: [{ type: 'text', text: 'y' }] }],
  ['user', 'u3', 'r2', { role: 'user', content: 'three' }],
  ['user', 's1', null, { role: 'user', content: 'task' }],
  ['assistant', 's2', 's1', { id: 'm4', content: [{ type: 'text', text: 'z' }] }],
  ['user', 'u4', 'u3', { role: 'user', content: '[Request interrupted by user]' }],
  ['user', 'u5', 'u4', { role: 'user', content: 'summary' }],
].map(([type, uuid, parentUuid, message], at) =>
  Buffer.from(
    JSON.stringify({
      type,
      uuid,
      parentUuid,
      sessionId: 's',
      isSidechain: String(uuid).startsWith('s'),
      ...(uuid === 'u5' && { isCompactSummary: true }),
      timestamp: new Date(1_700_000_000_000 + at).toISOString(),
      message,
    }),
  ),
)

function linesOf(log: Buffer): readonly Buffer[] {
  return log
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line, 'latin1'))
}

/** A setter for every value inside a record. */
function placesIn(value: object): ((next: unknown) => void)[] {
  return Object.entries(value).flatMap(([key, child]: [string, unknown]) => [
    (next: unknown) => {
      Object.assign(value, { [key]: next })
    },
    ...(typeof child === 'object' && child !== null ? placesIn(child) : []),
  ])
}

describe.each([
  ['dsh', linesOf(DSH)],
  ['claude-code', CLAUDE],
] as readonly (readonly [string, readonly Buffer[]])[])('%s', (format, lines) => {
  it('reads the log that the mutations start from', async () => {
    const logs = await readAll(await file(mutate(lines, [])))
    expect(logs.map((log) => log.report.format)).toEqual(
      format === 'dsh' ? ['dsh'] : ['claude-code', 'claude-code', 'claude-code'],
    )
  })

  it('reads whatever is left after any mutations', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 8 }), async (mutations) => {
        // The first line stays, so that the format does.
        const first = lines[0] ?? Buffer.alloc(0)
        const others = lines.slice(1)
        const source = Buffer.concat([first, Buffer.from('\n'), mutate(others, mutations)])
        const logs = await readAll(await file(source))
        expect(logs.length).toBeGreaterThan(0)
        const all = JSON.stringify(logs.map(({ events }) => events))
        for (const { report, events } of logs) expect(report.events).toBe(events.length)
        // Ids of records on untouched lines are found again, wherever their records went.
        for (const line of linesOf(source)) {
          if (!lines.some((each) => each.equals(line))) continue
          const id = /"(?:uuid|callId)":"(\w+)"/.exec(line.toString())?.[1]
          if (id !== undefined) expect(all).toContain(`"${id}"`)
        }
      }),
      { numRuns: RUNS, seed: 20260101 },
    )
  }, 120_000)

  it('reads records of any shape: any value of any record replaced by any other', async () => {
    const change = fc.record({
      line: position,
      field: position,
      value: fc.oneof(fc.jsonValue(), fc.constant(undefined)),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const records = lines.map((line) => JSON.parse(line.toString()) as Record<string, unknown>)
        for (const { line, field, value } of changes) {
          const record = records[1 + (line % (records.length - 1))] ?? {}
          const places = placesIn(record)
          places[field % places.length]?.(value)
        }
        const logs = await readAll(await file(records.map((record) => `${JSON.stringify(record)}\n`).join('')))
        for (const { report, events } of logs) expect(report.events).toBe(events.length)
      }),
      { numRuns: 2 * RUNS, seed: 20260101 },
    )
  }, 120_000)

  it('reads any bytes behind its first line', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const [first = Buffer.alloc(0)] = lines
        const [log] = await readAll(await file(Buffer.concat([first, Buffer.from('\n'), bytes])))
        expect(log?.report.lines).toBeGreaterThan(0)
      }),
      { numRuns: RUNS, seed: 20260101 },
    )
  }, 120_000)
})
