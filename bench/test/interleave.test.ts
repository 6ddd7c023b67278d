// Proves that every case is sampled once a round, in changing order, and that warm-up does not count.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { interleave, orderOf, samplesOf } from '../src/measure/interleave.ts'

describe('orderOf', () => {
  it('is a permutation in every round', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer(), { maxLength: 9 }), fc.nat(50), (cases, round) => {
        expect([...orderOf(cases, round)].sort()).toEqual([...cases].sort())
      }),
    )
  })

  it('puts every case first, and does not always let one follow the same neighbour', () => {
    const cases = ['a', 'b', 'c', 'd']
    const rounds = Array.from({ length: 8 }, (_, round) => orderOf(cases, round))
    expect(new Set(rounds.map((order) => order[0]))).toEqual(new Set(cases))
    const beforeB = new Set(rounds.map((order) => order[order.indexOf('b') - 1]))
    expect(beforeB.size).toBeGreaterThan(2)
  })
})

describe('interleave', () => {
  it('keeps one sample a round and case, in the order of the rounds, without the warm-up', async () => {
    const calls: string[] = []
    const samples = await interleave(
      ['a', 'b'].map((name) => ({
        name,
        sample: (round: number) => {
          calls.push(`${name}${round}`)
          return round * 10
        },
      })),
      { rounds: 3, warmUp: 2 },
    )
    expect(samplesOf(samples, 'a')).toEqual([20, 30, 40])
    expect(samplesOf(samples, 'b')).toEqual([20, 30, 40])
    expect(calls).toHaveLength(10)
    expect(calls.slice(0, 4)).toEqual(['a0', 'b0', 'b1', 'a1'])
  })

  it('waits for one sample before it takes the next', async () => {
    let running = 0
    const sample = async (): Promise<number> => {
      running++
      await Promise.resolve()
      expect(running).toBe(1)
      running--
      return 1
    }
    await interleave(
      [
        { name: 'a', sample },
        { name: 'b', sample },
      ],
      { rounds: 3, warmUp: 0 },
    )
  })

  it('ends with the reason of its signal', async () => {
    const abort = new AbortController()
    const reason = new Error('enough')
    const sample = (): number => {
      abort.abort(reason)
      return 1
    }
    const run = interleave([{ name: 'a', sample }], { rounds: 5, warmUp: 0, signal: abort.signal })
    await expect(run).rejects.toBe(reason)
  })

  it('refuses two cases of one name and a name that was not sampled', async () => {
    const one = { name: 'a', sample: () => 1 }
    await expect(interleave([one, one], { rounds: 1, warmUp: 0 })).rejects.toThrow(RangeError)
    expect(() => samplesOf(new Map(), 'a')).toThrow(RangeError)
  })
})
