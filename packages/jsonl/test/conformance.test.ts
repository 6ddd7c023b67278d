// The plain JSONL backend keeps the contract: every clause, on the interface, across killed processes, on damaged files.
import { describeConformance } from '@session-persistence/conformance'
import { describe, expect, it } from 'vitest'
import { harness } from './conformance-harness.mjs'

// A sample of kills, damage and workloads on every machine, all of them in CI.
const effort = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1) >= 5 ? 'full' : 'quick'

describeConformance(
  harness,
  { describe, it },
  { effort, onReport: ({ counts }) => expect(counts.skipped, 'clauses skipped').toBe(0) },
)
