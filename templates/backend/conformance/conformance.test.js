import { describe, it } from 'node:test'
import { describeConformance } from '@session-persistence/conformance'
import { harness } from './harness.js'

describeConformance(harness, { describe, it })
