/** Readers that turn other harnesses' logs into sessions, and canonical export. */
export { claudeCodeReader } from './claude-code/claude-code-reader.ts'
export { dsh } from './dsh/dsh-format.ts'
export { dshReader } from './dsh/dsh-reader.ts'
export type { ImportedLog, LogReader, ReadLogsOptions } from './reader.ts'
export * from './report/import-report.ts'
export { LogFile } from './source/log-file.ts'
