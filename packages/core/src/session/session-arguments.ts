/** What the operations of a live session take, as checks that run before an event is judged. */
import {
  type ArgumentCheck,
  aBoolean,
  anObject,
  aString,
  checkedLater,
  listOf,
  onlyOptions,
} from '../argument-checks.ts'
import type { AppendOptions } from '../event/event.ts'
import type { RawInput } from './event-intake.ts'
import type { CloseTurnOptions } from './session.ts'

/** Their content is judged as that of any event. */
export const appendArguments: ArgumentCheck<AppendOptions> = onlyOptions<AppendOptions>({
  surface: checkedLater(),
  sources: checkedLater(),
})

/** The events of one `appendAll`, each a copy with its properties read once. */
export const eventInputs: ArgumentCheck<readonly RawInput[]> = listOf<RawInput>(
  anObject<RawInput>({ type: aString, data: checkedLater(), surface: checkedLater(), sources: checkedLater() }, [
    'type',
  ]),
)

const turnEndReason: ArgumentCheck<CloseTurnOptions['reason']> = (value, name) => {
  anObject<{ readonly kind: string }>({ kind: aString }, ['kind'])(value, name)
  return value as CloseTurnOptions['reason']
}

/** The rest of the reason is judged with its `turn/end`. */
export const closeTurnArguments: ArgumentCheck<CloseTurnOptions> = onlyOptions<CloseTurnOptions>(
  { reason: turnEndReason, keepPartialAnswer: aBoolean },
  ['reason'],
)
