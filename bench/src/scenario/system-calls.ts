/** System calls under strace: exact counts, the same on every machine, however busy it is. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { PHASE_PIPELINED } from '../child/phases.ts'
import { runsInChild, tracePhases } from '../child/run-child.ts'
import { countPhases, type PhaseCalls } from '../machine/syscall-trace.ts'
import { countedEachRow, type Row } from '../report/row.ts'
import type { Scenario } from './scenario.ts'

/** What is reported: a phase, how often what it is about happened in it, and in words. */
const PHASES: readonly { readonly phase: string; readonly per: number; readonly what: string }[] = [
  { phase: 'create', per: 1, what: 'to create a session, first event durable' },
  { phase: 'flush-1', per: 1, what: 'a flush of 1 event' },
  { phase: 'flush-100', per: 1, what: 'a flush of 100 events' },
  { phase: 'pipelined', per: PHASE_PIPELINED, what: 'an event, flushes not awaited one by one' },
  { phase: 'close', per: 1, what: 'to close a session' },
  { phase: 'read', per: 1, what: 'to read a whole log' },
  { phase: 'list', per: 1, what: 'to list two sessions' },
  { phase: 'resume', per: 1, what: 'to resume a session' },
  { phase: 'delete', per: 1, what: 'to delete a session' },
]

export const systemCallsScenario: Scenario = {
  id: 'system-calls',
  description: 'syncs, and all calls on the store, counted under strace; nothing is timed',
  async run(context) {
    const rows: Row[] = []
    for (const backend of context.backends.filter(runsInChild)) {
      const { location } = await context.medium(backend)
      if (location === undefined) continue
      context.progress(`system calls of ${backend.name}`)
      const traceFile = path.join(context.directory, `trace-${backend.name}`)
      const trace = await tracePhases(backend, location, traceFile, context.signal)
      if (trace === undefined) {
        context.progress('strace is not installed: system calls are not counted')
        return []
      }
      await fs.rm(traceFile)
      const counts = countPhases(trace, await fs.realpath(location).catch(() => location))
      for (const { phase, per, what } of PHASES) {
        const found: readonly PhaseCalls[] | undefined = counts.get(phase)
        if (found === undefined) throw new Error(`the trace lacks the phase ${phase}`)
        const facts = { backend, through: 'session' } as const
        const each = (pick: (calls: PhaseCalls) => number): number[] => found.map((calls) => pick(calls) / per)
        rows.push(
          countedEachRow(
            { ...facts, id: `syncs/${phase}`, title: `syncs ${what}`, unit: 'syncs' },
            each(({ syncs }) => syncs),
          ),
          countedEachRow(
            { ...facts, id: `calls/${phase}`, title: `system calls ${what}`, unit: 'calls' },
            each(({ calls }) => calls),
          ),
        )
      }
    }
    return rows
  },
}
