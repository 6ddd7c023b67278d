// The zstd-framed backend keeps the contract: every clause, on the interface, across killed processes, on damaged files.
import { describeConformance } from '@session-persistence/conformance'
import { describe, it } from 'vitest'
import { harness } from './conformance-harness.mjs'

describeConformance(harness, { describe, it })
