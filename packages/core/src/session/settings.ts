/** The options of a persistence, checked once and completed with their defaults. */
import { SessionError } from '../errors.ts'
import { createCatalog, type ResolvedCatalog } from '../event/catalog.ts'
import { createUpgradeChain, type UpgradeChain, type UpgradeStep } from '../event/format-version.ts'
import { newSessionId } from '../event/session-id.ts'
import { isStrayPromise } from '../event/stray-promise.ts'
import { LIMITS } from '../limits.ts'
import { coreMessageFormats } from '../message-format/core-formats.ts'
import type { MessageFormat } from '../message-format/message-format.ts'
import { extensionTypes } from '../projection/extension-types.ts'
import { LogFold } from '../projection/log-fold.ts'
import type { Projection } from '../projection/projection.ts'
import type { PersistenceOptions } from './persistence-options.ts'

export interface Settings {
  readonly catalog: ResolvedCatalog
  readonly formats: ReadonlyMap<string, MessageFormat>
  readonly projections: readonly Projection[]
  readonly upgrades: UpgradeChain
  readonly redact: PersistenceOptions['redact']
  readonly writeWindowMs: number
  readonly pendingBytes: number
  readonly onFailure: PersistenceOptions['onFailure']
  readonly clock: () => number
  readonly newId: () => string
}

function bounded(name: string, value: number | undefined, most: number): number {
  if (value === undefined) return most
  if (Number.isInteger(value) && value >= 0 && value <= most) return value
  throw new SessionError('INVALID_ARGUMENT', `${name} must be an integer from 0 to ${most}`, { expected: most })
}

/** An event whose time is no integer could be stored but never read again. */
function unixMilliseconds(clock: () => number): number {
  let time: unknown
  try {
    time = clock()
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', 'clock threw', { cause })
  }
  const whole = typeof time === 'number' ? Math.trunc(time) : Number.NaN
  // Adding zero turns -0 into 0, which is what would be read back.
  if (Number.isSafeInteger(whole)) return whole + 0
  isStrayPromise(time)
  throw new SessionError('INVALID_ARGUMENT', 'clock must return Unix milliseconds')
}

/** INVALID_ARGUMENT for options that are not of the documented form. `steps` upgrade formats older than this one. */
export function settingsOf(options: PersistenceOptions, steps: readonly UpgradeStep[] = []): Settings {
  const formats = new Map<string, MessageFormat>()
  for (const format of [...coreMessageFormats, ...(options.messageFormats ?? [])]) formats.set(format.name, format)
  const projections = [extensionTypes, ...(options.projections ?? [])]
  // Built once for its checks: names, duplicates, shapes.
  new LogFold(projections)
  const clock = options.clock ?? Date.now
  return {
    catalog: createCatalog(options.events),
    formats,
    projections,
    upgrades: createUpgradeChain(steps),
    redact: options.redact,
    writeWindowMs: bounded('writeWindowMs', options.writeWindowMs, LIMITS.writeWindowMsMax),
    pendingBytes: bounded('pendingBytes', options.pendingBytes, LIMITS.pendingBytes),
    onFailure: options.onFailure,
    clock: () => unixMilliseconds(clock),
    newId: options.newId ?? newSessionId,
  }
}
