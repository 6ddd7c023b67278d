// The in-memory backend keeps every clause of the contract that the interface alone can show.
import { describe, it } from 'vitest'
import { describeConformance } from '../src/describe-conformance.ts'
import { memoryHarness } from './memory-harness.ts'

describeConformance(memoryHarness, { describe, it })
