// The kit under node:test.
import { describe, it } from 'node:test'
import { describeConformance } from '@session-persistence/conformance'
import { harness, onReport, options } from './runner-options.mjs'

describeConformance(harness, { describe, it }, { ...options, onReport })
