// A wrong harness ends in one sentence that says what to change: never green, never a stack of someone else's code.
import { createMemoryMedium, openMemory, type SessionPersistence } from '@session-persistence/core'
import { describe, expect, it } from 'vitest'
import { defineHarness, type Harness, HarnessError, type Medium } from '../src/harness.ts'
import { runConformance } from '../src/run-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

const options = { families: ['LIFE'], effort: 'quick' } as const

async function errorOf(createMedium: () => unknown): Promise<string> {
  const report = await runConformance({ name: 'wrong', createMedium: createMedium as Harness['createMedium'] }, options)
  expect(report.outcome).toBe('harness-error')
  expect(report.results).toEqual([])
  expect(report.reached).toBe('none')
  return report.harnessError ?? ''
}

describe('a harness that is wrong', () => {
  it('throws in createMedium', async () => {
    const error = await errorOf(() => {
      throw new Error('no disk')
    })
    expect(error).toBe('createMedium of wrong threw: no disk')
  })

  it('has no open', async () => {
    expect(await errorOf(() => ({}))).toContain('must return an object with a function `open(options)`')
    expect(await errorOf(() => undefined)).toContain('must return an object with a function `open(options)`')
  })

  it('opens something that is no SessionPersistence', async () => {
    expect(await errorOf(() => ({ open: async () => ({}) }))).toContain('it must be a SessionPersistence')
  })

  it('opens and fails', async () => {
    const error = await errorOf(() => ({ open: () => Promise.reject(new Error('wrong path')) }))
    expect(error).toBe('`open` of a new medium of wrong failed: wrong path')
  })

  it('returns a medium that already holds sessions', async () => {
    const medium = createMemoryMedium()
    const persistence = await openMemory({ medium })
    const session = await persistence.create()
    session.append('user/message', { message: 'x' })
    await session.close()
    expect(await errorOf(() => ({ open: () => openMemory({ medium }) }))).toContain('already holds sessions')
  })

  it('drops the options that are given to open', async () => {
    expect(await errorOf(() => ({ open: () => openMemory() }))).toContain(
      'The options given to `open` of wrong do not reach the backend, which took another clock than the one given',
    )
  })

  it('returns the same medium twice', async () => {
    const medium: Medium = { open: (given) => openMemory(given) }
    const report = await runConformance({ name: 'wrong', createMedium: () => medium }, options)
    expect(report.outcome).toBe('harness-error')
    expect(report.harnessError).toContain('returned the same medium twice')
  })

  it.each([
    ['no write', { read: async () => [] }, 'must be { read(id), write(id, records) }.'],
    [
      'texts',
      { read: async () => ['{}'], write: async () => {} },
      '`records.read` of the medium of wrong must return a list of bytes.',
    ],
    [
      'a header and nothing else',
      { read: async () => [Buffer.from('x')], write: async () => {} },
      'it shows none for a batch that was flushed.',
    ],
    [
      'an error',
      { read: () => Promise.reject(new Error('no rows')), write: async () => {} },
      'records.read of wrong threw: no rows',
    ],
  ])('has records with %s', async (_, records, sentence) => {
    const createMedium = (): Medium => {
      const medium = createMemoryMedium()
      return { open: (given = {}) => openMemory({ ...given, medium }), records: records as Medium['records'] & object }
    }
    const report = await runConformance({ name: 'wrong', createMedium }, { ids: ['CORRUPT-6'] })
    expect([report.outcome, report.reached]).toEqual(['harness-error', 'none'])
    expect(report.harnessError).toContain(sentence)
  })

  it('has no name, no createMedium, or a module that others cannot open', () => {
    expect(() => defineHarness({ name: '', createMedium: memoryHarness.createMedium })).toThrow(HarnessError)
    expect(() => defineHarness({ name: 'x' } as unknown as Harness)).toThrow('createMedium')
    expect(() => defineHarness({ ...memoryHarness, module: import.meta.url })).toThrow('openAt')
  })
})

describe('a run', () => {
  it('in which no MUST clause ran says so', async () => {
    const report = await runConformance(memoryHarness, { ids: ['LIST-10'], effort: 'quick' })
    expect(report.results.map(({ status }) => status)).toEqual(['passed'])
    expect(report.outcome).toBe('nothing-ran')
    expect((await runConformance(memoryHarness, { ids: ['CRASH-1'] })).outcome).toBe('nothing-ran')
  })

  it('of a backend that hangs fails that clause and goes on', async () => {
    const hanging: Harness = {
      name: 'hanging',
      createMedium: () => ({ open: async (given) => withoutEnd(await openMemory(given)) }),
    }
    const report = await runConformance(hanging, { ids: ['READ-15', 'CAP-1'], caseDeadlineMs: 50 })
    expect(report.results.map(({ id, status }) => [id, status])).toEqual([
      ['READ-15', 'failed'],
      ['CAP-1', 'passed'],
    ])
    expect(report.results[0]?.message).toContain('nothing happened within')
  })
})

function withoutEnd(inner: SessionPersistence): SessionPersistence {
  return new Proxy(inner, {
    get(target, key) {
      if (key === 'inspect') return () => new Promise(() => {})
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
