/** What file backends share; a backend is a codec over it. */
export * from './file-log-storage.ts'
export * from './file-system.ts'
export * from './io-error.ts'
export * from './log-codec.ts'
export * from './node-file-system.ts'
export * from './sector.ts'
export * from './session-name.ts'
export * from './writer-lock.ts'
