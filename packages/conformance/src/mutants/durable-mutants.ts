import type { HeadReceipt } from '@session-persistence/core'
import { changedReads, type Mutant, shared } from './mutant.ts'

export const DURABLE_MUTANTS: readonly Mutant[] = [
  {
    name: 'reads-lag-one-flush',
    wrong: 'What the last flush made durable is not stored until the session is closed.',
    aimedAt: 'DURABLE-1',
    ...changedReads(async function* (events, id, _options, medium) {
      const hiddenFrom = shared(medium, 'hidden', () => new Map<string, number>())
      for await (const event of events) if (event.seq < (hiddenFrom.get(id) ?? Infinity)) yield event
    }),
    session: (inner, medium) => {
      const hiddenFrom = shared(medium, 'hidden', () => new Map<string, number>())
      return {
        flush: async () => {
          if (inner.pendingEvents().length > 0) hiddenFrom.set(inner.id, inner.durableSeq)
          return inner.flush()
        },
        close: async () => {
          await inner.close()
          hiddenFrom.delete(inner.id)
        },
      }
    },
  },
  {
    name: 'receipt-of-something-else',
    wrong: 'The receipt’s checksum is not that of the last event.',
    aimedAt: 'DURABLE-2',
    session: (inner) => ({ flush: async () => ({ ...(await inner.flush()), crc: '00000000' }) }),
  },
  {
    name: 'everything-is-durable-at-once',
    wrong: 'durableSeq says durable as soon as an event is accepted.',
    aimedAt: 'DURABLE-3',
    session: (inner) => ({
      get durableSeq(): number {
        return inner.nextSeq
      },
    }),
  },
  {
    name: 'only-the-first-flush-waits',
    wrong: 'A flush that finds another one running resolves at once.',
    aimedAt: 'DURABLE-4',
    session: (inner) => {
      let running: Promise<HeadReceipt> | undefined
      return {
        flush: async () => {
          if (running !== undefined) return running
          running = inner.flush()
          try {
            return await running
          } finally {
            running = undefined
          }
        },
      }
    },
  },
  {
    name: 'nothing-written-without-flush',
    wrong: 'Accepted events are written by a flush or a close only.',
    aimedAt: 'DURABLE-5',
    ...changedReads(async function* (events, id, _options, medium) {
      const flushed = shared(medium, 'flushed', () => new Map<string, number>())
      for await (const event of events) if (event.seq < (flushed.get(id) ?? Infinity)) yield event
    }),
    session: (inner, medium) => {
      const flushed = shared(medium, 'flushed', () => new Map<string, number>())
      const counted = async (barrier: () => Promise<HeadReceipt>): Promise<HeadReceipt> => {
        const receipt = await barrier()
        flushed.set(inner.id, Math.max(receipt.seq + 1, flushed.get(inner.id) ?? 0))
        return receipt
      }
      flushed.set(inner.id, inner.nextSeq)
      return {
        flush: () => counted(() => inner.flush()),
        checkpoint: (request) => counted(() => inner.checkpoint(request)),
        beginCall: (call) => counted(() => inner.beginCall(call)),
        closeTurn: (options) => counted(() => inner.closeTurn(options)),
        close: async () => {
          await inner.close()
          flushed.delete(inner.id)
        },
        abandon: async () => {
          const pending = await inner.abandon()
          flushed.delete(inner.id)
          return pending
        },
        [Symbol.asyncDispose]: async () => {
          await inner.close()
          flushed.delete(inner.id)
        },
      }
    },
  },
  {
    name: 'idle-flush-gives-no-receipt',
    wrong: 'A flush with nothing pending gives the receipt of an empty log.',
    aimedAt: 'DURABLE-6',
    session: (inner) => ({
      flush: async () => {
        const idle = inner.pendingEvents().length === 0
        const receipt = await inner.flush()
        return idle ? { seq: -1, crc: '00000000' } : receipt
      },
    }),
  },
  {
    name: 'verify-has-its-own-receipt',
    wrong: 'Verify computes another checksum than flush.',
    aimedAt: 'DURABLE-7',
    persistence: (inner) => ({
      verify: async (id, options) => {
        const report = await inner.verify(id, options)
        return { ...report, head: { ...report.head, crc: 'ffffffff' } }
      },
    }),
  },
  {
    name: 'expected-head-ignored-by-resume',
    wrong: 'A resume does not look at the expected head.',
    aimedAt: 'DURABLE-8',
    persistence: (inner) => ({
      resume: (id, options = {}) => {
        const { expectHead: _, ...rest } = options
        return inner.resume(id, rest)
      },
    }),
  },
  {
    name: 'expected-head-ignored-by-verify',
    wrong: 'Verify does not look at the expected head.',
    aimedAt: 'DURABLE-9',
    persistence: (inner) => ({
      verify: (id, options = {}) => {
        const { expectHead: _, ...rest } = options
        return inner.verify(id, rest)
      },
    }),
  },
  {
    name: 'begin-call-does-not-wait',
    wrong: 'beginCall resolves when its event is accepted.',
    aimedAt: 'DURABLE-10',
    session: (inner) => ({
      beginCall: async (call) => {
        const event = inner.append('tool/call', call)
        return { seq: event.seq, crc: '00000000' }
      },
    }),
  },
  {
    name: 'checkpoint-does-not-wait',
    wrong: 'A checkpoint compares nothing and resolves when its event is accepted.',
    aimedAt: 'DURABLE-10',
    session: (inner) => {
      let [step, attempt] = ['', 0]
      return {
        checkpoint: async () => {
          const { turn = 0, step: number = 0 } = inner.openTurn ?? {}
          attempt = step === `${turn} ${number}` ? attempt + 1 : 1
          step = `${turn} ${number}`
          const event = inner.append('request/sent', { turn, step: number, attempt })
          return { seq: event.seq, crc: '00000000' }
        },
      }
    },
  },
]
