/** The contract of session persistence as cases that any backend can run. */
export { ALL_CASES } from './cases/all-cases.ts'
export * from './conformance-case.ts'
export { renderContract } from './contract-document.ts'
export * from './describe-conformance.ts'
export * from './harness.ts'
export { type CaseResult, type ConformanceReport, formatReport, REPORT_VERSION, type TierReport } from './report.ts'
export { type ConformanceRun, type RunOptions, runConformance, startRun } from './run-conformance.ts'
export type { SpawnWorker, WorkerLine, WorkerProcess, WorkerTask } from './worker-process.ts'
