// One wrong backend on files, chosen by the query of this module's address, so that worker processes run the same one.
import { ALL_MUTANTS, mutantHarness } from '@session-persistence/conformance/mutants'
import { harness as sound } from './conformance-harness.mjs'

const wanted = new URL(import.meta.url).searchParams.get('mutant')
const [, mutant] = ALL_MUTANTS.find(([, { name }]) => name === wanted) ?? []

/** @type {import('@session-persistence/conformance').Harness | undefined} */
export const harness = mutant && mutantHarness(sound, mutant, import.meta.url)
