/** One measurement in a process of its own: `node main.js TASK`, answer on standard output. */
import type { BenchBackend } from '../backend/bench-backend.ts'
import { peakMemory } from './peak-memory.ts'
import { runPhases } from './phases.ts'
import { streamTurns } from './stream-turns.ts'
import type { MemoryAnswer, Task, TurnsAnswer } from './task.ts'

async function answer(task: Task): Promise<MemoryAnswer | TurnsAnswer> {
  const { harness } = (await import(task.module)) as { readonly harness: BenchBackend }
  const persistence = await harness.openAt?.(task.location)
  if (persistence === undefined) throw new Error(`${harness.name} has no openAt`)
  try {
    switch (task.kind) {
      case 'idle':
        return { peakBytes: peakMemory() }
      case 'phases':
        await runPhases(persistence)
        return { peakBytes: peakMemory() }
      case 'resume': {
        const session = await persistence.resume(task.id, { openTurn: 'keep' })
        await session.abandon()
        return { peakBytes: peakMemory() }
      }
      case 'stream': {
        for await (const _event of persistence.read(task.id));
        return { peakBytes: peakMemory() }
      }
      case 'turns': {
        const session = task.stored ? await persistence.create() : undefined
        const measured = await streamTurns({ ...task, session })
        await session?.abandon()
        return measured
      }
    }
  } finally {
    await persistence.close()
  }
}

const task = JSON.parse(process.argv[2] ?? 'null') as Task
process.stdout.write(JSON.stringify(await answer(task)))
