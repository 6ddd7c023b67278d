// A deadline that waits on as long as something happens, and not for ever.
import { describe, expect, it } from 'vitest'
import { PATIENCE, withPatience } from '../src/deadline.ts'

const late = (): Error => new Error('late')
const never = new Promise<never>(() => {})

describe('withPatience', () => {
  it('settles as the work does', async () => {
    expect(await withPatience(Promise.resolve(7), 1, () => 0, late)).toBe(7)
    await expect(withPatience(Promise.reject(new Error('own')), 1, () => 0, late)).rejects.toThrow('own')
  })

  it('ends after one wait in which nothing happened', async () => {
    let asked = 0
    const progress = (): number => {
      asked += 1
      return 0
    }
    await expect(withPatience(never, 1, progress, late)).rejects.toThrow('late')
    expect(asked).toBe(2)
  })

  it('tells whether anything still happened at the end', async () => {
    const which = (wentOn: boolean): Error => new Error(wentOn ? 'slow' : 'stalled')
    let done = 0
    const progress = (): number => {
      done += 1
      return done
    }
    await expect(withPatience(never, 1, progress, which)).rejects.toThrow('slow')
    await expect(withPatience(never, 1, () => 0, which)).rejects.toThrow('stalled')
  })

  it('waits on while something happens, a bounded number of times', async () => {
    let done = 0
    const progress = (): number => {
      done += 1
      return done
    }
    await expect(withPatience(never, 1, progress, late)).rejects.toThrow('late')
    // Asked before and after each wait.
    expect(done).toBe(2 * PATIENCE)
  })
})
