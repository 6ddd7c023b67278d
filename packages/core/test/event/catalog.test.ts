// Proves that extension types need a proper name and a decision, and that append refuses what their schemas refuse
// without ever storing or showing anything else.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSessionError, type SessionError } from '../../src/errors.ts'
import { type CatalogEntry, createCatalog } from '../../src/event/catalog.ts'
import { coreNamespaces } from '../../src/event/vocabulary-table.ts'

function refusal(act: () => unknown): SessionError {
  try {
    act()
  } catch (error) {
    if (isSessionError(error)) return error
    throw error
  }
  throw new Error('accepted')
}

type Validate = StandardSchemaV1['~standard']['validate']
const schema = (validate: Validate): StandardSchemaV1 => ({ '~standard': { version: 1, vendor: 'test', validate } })
const entry = (validate: Validate): { 'acme/note': CatalogEntry } => ({
  'acme/note': { ignorable: true, schema: schema(validate) },
})

const unhandled: unknown[] = []
const collect = (reason: unknown): void => void unhandled.push(reason)
beforeAll(() => void process.on('unhandledRejection', collect))
afterAll(() => void process.off('unhandledRejection', collect))

describe('names', () => {
  it.each(['acme/note', 'a/b', '@acme/note', 'Acme-2.x_y/Note.v2', `${'n'.repeat(63)}/${'m'.repeat(64)}`])(
    'accepts %s',
    (type) => {
      const catalog = createCatalog({ [type]: { ignorable: false } })
      expect(catalog.knows(type)).toBe(true)
      expect(catalog.check(type, 1)).toEqual({ ignorable: false })
    },
  )

  it.each([
    '',
    'note',
    '/note',
    'acme/',
    'acme/note/deep',
    'acme note/x',
    'acme/nöte',
    '__proto__',
    '-acme/x',
    'acme/\n',
    `${'n'.repeat(64)}/${'m'.repeat(64)}`,
  ])('refuses %j', (type) => {
    const entries = Object.fromEntries([[type, { ignorable: true }]])
    expect(refusal(() => createCatalog(entries)).code).toBe('INVALID_ARGUMENT')
  })

  it.each([...coreNamespaces])('refuses the core namespace %s, in any case', (namespace) => {
    for (const type of [`${namespace}/extra`, `${namespace.toUpperCase()}/extra`]) {
      expect(refusal(() => createCatalog({ [type]: { ignorable: true } })).code).toBe('INVALID_ARGUMENT')
    }
  })

  it('refuses a core type itself', () => {
    expect(refusal(() => createCatalog({ 'turn/start': { ignorable: true } })).code).toBe('INVALID_ARGUMENT')
  })
})

describe('entries', () => {
  it.each<[string, unknown]>([
    ['no decision', {}],
    ['a decision that is not one', { ignorable: 'yes' }],
    ['null', null],
    ['a schema that is none', { ignorable: true, schema: { parse() {} } }],
    ['null as schema', { ignorable: true, schema: null }],
  ])('refuses %s', (_, value) => {
    const entries = { 'acme/note': value as CatalogEntry }
    expect(refusal(() => createCatalog(entries)).code).toBe('INVALID_ARGUMENT')
  })

  it('are not changed by later changes of what was passed', () => {
    const entries: { [type: string]: CatalogEntry } = { 'acme/note': { ignorable: true } }
    const catalog = createCatalog(entries)
    delete entries['acme/note']
    expect(catalog.knows('acme/note')).toBe(true)
  })
})

describe('check', () => {
  it('validates core events, which are never ignorable', () => {
    const catalog = createCatalog()
    expect(catalog.check('turn/start', { turn: 1 })).toEqual({ ignorable: false })
    expect(refusal(() => catalog.check('turn/start', { turn: 0 }))).toMatchObject({ code: 'INVALID_EVENT' })
  })

  it('refuses a type that nobody declared, and shows it only if it is a name', () => {
    const catalog = createCatalog({ 'acme/note': { ignorable: true } })
    expect(catalog.knows('acme/other')).toBe(false)
    expect(refusal(() => catalog.check('acme/other', {}))).toMatchObject({ code: 'UNKNOWN_EVENT' })
    expect(refusal(() => catalog.check('acme/other', {})).message).toContain('acme/other')
    expect(refusal(() => catalog.check('a secret text', {})).message).not.toContain('secret')
    for (const type of ['constructor', '__proto__', 'toString']) {
      expect(refusal(() => catalog.check(type, {})).code).toBe('UNKNOWN_EVENT')
    }
  })

  it('stamps by the entry, and ignores what the schema makes of the data', () => {
    const catalog = createCatalog(entry(() => ({ value: 'transformed' })))
    expect(catalog.check('acme/note', { text: 'x' })).toEqual({ ignorable: true })
  })

  it('takes schemas that are functions', () => {
    const callable = Object.assign(
      () => {},
      schema(() => ({ issues: [{ message: 'no' }] })),
    )
    const catalog = createCatalog({ 'acme/note': { ignorable: true, schema: callable } })
    expect(refusal(() => catalog.check('acme/note', 1)).code).toBe('INVALID_EVENT')
  })

  it('refuses data with issues, names the first place and how many, and quotes nothing', () => {
    const issues = [
      { message: 'got "a secret"', path: ['list', 0, { key: 'odd key' }] },
      { message: 'and more of a secret' },
    ]
    const error = refusal(() => createCatalog(entry(() => ({ issues }))).check('acme/note', { list: ['a secret'] }))
    expect(error).toMatchObject({ code: 'INVALID_EVENT', path: '$.data.list[0]["odd key"]' })
    expect(error.message).toContain('2')
    expect(JSON.stringify([error.message, error.cause])).not.toContain('secret')
  })

  it('refuses data whose schema throws, with the cause', () => {
    const cause = new Error('schema bug')
    const catalog = createCatalog(
      entry(() => {
        throw cause
      }),
    )
    expect(refusal(() => catalog.check('acme/note', {}))).toMatchObject({ code: 'INVALID_EVENT', cause })
  })

  it.each<[string, () => unknown]>([
    ['resolves', () => Promise.resolve({ value: 1 })],
    ['rejects', () => Promise.reject(new Error('late'))],
    // biome-ignore lint/suspicious/noThenProperty: a thenable that is no Promise is what this tries.
    ['is only thenable', () => ({ then: (done: (value: unknown) => void) => done({ value: 1 }) })],
  ])('refuses a schema whose answer %s, and leaves no rejection behind', async (_, answer) => {
    const catalog = createCatalog(entry(answer as Validate))
    expect(refusal(() => catalog.check('acme/note', {})).code).toBe('NOT_SUPPORTED')
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})
