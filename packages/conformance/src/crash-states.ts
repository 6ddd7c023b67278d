/**
 * What a power cut may leave of a disk: a model of one, every state that it may be found in, and the way from a trace of
 * system calls to such states. What tier *power* is made of, for whoever wants to try more with it.
 */
export * from './crash/crash-images.ts'
export * from './crash/disk.ts'
export * from './crash/disk-image.ts'
export * from './crash/file-states.ts'
export * from './crash/operation.ts'
export * from './crash/random.ts'
export * from './crash/recording.ts'
export * from './tiers/fault-clauses.ts'
export * from './trace/parse-trace.ts'
export * from './trace/replay-trace.ts'
export * from './trace/strace.ts'
