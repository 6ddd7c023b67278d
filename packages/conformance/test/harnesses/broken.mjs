// The in-memory backend with a fault: it ignores that a read is to be reversed.
import { ALL_MUTANTS, mutantHarness } from '@session-persistence/conformance/mutants'
import { harness as sound } from './memory.mjs'

const [, mutant] = ALL_MUTANTS.find(([, { name }]) => name === 'reverse-ignored') ?? []

/** @type {import('@session-persistence/conformance').Harness | undefined} */
export const harness = mutant && mutantHarness(sound, mutant)
