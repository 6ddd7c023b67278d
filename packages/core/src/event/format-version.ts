/**
 * The version of the stored format and the way up from older ones (formats.md, versioning).
 *
 * One integer covers header, envelope, vocabulary and packed runs. The shape of the envelope never changes between
 * versions: keys, `seq` and `time` stay as they are, so that readers check every envelope with the same function
 * before any upgrade. A step may change the header, and each event's `type`, `data`, `ignorable`, `surface` and
 * `sources`, one event for one event: seqs, and with them ranges, forks and snapshots, keep their meaning.
 */
import { SessionError } from '../errors.ts'
import type { AnySessionEvent } from './event.ts'
import { checkHeader, type SessionHeader } from './header.ts'

/** The version that this program writes. */
export const FORMAT_VERSION = 1

/** From version `from` to `from + 1`. Pure; gets what the step before it returned. */
export interface UpgradeStep {
  readonly from: number
  /** The returned `version` does not matter: the chain sets it. */
  header(header: SessionHeader): SessionHeader
  event(event: AnySessionEvent): AnySessionEvent
}

export interface UpgradeChain {
  /** The version that everything is upgraded to. */
  readonly current: number
  /** UNSUPPORTED_VERSION, with the supported version as `expected`, for every version without a way to `current`. */
  check(version: unknown): void
  /** The header as of `current`. */
  header(header: SessionHeader): SessionHeader
  /** An event of a log of `version` as of `current`; the same object when that is `current`. */
  event(version: number, event: AnySessionEvent): AnySessionEvent
}

/** A chain of steps without gaps that ends at `current`; INVALID_ARGUMENT otherwise. */
export function createUpgradeChain(steps: readonly UpgradeStep[], current: number = FORMAT_VERSION): UpgradeChain {
  const ordered = [...steps].sort((a, b) => a.from - b.from)
  const oldest = current - ordered.length
  ordered.forEach((step, index) => {
    if (step.from === oldest + index && oldest >= 0) return
    throw new SessionError('INVALID_ARGUMENT', `Upgrade steps must lead to version ${current} without a gap`, {
      expected: Math.max(0, oldest + index),
      found: step.from,
    })
  })

  function check(version: unknown): void {
    if (Number.isSafeInteger(version) && (version as number) >= oldest && (version as number) <= current) return
    const found = typeof version === 'number' ? version : `a value of type ${typeof version}`
    const supported = oldest === current ? `version ${current}` : `versions ${oldest} to ${current}`
    throw new SessionError('UNSUPPORTED_VERSION', `The log has format ${found}; this program supports ${supported}`, {
      expected: current,
      found,
    })
  }

  function stepsFrom(version: number): readonly UpgradeStep[] {
    check(version)
    return ordered.slice(version - oldest)
  }

  return Object.freeze({
    current,
    check,
    header(header: SessionHeader): SessionHeader {
      const path = stepsFrom(header.version)
      if (path.length === 0) return header
      const upgraded = path.reduce((older, step) => step.header(older), header)
      return checkHeader({ ...upgraded, version: current }, 'CORRUPT')
    },
    event(version: number, event: AnySessionEvent): AnySessionEvent {
      if (version === current) return event
      const upgraded = stepsFrom(version).reduce((older, step) => step.event(older), event)
      if (upgraded.seq === event.seq && upgraded.time === event.time) return upgraded
      throw new SessionError('INVARIANT', 'An upgrade step changed the seq or time of an event', { seq: event.seq })
    },
  })
}
