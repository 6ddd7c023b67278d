/** The read-only view of a stored session: what `inspect` returns. Holds nothing open. */
import { isSessionError } from '../errors.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'
import type { SessionHeader } from '../event/header.ts'
import { extensionTypes } from '../projection/extension-types.ts'
import type { LogFold } from '../projection/log-fold.ts'
import type { RecoveryReport } from '../recovery/recovery-report.ts'
import { FoldedState } from '../session/folded-state.ts'
import type { Settings } from '../session/settings.ts'
import type { StorageReader } from '../storage/session-storage.ts'
import { type LoadedLog, loadLog } from './load-log.ts'
import { loadPartialAnswer, planRecovery } from './plan-recovery.ts'
import type { SessionView } from './session-persistence.ts'
import { unknownEventError, unknownTypes } from './unknown-types.ts'

interface ViewParts {
  readonly header: SessionHeader
  readonly fold: LogFold
  readonly recovery: RecoveryReport
  readonly bytes: number
  readonly head: HeadReceipt
  readonly unknownTypes: readonly string[]
}

class StoredView extends FoldedState implements SessionView {
  protected readonly fold: LogFold
  readonly recovery: RecoveryReport
  readonly bytes: number
  readonly head: HeadReceipt
  readonly unknownTypes: readonly string[]

  constructor(parts: ViewParts) {
    super(parts.header)
    this.fold = parts.fold
    this.recovery = parts.recovery
    this.bytes = parts.bytes
    this.head = parts.head
    this.unknownTypes = parts.unknownTypes
  }
}

export interface ViewOptions {
  /** The session as it stood after this seq. */
  readonly at?: number
  readonly signal?: AbortSignal
}

/** `again` opens the log that the reader is of once more. */
export async function viewOf(
  reader: StorageReader,
  again: () => Promise<StorageReader>,
  settings: Settings,
  options: ViewOptions,
): Promise<SessionView> {
  // An earlier moment is not short of anything.
  const loaded = await loadLog(reader, settings, {
    ...(options.at === undefined ? { witness: { again, always: true } } : { to: options.at }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  if (loaded.missing !== undefined) loaded.fold.loseNext()
  const unknown = unknownTypes(settings, loaded.fold.state(extensionTypes))
  return new StoredView({
    header: settings.upgrades.header(reader.header),
    fold: loaded.fold,
    bytes: reader.bytes,
    head: loaded.head,
    unknownTypes: unknown,
    recovery: await recoveryOf(reader, settings, loaded, unknown),
  })
}

/** What a resume would find and do, without doing it. */
async function recoveryOf(
  reader: StorageReader,
  settings: Settings,
  loaded: LoadedLog,
  unknown: readonly string[],
): Promise<RecoveryReport> {
  const { fold } = loaded
  const { version } = reader.header
  const report: RecoveryReport = {
    survived: fold.nextSeq,
    openCalls: fold.openCalls(),
    closed: [],
    ...(loaded.missing === undefined ? {} : { missing: loaded.missing }),
    ...(fold.openTurn === undefined ? {} : { openTurn: fold.openTurn }),
    ...(reader.tail.torn === undefined ? {} : { torn: reader.tail.torn }),
    ...(version === settings.upgrades.current ? {} : { upgraded: { from: version, to: settings.upgrades.current } }),
  }
  if (unknown.length > 0) return { ...report, refusal: unknownEventError(unknown) }
  try {
    const partial = await loadPartialAnswer(reader, settings, fold)
    return { ...report, closed: planRecovery(reader, settings, loaded, partial, { keepPartialAnswer: true }).events }
  } catch (error) {
    if (isSessionError(error, 'NOT_SUPPORTED')) return { ...report, refusal: error }
    throw error
  }
}
