/** The contract of session persistence as cases that any backend can run. */
export { ALL_CASES } from './cases/all-cases.ts'
export * from './conformance-case.ts'
export { renderContract } from './contract-document.ts'
export * from './describe-conformance.ts'
export * from './harness.ts'
export { badge } from './report/badge.ts'
export {
  type CaseResult,
  type ConformanceReport,
  EXIT_CODES,
  type FailureReport,
  type Level,
  REPORT_VERSION,
  type TierReport,
} from './report/conformance-report.ts'
export { htmlReport } from './report/html-report.ts'
export { junitReport } from './report/junit-report.ts'
export { formatReport } from './report/text-report.ts'
export { type Beforehand, type ConformanceRun, runConformance, startRun } from './run-conformance.ts'
export type { RunOptions } from './run-options.ts'
export type { StoredRecords } from './stored-records.ts'
export type { TierExtension, TierExtensionModule } from './tier-extension.ts'
export { systemCallTiers } from './tiers/system-call-tiers.ts'
export type { SpawnOptions, SpawnWorker, WorkerLine, WorkerProcess, WorkerStep, WorkerTask } from './worker-process.ts'
