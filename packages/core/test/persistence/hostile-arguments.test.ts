// Proves: whatever a caller passes to a persistence, the answer is a SessionError with the right code, given before anything is written or locked.
import { describe, expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'
import type { SessionPersistence } from '../../src/persistence/session-persistence.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { createMemoryMedium, type MemoryMedium } from '../../src/storage/memory-medium.ts'
import { memoryStorage } from '../../src/storage/memory-storage.ts'
import { collect, completeTurn, turnUpToCall } from './conversation.ts'

type Hostile = readonly [name: string, value: unknown]
type Case = readonly [name: string, code: string, attempt: (persistence: SessionPersistence) => unknown]

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

function throwing(name: string): object {
  return Object.defineProperty({}, name, {
    enumerable: true,
    get() {
      throw new Error('getter')
    },
  })
}

const symbolKey = Symbol('key')
const NO_OBJECTS: readonly Hostile[] = [
  ['null', null],
  ['5', 5],
  ["'x'", 'x'],
  ['[]', []],
  ['a function', () => {}],
  ['a revoked proxy', revoked()],
]
const NO_STRINGS: readonly Hostile[] = [
  ['null', null],
  ['5', 5],
  ['{}', {}],
  ['[]', []],
  ['a String', Object('x')],
]
const NO_BOOLEANS: readonly Hostile[] = [
  ['null', null],
  ['0', 0],
  ["'false'", 'false'],
]
const NO_SEQS: readonly Hostile[] = [
  ['null', null],
  ["'3'", '3'],
  ['[3]', [3]],
  ['-1', -1],
  ['0.5', 0.5],
  ['NaN', Number.NaN],
  ['3n', 3n],
]
const NO_SIGNALS: readonly Hostile[] = [
  ['null', null],
  ['5', 5],
  ['{}', {}],
  ['an imitation', { aborted: false, throwIfAborted: () => {} }],
  ['one without its state', Object.create(AbortSignal.prototype)],
  ['a revoked proxy', revoked()],
]
const NO_LABELS: readonly Hostile[] = [
  ['null', null],
  ["'x'", 'x'],
  ['[]', []],
  ['a Map', new Map([['a', 'b']])],
  ['a Date', new Date(0)],
  ['a number as value', { a: 1 }],
  ['a symbol key', { a: 'b', [symbolKey]: 'c' }],
  ['a throwing getter', throwing('a')],
  ['a revoked proxy', revoked()],
]
const NO_HEADS: readonly Hostile[] = [
  ...NO_OBJECTS,
  ['{}', {}],
  ['a seq alone', { seq: 1 }],
  ['a crc that is a number', { seq: 1, crc: 5 }],
  ['a seq below -1', { seq: -2, crc: '' }],
  ['a throwing getter', throwing('seq')],
]
const NO_FUNCTIONS: readonly Hostile[] = [
  ['null', null],
  ['5', 5],
  ['{}', {}],
  ["'x'", 'x'],
]
const NO_IDS: readonly Hostile[] = [
  ['null', null],
  ['5', 5],
  ["''", ''],
  ['{}', {}],
  ['a revoked proxy', revoked()],
]

/** Options that are no options, and a property of each hostile kind. */
function optionCases(
  operation: string,
  properties: { readonly [name: string]: readonly Hostile[] },
  call: (persistence: SessionPersistence, options: never) => unknown,
): Case[] {
  const cases: Case[] = NO_OBJECTS.map(([name, value]) => [
    `${operation}(${name})`,
    'INVALID_ARGUMENT',
    (persistence) => call(persistence, value as never),
  ])
  for (const [property, values] of Object.entries(properties)) {
    const code = property === 'id' ? 'INVALID_ID' : 'INVALID_ARGUMENT'
    for (const [name, value] of values) {
      const options = { [property]: value } as never
      cases.push([`${operation}({ ${property}: ${name} })`, code, (persistence) => call(persistence, options)])
    }
    const trap = throwing(property) as never
    cases.push([`${operation}, ${property} throws`, 'INVALID_ARGUMENT', (persistence) => call(persistence, trap)])
  }
  return cases
}

const header = { version: 1, id: 'imported', createdAt: 1, messageFormat: 'plain' }
const imported = (persistence: SessionPersistence, source: unknown): unknown => persistence.importLog(source as never)

/** By hand: a generator would await the page itself. */
function pagesOf(page: unknown): AsyncIterable<unknown> {
  return { [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: page }) }) }
}

