// Proves: a flush answers with the receipt of the newest durable event, whatever was being written when a write failed.
import { describe, expect, it } from 'vitest'
import { SessionError } from '../../src/errors.ts'
import { headReceipt } from '../../src/event/event-json.ts'
import { createPersistence } from '../../src/persistence/stored-sessions.ts'
import { DurableHead } from '../../src/session/durable-head.ts'
import { user } from '../persistence/conversation.ts'
import { gatedStorage } from '../storage/gated-storage.ts'

const event = (seq: number) => ({ seq, time: 1, type: 'session/title', data: { title: `${seq}` } }) as const

describe('the receipt of the newest durable event', () => {
  it('is that of the log until something was written', () => {
    const receipt = { seq: 7, crc: '01234567' }
    const head = new DurableHead(receipt)
    head.prepare(event(8))
    expect(head.receiptOf(undefined)).toBe(receipt)
  })

  it('is made for the event that is asked for, prepared or not, and kept', () => {
    const head = new DurableHead(headReceipt(undefined))
    const [first, second, third] = [event(0), event(1), event(2)]
    head.prepare(first)
    expect(head.receiptOf(first)).toEqual(headReceipt(first))
    head.prepare(third)
    const receipt = head.receiptOf(second)
    expect(receipt).toEqual(headReceipt(second))
    expect(head.receiptOf(second)).toBe(receipt)
    expect(head.receiptOf(third)).toEqual(headReceipt(third))
  })

  it('comes from the retry after a failed write', async () => {
    const { storage, gate } = gatedStorage()
    const session = await createPersistence(storage, { onFailure: () => {} }).create()
    session.append('user/message', { message: user('one') })
    const first = await session.flush()
    session.append('user/message', { message: user('two') })
    gate.failures.push(new SessionError('NO_SPACE', 'the disk is full'))
    await expect(session.flush()).rejects.toMatchObject({ code: 'NO_SPACE' })
    expect(first.seq).toBe(0)
    const last = session.append('user/message', { message: user('three') })
    expect(await session.flush()).toEqual(headReceipt(last))
    expect(await session.flush()).toEqual(headReceipt(last))
  })
})
