import { appendScenario } from './append.ts'
import { createScenario } from './create.ts'
import { durabilityScenario } from './durability.ts'
import { eventLoopScenario } from './event-loop.ts'
import { listScenario } from './list.ts'
import { manageScenario } from './manage.ts'
import { manySessionsScenario } from './many-sessions.ts'
import { memoryScenario } from './memory.ts'
import { openWriterScenario } from './open-writer.ts'
import { pipelinedScenario } from './pipelined.ts'
import { replayScenario } from './replay.ts'
import { resumeScenario } from './resume.ts'
import type { Scenario } from './scenario.ts'
import { sizeScenario } from './size.ts'
import { suffixScenario } from './suffix.ts'
import { systemCallsScenario } from './system-calls.ts'

/** In the order of the report. */
export const ALL_SCENARIOS: readonly Scenario[] = Object.freeze([
  appendScenario,
  durabilityScenario,
  pipelinedScenario,
  manySessionsScenario,
  replayScenario,
  resumeScenario,
  suffixScenario,
  openWriterScenario,
  sizeScenario,
  listScenario,
  createScenario,
  manageScenario,
  systemCallsScenario,
  memoryScenario,
  eventLoopScenario,
])