const CASES: readonly Case[] = [
  ...optionCases(
    'create',
    { id: NO_IDS, cwd: NO_STRINGS, messageFormat: NO_STRINGS, origin: NO_STRINGS, parent: NO_IDS, labels: NO_LABELS },
    (persistence, options) => persistence.create(options),
  ),
  ...optionCases(
    'resume',
    {
      openTurn: [
        ['null', null],
        ['later', 'later'],
      ],
      reconcile: NO_FUNCTIONS,
      keepPartialAnswer: NO_BOOLEANS,
      preserveUnknown: NO_BOOLEANS,
      expectHead: NO_HEADS,
      writer: NO_STRINGS,
      signal: NO_SIGNALS,
    },
    (persistence, options) => persistence.resume('open', options),
  ),
  ...optionCases(
    'fork',
    { id: NO_IDS, at: NO_SEQS, before: NO_SEQS, turn: NO_SEQS, reason: NO_STRINGS, labels: NO_LABELS },
    (persistence, options) => persistence.fork('done', options),
  ),
  ...optionCases('inspect', { at: NO_SEQS, signal: NO_SIGNALS }, (persistence, options) =>
    persistence.inspect('done', options),
  ),
  // The call itself refuses: nobody has to begin reading to learn of it.
  ...optionCases(
    'read',
    { from: NO_SEQS, to: NO_SEQS, reverse: NO_BOOLEANS, signal: NO_SIGNALS },
    (persistence, options) => void persistence.read('done', options),
  ),
  ...optionCases(
    'readPages',
    { from: NO_SEQS, to: NO_SEQS, reverse: NO_BOOLEANS, signal: NO_SIGNALS },
    (persistence, options) => void persistence.readPages('done', options),
  ),
  ...optionCases(
    'follow',
    { from: NO_SEQS, signal: NO_SIGNALS },
    (persistence, options) => void persistence.follow('done', options),
  ),
  ...optionCases(
    'list',
    {
      limit: [
        ['null', null],
        ["'5'", '5'],
      ],
      cursor: NO_STRINGS,
      filter: NO_OBJECTS,
      signal: NO_SIGNALS,
    },
    (persistence, options) => persistence.list(options),
  ),
  ...optionCases(
    'list filter',
    {
      cwd: NO_STRINGS,
      parent: NO_STRINGS,
      origin: NO_STRINGS,
      labels: NO_LABELS,
      updatedAfter: [
        ['null', null],
        ['NaN', Number.NaN],
      ],
      state: [
        ['null', null],
        ['closed', 'closed'],
      ],
    },
    (persistence, filter) => persistence.list({ filter }),
  ),
  ...optionCases('annotate', { title: NO_STRINGS, labels: NO_LABELS }, (persistence, annotation) =>
    persistence.annotate('open', annotation),
  ),
  ['annotate({})', 'INVALID_ARGUMENT', (persistence) => persistence.annotate('open', {})],
  ...optionCases('verify', { expectHead: NO_HEADS, signal: NO_SIGNALS }, (persistence, options) =>
    persistence.verify('done', options),
  ),
  ...optionCases('repair', { dryRun: NO_BOOLEANS, signal: NO_SIGNALS }, (persistence, options) =>
    persistence.repair('done', options),
  ),
  ...optionCases('exportLog', { signal: NO_SIGNALS }, (persistence, options) => persistence.exportLog('done', options)),
  ...optionCases('importLog options', { signal: NO_SIGNALS }, (persistence, options) =>
    persistence.importLog({ header, events: (async function* () {})() }, options),
  ),
  ...NO_OBJECTS.map(
    ([name, value]): Case => [`importLog(${name})`, 'INVALID_ARGUMENT', (persistence) => imported(persistence, value)],
  ),
  ...NO_OBJECTS.map(
    ([name, value]): Case => [
      `importLog, header ${name}`,
      'INVALID_ARGUMENT',
      (persistence) => imported(persistence, { header: value, events: [] }),
    ],
  ),
  ...NO_LABELS.map(
    ([name, labels]): Case => [
      `importLog, labels ${name}`,
      'INVALID_ARGUMENT',
      (persistence) => imported(persistence, { header: { ...header, labels }, events: [] }),
    ],
  ),
  ...NO_IDS.map(
    ([name, id]): Case => [
      `importLog, id ${name}`,
      'INVALID_ID',
      (persistence) => imported(persistence, { header: { ...header, id }, events: [] }),
    ],
  ),
  ...(
    [
      ['null', null],
      ['5', 5],
      ["'x'", 'x'],
      ['{}', {}],
      ['a revoked proxy', revoked()],
    ] as const
  ).flatMap(([name, value]): Case[] => [
    [
      `importLog, events ${name}`,
      'INVALID_ARGUMENT',
      (persistence) => imported(persistence, { header, events: value }),
    ],
    [
      `importLog, a page ${name}`,
      'INVALID_ARGUMENT',
      (persistence) => imported(persistence, { header, events: pagesOf(value) }),
    ],
  ]),
  ...NO_IDS.flatMap(([name, id]): Case[] => [
    [`resume id ${name}`, 'INVALID_ID', (persistence) => persistence.resume(id as never)],
    [`fork id ${name}`, 'INVALID_ID', (persistence) => persistence.fork(id as never)],
    [`inspect id ${name}`, 'INVALID_ID', (persistence) => persistence.inspect(id as never)],
    [`read id ${name}`, 'INVALID_ID', (persistence) => persistence.read(id as never)],
    [`readPages id ${name}`, 'INVALID_ID', (persistence) => persistence.readPages(id as never)],
    [`follow id ${name}`, 'INVALID_ID', (persistence) => persistence.follow(id as never)],
    [`annotate id ${name}`, 'INVALID_ID', (persistence) => persistence.annotate(id as never, { title: 't' })],
    [`verify id ${name}`, 'INVALID_ID', (persistence) => persistence.verify(id as never)],
    [`repair id ${name}`, 'INVALID_ID', (persistence) => persistence.repair(id as never)],
    [`delete id ${name}`, 'INVALID_ID', (persistence) => persistence.delete(id as never)],
    [`exportLog id ${name}`, 'INVALID_ID', (persistence) => persistence.exportLog(id as never)],
  ]),
]

