// Proves that calls are counted by phase, for one directory, with syncs that hide in writes and in split lines.
import { describe, expect, it } from 'vitest'
import { countPhases, phaseMark } from '../src/machine/syscall-trace.ts'

const MARK = (phase: string): string => `10 write(2</dev/null>, ${JSON.stringify(phaseMark(phase))}, 9) = 9`

describe('countPhases', () => {
  it('counts calls on the directory by the mark before them', () => {
    const trace = [
      '10 openat(AT_FDCWD</work>, "/store/a", O_RDWR|O_CREAT, 0600) = 20</store/a>',
      MARK('one'),
      '11 write(20</store/a>, "{}", 2) = 2',
      '11 fdatasync(20</store/a>) = 0',
      '11 write(17<anon_inode:[eventfd]>, "\\1", 8) = 8',
      '10 statx(AT_FDCWD</work>, "/elsewhere", AT_STATX_SYNC_AS_STAT, STATX_ALL, 0x7ff) = 0',
      MARK('two'),
      '10 rename("/store/a", "/store/b") = 0',
      '10 fsync(21</store>) = 0',
    ].join('\n')
    expect(countPhases(trace, '/store')).toEqual(
      new Map([
        ['one', [{ syncs: 1, writes: 1, calls: 2 }]],
        ['two', [{ syncs: 1, writes: 0, calls: 2 }]],
      ]),
    )
  })

  it('takes a write to a descriptor opened to sync for a sync, until the descriptor is another file', () => {
    const trace = [
      '10 openat(AT_FDCWD</work>, "/store/a", O_WRONLY|O_APPEND|O_DSYNC, 0600) = 20</store/a>',
      MARK('synced'),
      '11 write(20</store/a>, "{}", 2) = 2',
      MARK('plain'),
      '10 close(20</store/a>) = 0',
      '10 openat(AT_FDCWD</work>, "/store/b", O_WRONLY|O_APPEND, 0600) = 20</store/b>',
      '11 write(20</store/b>, "{}", 2) = 2',
    ].join('\n')
    expect(countPhases(trace, '/store').get('synced')).toEqual([{ syncs: 1, writes: 1, calls: 1 }])
    expect(countPhases(trace, '/store').get('plain')).toEqual([{ syncs: 0, writes: 1, calls: 3 }])
  })

  it('joins a call that strace split, per thread', () => {
    const trace = [
      MARK('split'),
      '10 openat(AT_FDCWD</work>, "/store/a", O_WRONLY|O_DSYNC <unfinished ...>',
      '11 fsync(5</store> <unfinished ...>',
      '10 <... openat resumed>) = 30</store/a>',
      '11 <... fsync resumed>)        = 0',
      '10 write(30</store/a>, "x", 1) = 1',
    ].join('\n')
    expect(countPhases(trace, '/store').get('split')).toEqual([{ syncs: 2, writes: 1, calls: 3 }])
  })

  it('counts a phase once for every time that it was announced', () => {
    const trace = [MARK('a'), '10 fsync(5</store>) = 0', MARK('a'), MARK('a'), '10 fsync(5</store>) = 0'].join('\n')
    const once = { syncs: 1, writes: 0, calls: 1 }
    expect(countPhases(trace, '/store').get('a')).toEqual([once, { syncs: 0, writes: 0, calls: 0 }, once])
  })

  it('counts nothing before the first mark, and no payload that looks like a mark', () => {
    const trace = ['10 fsync(5</store>) = 0', MARK('a'), '10 write(20</store/a>, "phase:b\\n", 8) = 8'].join('\n')
    expect(countPhases(trace, '/store')).toEqual(new Map([['a', [{ syncs: 0, writes: 1, calls: 1 }]]]))
  })
})
