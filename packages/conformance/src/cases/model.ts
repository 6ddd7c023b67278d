import { createMemoryMedium, openMemory } from '@session-persistence/core'
import fc from 'fast-check'
import { type CaseContext, CaseSkipped, type ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, Violation } from '../expectation.ts'
import { WorkloadRun } from '../generated/perform-workload.ts'
import { type WorkloadCommand, workloads, workloadText } from '../generated/workload-command.ts'
import { transcribe } from '../generated/workload-transcript.ts'
import { HarnessError } from '../harness.ts'

export const MODEL_CASES: readonly ConformanceCase[] = casesOf('MODEL', {
  1: {
    title:
      'Any order of create, append, flush, read, fork, annotate, delete, resume and reopen leaves what an array says.',
    why: 'Every operation is right alone in most stores; it is their order that breaks them.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => tryWorkloads(context, 1, context.effort === 'full' ? 40 : 8),
  },
  2: {
    title: 'The same through three handles on one medium: whoever asks sees what is durable, and only one writes.',
    why: 'Windows and agents open one store at once.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => tryWorkloads(context, 3, context.effort === 'full' ? 30 : 6),
  },
  3: {
    title: 'Equal workloads leave equal logs, times, receipts, pages and refusals here and in the in-memory backend.',
    why: 'A harness must not notice which backend it has.',
    needs: { timeoutMs: 60_000 },
    run: async (context) => {
      const seed = Math.floor(context.random() * 2 ** 31)
      for (const commands of fc.sample(workloads(1, 40), { numRuns: context.effort === 'full' ? 20 : 5, seed })) {
        const reference = createMemoryMedium()
        const expected = await transcribe((clock) => openMemory({ medium: reference, clock }), commands)
        const medium = await context.newMedium()
        const found = await transcribe((clock) => medium.open({ clock }), commands)
        expectEqual(found, expected, `after ${workloadText(commands)}: what was observed`)
        for (const line of found) context.observe(line)
      }
    },
  },
})

/** Tries workloads against the model; a failure is the smallest workload that still fails. */
async function tryWorkloads(context: CaseContext, handles: number, numRuns: number): Promise<void> {
  const seed = Math.floor(context.random() * 2 ** 31)
  const attempt = async (commands: readonly WorkloadCommand[]): Promise<void> => {
    const medium = await context.newMedium()
    const run = await WorkloadRun.start(() => medium.open(), handles)
    await run.perform(commands)
  }
  // What is wrong with harness or kit is no property of a workload.
  let other: unknown
  const property = fc.asyncProperty(workloads(handles), async (commands) => {
    if (other !== undefined) return
    await attempt(commands).catch((error: unknown) => {
      if (!(error instanceof HarnessError || error instanceof CaseSkipped)) throw error
      other = error
    })
  })
  const details = await fc.check(property, { numRuns, seed })
  if (other !== undefined) throw other
  if (!details.failed) return
  const [smallest = []] = details.counterexample ?? []
  context.note(`the smallest workload that fails, once more: ${workloadText(smallest)}`)
  await attempt(smallest).catch((error: unknown) => {
    throw failureAfter(smallest, error)
  })
  throw failureAfter(smallest, details.errorInstance)
}

function failureAfter(commands: readonly WorkloadCommand[], error: unknown): Violation {
  const what = error instanceof Error ? error.message : 'something else than an error was thrown'
  return new Violation(`after ${workloadText(commands)}: ${what}`, error instanceof Violation ? error.window : [])
}
