/** A writer, and what it was heard to say before the power went. */
import { type Expectation, expectationAfter, taskBatches, type WriterLine, type WriterTask } from '../../src/index.ts'

export interface HeardWriter {
  readonly task: WriterTask
  readonly heard: WriterLine[]
}

/** What must be left of its session. */
export function kept({ task, heard }: HeardWriter): Expectation {
  const events = taskBatches(task).flat()
  const { histories, ...rest } = expectationAfter(task.id, events, heard)
  // Words on their way were not heard: anything after the acknowledged may be there.
  return {
    ...rest,
    absent: rest.absent === 'forbidden' ? 'forbidden' : 'allowed',
    histories: histories.map((history) => ({ ...history, events })),
  }
}
