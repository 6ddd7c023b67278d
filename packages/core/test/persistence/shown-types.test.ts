// Proves: a message names stored types only where they are short and well-formed, and only a few of them.
import { expect, it } from 'vitest'
import { openMemory } from '../../src/persistence/open-memory.ts'

async function refusalOf(types: readonly string[]): Promise<Error> {
  const persistence = await openMemory()
  const events = types.map((type, seq) => ({ seq, time: 1, type, data: {} }))
  const source = (async function* () {
    yield events as never
  })()
  await persistence.importLog({ header: { version: 1, id: 's', createdAt: 1, messageFormat: 'plain' }, events: source })
  const view = await persistence.inspect('s')
  expect(view.unknownTypes).toEqual(types)
  const refusal = await persistence.resume('s').then(
    () => expect.fail('the resume was accepted'),
    (error: Error) => error,
  )
  expect(refusal).toMatchObject({ code: 'UNKNOWN_EVENT' })
  expect(view.recovery.refusal?.message).toBe(refusal.message)
  return refusal
}

it('names a type that is a name', async () => {
  expect((await refusalOf(['acme/note'])).message).toContain('"acme/note"')
})

it('shows nothing of a type that is any text', async () => {
  const hostile = `password: hunter2\nOK: all fine\u001b[2J${'A'.repeat(200_000)}`
  const { message } = await refusalOf([hostile, 'acme/note'])
  expect(message).not.toMatch(/hunter2|\p{Cc}/u)
  expect(message.length).toBeLessThan(300)
})

it('names a few of many types, and counts the others', async () => {
  const { message } = await refusalOf(Array.from({ length: 1_000 }, (_, index) => `acme/t${index}`))
  expect(message).toContain('995 more')
  expect(message.length).toBeLessThan(300)
})