/** One finished session, and one that was left in the middle of a turn. */
async function stored(): Promise<{ readonly medium: MemoryMedium; readonly persistence: SessionPersistence }> {
  const medium = createMemoryMedium()
  const persistence = await openMemory({ medium })
  const done = await persistence.create({ id: 'done' })
  completeTurn(done, 1, 'q', 'a')
  await done.close()
  const open = await persistence.create({ id: 'open' })
  turnUpToCall(open)
  await open.flush()
  await open.abandon()
  return { medium, persistence }
}

async function refused(attempt: () => unknown): Promise<unknown> {
  try {
    await attempt()
  } catch (error) {
    return error
  }
  throw new Error('the call was accepted')
}

describe('hostile arguments', () => {
  it('there are cases for every operation', () => {
    expect(CASES.length).toBeGreaterThan(400)
  })

  it('are refused with the right code, and nothing is written or locked', async () => {
    const { medium, persistence } = await stored()
    const before = JSON.stringify([...medium.logs])
    for (const [name, code, attempt] of CASES) {
      const error = await refused(() => attempt(persistence))
      expect(error, name).toMatchObject({ name: 'SessionError', code })
      expect(medium.locks.size, name).toBe(0)
      expect(JSON.stringify([...medium.logs]), name).toBe(before)
    }
    await (await persistence.resume('open')).close()
  })

  it('of openMemory are refused with INVALID_ARGUMENT', async () => {
    const projection = { name: 'p/p', version: 1, initial: () => 0, apply: (state: unknown) => state }
    const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) }
    const properties: { readonly [name: string]: readonly Hostile[] } = {
      events: [
        ...NO_OBJECTS,
        ['no entry', { 'a/b': null }],
        ['no ignorable', { 'a/b': {} }],
        ['a schema that is null', { 'a/b': { ignorable: true, schema: null } }],
        ['a schema of nothing', { 'a/b': { ignorable: true, schema: { '~standard': null } } }],
        [
          'a schema without a function',
          { 'a/b': { ignorable: true, schema: { '~standard': { ...standard, validate: 5 } } } },
        ],
        ['a schema that throws', { 'a/b': { ignorable: true, schema: throwing('~standard') } }],
        ['a revoked entry', { 'a/b': revoked() }],
      ],
      projections: [
        ['null', null],
        ['5', 5],
        ["'x'", 'x'],
        ['{}', {}],
        ['[null]', [null]],
        ['[{}]', [{}]],
        ['a revoked one', [revoked()]],
        ['one whose initial throws', [{ ...projection, initial: () => expect.fail('initial') }]],
      ],
      messageFormats: [
        ['null', null],
        ['5', 5],
        ['[null]', [null]],
        ['a name alone', [{ name: 'mine' }]],
        ['a name that is a number', [{ name: 5, toolResult() {}, partialAssistant() {}, text: () => '' }]],
        ['a revoked one', [revoked()]],
      ],
      redact: NO_FUNCTIONS,
      onFailure: NO_FUNCTIONS,
      clock: NO_FUNCTIONS,
      newId: NO_FUNCTIONS,
      writeWindowMs: [
        ['null', null],
        ["'5'", '5'],
        ['-1', -1],
        ['NaN', Number.NaN],
      ],
      pendingBytes: [
        ['null', null],
        ["'5'", '5'],
        ['-1', -1],
        ['NaN', Number.NaN],
      ],
      medium: NO_OBJECTS,
    }
    for (const [name, value] of NO_OBJECTS) {
      expect(await refused(() => openMemory(value as never)), name).toMatchObject({ code: 'INVALID_ARGUMENT' })
      const create = (): unknown => createPersistence(memoryStorage(), value as never)
      expect(await refused(create), name).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
    for (const [property, values] of Object.entries(properties)) {
      for (const [name, value] of values) {
        const error = await refused(() => openMemory({ [property]: value } as never))
        expect(error, `${property}: ${name}`).toMatchObject({ name: 'SessionError', code: 'INVALID_ARGUMENT' })
      }
      const error = await refused(() => openMemory(throwing(property) as never))
      expect(error, `${property} throws`).toMatchObject({ name: 'SessionError', code: 'INVALID_ARGUMENT' })
    }
  })
})

