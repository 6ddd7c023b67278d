/**
 * What names in a directory lead to, told by the directory alone for as long as nothing in it was made, removed or
 * renamed. To ask a file itself for its times is dear where it is written in place, as a write-ahead log is: kernels
 * that keep fine-grained times (Linux since 6.13) then give it new ones at its next write, which have to be stored. For
 * a look before each commit that was a third of the commit (docs/decisions/0005-sqlite-layout.md).
 */
import { lstatSync, type Stats } from 'node:fs'

/**
 * Milliseconds after its last change from which a directory cannot change again without showing another time. Times
 * advance by 10 ms at most where they have fractions of that, and by 2 s on the coarsest file systems.
 */
const SETTLED_MS = 100
const SETTLED_COARSE_MS = 3_000
const COARSE_UNIT_MS = 10

/** The names themselves are looked at this often all the same: no rule about times holds on every file system. */
const LOOK_AGAIN_MS = 1_000

interface Look {
  /** As it was before the look. */
  readonly directory: Stats
  readonly at: number
  readonly found: string
}

export class SteadyNames {
  readonly #directory: string
  readonly #look: () => string
  readonly #now: () => number
  #last: Look | undefined

  /** `look` says what the names lead to; `now` is the time in Unix milliseconds. */
  constructor(directory: string, look: () => string, now: () => number = Date.now) {
    this.#directory = directory
    this.#look = look
    this.#now = now
  }

  /** What `look` returned, or throws, at most a second ago if nothing in the directory changed since. */
  identity(): string {
    const directory = lstatSync(this.#directory, { throwIfNoEntry: false })
    const now = this.#now()
    const last = this.#last
    if (last !== undefined && directory !== undefined && isFresh(last, now) && isUnchanged(last.directory, directory)) {
      return last.found
    }
    this.#last = undefined
    const found = this.#look()
    if (directory !== undefined && hasSettled(directory, now)) this.#last = { directory, at: now, found }
    return found
  }
}

/** Also false when the clock was set back. */
function isFresh({ at }: Look, now: number): boolean {
  return now >= at && now - at < LOOK_AGAIN_MS
}

function isUnchanged(before: Stats, after: Stats): boolean {
  return before.ino === after.ino && before.dev === after.dev && before.ctimeMs === after.ctimeMs
}

function hasSettled({ ctimeMs }: Stats, now: number): boolean {
  return now - ctimeMs >= (ctimeMs % COARSE_UNIT_MS === 0 ? SETTLED_COARSE_MS : SETTLED_MS)
}
