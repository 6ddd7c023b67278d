/** What each operation of a persistence takes, as checks that run before anything is opened. */
import {
  type ArgumentCheck,
  aBoolean,
  aFunction,
  aHeadReceipt,
  aNumber,
  anAbortSignal,
  anId,
  anIterable,
  anObject,
  aSeq,
  aString,
  checkedLater,
  oneOf,
  onlyOptions,
  someLabels,
} from '../argument-checks.ts'
import { SessionError } from '../errors.ts'
import type { AnySessionEvent, EventInput } from '../event/event.ts'
import type { Labels } from '../event/labels.ts'
import { intake } from '../session/event-intake.ts'
import type { Settings } from '../session/settings.ts'
import type { StoredState } from '../storage/session-storage.ts'
import type { FollowOptions } from './follow.ts'
import type { CreateOptions, ListFilter, ListOptions, LogSource, ResumeOptions } from './session-persistence.ts'
import type { ViewOptions } from './session-view.ts'
import type { VerifyOptions } from './verify.ts'

/** The header's own fields are checked with the header. */
export const createArguments: ArgumentCheck<CreateOptions> = onlyOptions<CreateOptions>({
  id: anId,
  cwd: checkedLater(),
  messageFormat: checkedLater(),
  origin: checkedLater(),
  parent: checkedLater(),
  labels: someLabels,
})

export const resumeArguments: ArgumentCheck<ResumeOptions> = onlyOptions<ResumeOptions>({
  openTurn: oneOf('close', 'keep'),
  reconcile: aFunction(),
  keepPartialAnswer: aBoolean,
  expectHead: aHeadReceipt,
  preserveUnknown: aBoolean,
  writer: aString,
  signal: anAbortSignal,
})

/** `ForkOptions`, when nobody has promised yet that `at`, `before` and `turn` exclude each other. */
export interface ForkArguments {
  readonly at?: number
  readonly before?: number
  readonly turn?: number
  readonly id?: string
  readonly reason?: string
  readonly labels?: Labels
}

export const forkArguments: ArgumentCheck<ForkArguments> = onlyOptions<ForkArguments>({
  at: aSeq,
  before: aSeq,
  turn: aSeq,
  id: anId,
  reason: aString,
  labels: someLabels,
})

export const viewArguments: ArgumentCheck<ViewOptions> = onlyOptions<ViewOptions>({ at: aSeq, signal: anAbortSignal })

export const followArguments: ArgumentCheck<FollowOptions> = onlyOptions<FollowOptions>({
  from: aSeq,
  signal: anAbortSignal,
})

/** The limit is checked by the listing, which knows its bounds. */
export const listArguments: ArgumentCheck<ListOptions> = onlyOptions<ListOptions>({
  limit: checkedLater(),
  cursor: aString,
  filter: onlyOptions<ListFilter>({
    cwd: aString,
    parent: aString,
    origin: aString,
    labels: someLabels,
    updatedAfter: aNumber,
    state: oneOf<StoredState>('ready', 'open', 'damaged', 'newer'),
  }),
  signal: anAbortSignal,
})

export interface Annotation {
  readonly title?: string
  readonly labels?: Labels
}

const annotation: ArgumentCheck<Annotation> = onlyOptions<Annotation>({ title: aString, labels: someLabels })

export const annotateArguments: ArgumentCheck<Annotation> = (value: unknown, name: string): Annotation => {
  const checked = annotation(value, name)
  if (checked.title !== undefined || checked.labels !== undefined) return checked
  throw new SessionError('INVALID_ARGUMENT', `${name} must hold a title or labels`)
}

export function annotationEvents({ title, labels }: Annotation): readonly EventInput[] {
  return [
    ...(title === undefined ? [] : [{ type: 'session/title', data: { title } } as const]),
    ...(labels === undefined ? [] : [{ type: 'session/labels', data: { labels } } as const]),
  ]
}

/** Refuses, before a log is opened for writing, what `append` would refuse afterwards. */
export function checkAppendable(inputs: readonly EventInput[], settings: Settings): void {
  for (const input of inputs) intake(input, 0, 0, settings)
}

export const verifyArguments: ArgumentCheck<VerifyOptions> = onlyOptions<VerifyOptions>({
  expectHead: aHeadReceipt,
  signal: anAbortSignal,
})

export interface RepairArguments {
  readonly dryRun?: boolean
  readonly signal?: AbortSignal
}

export const repairArguments: ArgumentCheck<RepairArguments> = onlyOptions<RepairArguments>({
  dryRun: aBoolean,
  signal: anAbortSignal,
})

export interface CopyArguments {
  readonly signal?: AbortSignal
}

export const copyArguments: ArgumentCheck<CopyArguments> = onlyOptions<CopyArguments>({ signal: anAbortSignal })

export const sourceArguments: ArgumentCheck<LogSource> = anObject<LogSource>(
  { header: checkedLater(), events: anIterable<readonly AnySessionEvent[]>(), knownHead: aHeadReceipt },
  ['header', 'events'],
)

/** The id that a header claims, before the header is checked as a whole. */
export const headerId: ArgumentCheck<{ readonly id: string }> = (value: unknown, name: string) => ({
  id: anId(anObject<{ readonly id?: unknown }>({ id: checkedLater() })(value, name).id, name),
})
