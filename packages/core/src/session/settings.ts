/** The options of a persistence, checked once and completed with their defaults. */
import { type ArgumentCheck, aFunction, checkedLater, listOf, must, onlyOptions } from '../argument-checks.ts'
import { isSessionError, SessionError } from '../errors.ts'
import { createCatalog, type ResolvedCatalog } from '../event/catalog.ts'
import { createUpgradeChain, type UpgradeChain, type UpgradeStep } from '../event/format-version.ts'
import { checkSessionId, newSessionId } from '../event/session-id.ts'
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

/** INVALID_ARGUMENT with the cause when `newId` throws, INVALID_ID when it returns something else. */
function sessionId(newId: () => string): string {
  let id: unknown
  try {
    id = newId()
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', 'newId threw', { cause })
  }
  isStrayPromise(id)
  return checkSessionId(id)
}

/** Names, duplicates and shapes are checked by building what will hold them. */
function checkProjections(projections: readonly Projection[]): void {
  try {
    new LogFold(projections)
  } catch (cause) {
    if (isSessionError(cause)) throw cause
    throw new SessionError('INVALID_ARGUMENT', 'a projection threw before its first event', { cause })
  }
}

const messageFormat: ArgumentCheck<MessageFormat> = must('a message format', (value) => {
  if (typeof value !== 'object' || value === null) return false
  const { name, toolResult, partialAssistant, text } = value as Partial<MessageFormat>
  const functions = [toolResult, partialAssistant, text].every((one) => typeof one === 'function')
  return typeof name === 'string' && name !== '' && functions
})

/** Bounds, catalog entries and projections are checked where they are used. */
const persistenceArguments: ArgumentCheck<PersistenceOptions> = onlyOptions<PersistenceOptions>({
  events: checkedLater(),
  projections: listOf<Projection>(checkedLater()),
  messageFormats: listOf(messageFormat),
  redact: aFunction(),
  writeWindowMs: checkedLater(),
  pendingBytes: checkedLater(),
  onFailure: aFunction(),
  clock: aFunction(),
  newId: aFunction(),
})

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
export function settingsOf(given: PersistenceOptions, steps: readonly UpgradeStep[] = []): Settings {
  const checked = persistenceArguments(given, 'options')
  const formats = new Map<string, MessageFormat>()
  for (const format of [...coreMessageFormats, ...(checked.messageFormats ?? [])]) formats.set(format.name, format)
  const projections = [extensionTypes, ...(checked.projections ?? [])]
  checkProjections(projections)
  const { clock = Date.now, newId = newSessionId } = checked
  return {
    catalog: createCatalog(checked.events),
    formats,
    projections,
    upgrades: createUpgradeChain(steps),
    redact: checked.redact,
    writeWindowMs: bounded('writeWindowMs', checked.writeWindowMs, LIMITS.writeWindowMsMax),
    pendingBytes: bounded('pendingBytes', checked.pendingBytes, LIMITS.pendingBytes),
    onFailure: checked.onFailure,
    clock: clock === Date.now ? clock : () => unixMilliseconds(clock),
    newId: () => sessionId(newId),
  }
}
