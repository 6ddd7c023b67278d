// The kit under vitest, in a process of its own.
import { describeConformance } from '@session-persistence/conformance'
import { describe, it } from 'vitest'
import { harness, onReport, options } from './runner-options.mjs'

describeConformance(harness, { describe, it }, { ...options, onReport })
