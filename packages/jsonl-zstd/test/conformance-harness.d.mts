import type { Harness } from '@session-persistence/conformance'
export const harness: Harness
