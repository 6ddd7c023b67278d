/** Every write path of the file backends, as a harness or an operator takes it. */
import { APPEND_SCENARIOS } from './append-scenarios.ts'
import { REPLACING_SCENARIOS } from './replacing-scenarios.ts'
import type { Scenario } from './scenario.ts'

export const SCENARIOS: readonly Scenario[] = [...APPEND_SCENARIOS, ...REPLACING_SCENARIOS]
