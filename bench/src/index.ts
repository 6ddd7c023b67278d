/** Append and replay throughput, size, latency and memory of every backend, against the limit and against goals. */
export type { BenchBackend, BenchMedium, GoalColumn } from './backend/bench-backend.ts'
export { htmlReport } from './report/html-report.ts'
export * from './report/report.ts'
export type { Row, Unit } from './report/row.ts'
export { COLOR_STYLE, PLAIN_STYLE, type Style, terminalReport } from './report/terminal-report.ts'
export { type BenchOptions, runBench } from './run-bench.ts'
export type { Estimate } from './statistics/estimate.ts'
export type { Verdict } from './statistics/verdict.ts'