describe('what a harness gave', () => {
  it('newId: a throw or a bad id makes no session', async () => {
    const cause = new Error('no more ids')
    const broken = await openMemory({
      newId: () => {
        throw cause
      },
    })
    expect(await refused(() => broken.create())).toMatchObject({ code: 'INVALID_ARGUMENT', cause })
    for (const id of [undefined, null, 5, '', '\ud800', Promise.reject(new Error('late')), revoked()]) {
      const persistence = await openMemory({ newId: () => id as never })
      const named = await persistence.create({ id: 'parent' })
      completeTurn(named, 1, 'q', 'a')
      await named.flush()
      expect(await refused(() => persistence.create())).toMatchObject({ code: 'INVALID_ID' })
      expect(await refused(() => persistence.fork('parent'))).toMatchObject({ code: 'INVALID_ID' })
    }
  })

  it('redact: a throw refuses the event, with the cause', async () => {
    const cause = new Error('cannot redact')
    const persistence = await openMemory({
      redact: () => {
        throw cause
      },
    })
    const session = await persistence.create({ id: 's' })
    expect(await refused(() => session.append('user/message', { message: 'hi' }))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      cause,
    })
    expect(session.nextSeq).toBe(0)
  })

  it('reconcile: what is no result aborts the resume with nothing written', async () => {
    const { medium, persistence } = await stored()
    const before = JSON.stringify([...medium.logs])
    const answers: readonly (readonly [string, unknown, string])[] = [
      ...NO_OBJECTS.map(([name, value]) => [name, value, 'INVALID_ARGUMENT'] as const),
      ['{}', {}, 'INVALID_ARGUMENT'],
      ['a throwing getter', throwing('message'), 'INVALID_ARGUMENT'],
      ['an error that is none', { message: 'm', error: 5 }, 'INVALID_EVENT'],
      ['a message that is no JSON', { message: 5n }, 'INVALID_EVENT'],
    ]
    for (const [name, answer, code] of answers) {
      const error = await refused(() => persistence.resume('open', { reconcile: () => answer as never }))
      expect(error, name).toMatchObject({ name: 'SessionError', code })
      expect(medium.locks.size, name).toBe(0)
      expect(JSON.stringify([...medium.logs]), name).toBe(before)
    }
  })

  it('formats: a throw refuses to close the turn, with the cause', async () => {
    const cause = new Error('no message')
    const { medium } = await stored()
    const broken = {
      name: 'plain',
      toolResult: () => {
        throw cause
      },
      partialAssistant: () => undefined,
      text: () => '',
    }
    const persistence = await openMemory({ medium, messageFormats: [broken] })
    const before = JSON.stringify([...medium.logs])
    expect(await refused(() => persistence.resume('open'))).toMatchObject({ code: 'INVALID_ARGUMENT', cause })
    expect(medium.locks.size).toBe(0)
    expect(JSON.stringify([...medium.logs])).toBe(before)
  })

  it('schemas: no result, or issues of any form, refuse the event', async () => {
    const answers: readonly unknown[] = [
      undefined,
      null,
      { issues: null },
      { issues: 5 },
      { issues: [null] },
      { issues: [{ path: 5 }] },
      { issues: [{ path: [null, {}, Symbol('s')] }] },
      { issues: {} },
      revoked(),
    ]
    for (const answer of answers) {
      const schema = { '~standard': { version: 1 as const, vendor: 'test', validate: () => answer as never } }
      const persistence = await openMemory({ events: { 'a/b': { ignorable: true, schema } } })
      const session = await persistence.create()
      const append = (): unknown => session.append('a/b' as never, {} as never)
      expect(await refused(append)).toMatchObject({ name: 'SessionError', code: 'INVALID_EVENT' })
      expect(session.nextSeq).toBe(0)
    }
  })

  it('a request or a projection that cannot be read is refused', async () => {
    const session = await (await openMemory()).create()
    for (const request of [...NO_OBJECTS.map(([, value]) => value), undefined, throwing('messages')]) {
      expect(await refused(() => session.checkpoint(request as never))).toMatchObject({ code: 'INVARIANT' })
    }
    for (const projection of [...NO_OBJECTS.map(([, value]) => value), undefined, throwing('name')]) {
      const code = typeof projection === 'function' ? 'NOT_SUPPORTED' : 'INVALID_ARGUMENT'
      expect(await refused(() => session.state(projection as never))).toMatchObject({ code })
    }
    expect(session.nextSeq).toBe(0)
  })

  it('subscribe takes functions alone', async () => {
    const session = await (await openMemory()).create()
    for (const [, value] of NO_FUNCTIONS) {
      expect(await refused(() => session.subscribe(value as never))).toMatchObject({ code: 'INVALID_ARGUMENT' })
    }
  })

  it('a resume names its writer only with a text that an event can hold', async () => {
    const { medium, persistence } = await stored()
    const error = await refused(() => persistence.resume('open', { writer: 'x'.repeat(65 * 1024 * 1024) }))
    expect(error).toMatchObject({ code: 'TOO_LARGE' })
    expect(medium.locks.size).toBe(0)
    const session = await persistence.resume('open', { writer: 'me' })
    session.append('session/title', { title: 't' })
    await session.close()
    expect((await collect(persistence.read('open'))).at(-2)).toMatchObject({ data: { writer: 'me' } })
  })
})
