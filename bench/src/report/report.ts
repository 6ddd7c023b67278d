import { type BackendDescription, SessionError } from 'session-persistence'
import type { HeldTo } from '../goals/goals.ts'
import type { MachineFacts } from '../machine/machine-facts.ts'
import type { Row } from './row.ts'

export const REPORT_FORMAT = 'session-persistence-bench'

/** Raised when a reader of the old form would misread the new one; new optional fields do not raise it. */
export const REPORT_VERSION = 1

export interface Failure {
  readonly scenario: string
  /** Absent where it was not one backend alone. */
  readonly backend?: string
  /** Of the error, where it had one: `NO_SPACE`. */
  readonly code?: string
  readonly message: string
}

/** A backend and the modes that it was measured in. */
export interface MeasuredBackend extends HeldTo {
  readonly name: string
  readonly description: BackendDescription
}

/** What a run found, as it is written with `--json`. */
export interface BenchReport {
  readonly format: typeof REPORT_FORMAT
  readonly version: typeof REPORT_VERSION
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly seconds: number
  readonly scale: 'full' | 'quick'
  /** True when a scenario failed or the run was interrupted: what is missing was not measured. */
  readonly partial: boolean
  readonly machine: MachineFacts
  /** As read back from the opened backends, not as asked for. */
  readonly backends: readonly MeasuredBackend[]
  /** Built-in backends that this machine lacks. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[]
  /** `seconds`: how long it took, stores included; absent when it was not begun. `caution`: why its numbers say less. */
  readonly scenarios: readonly {
    readonly id: string
    readonly description: string
    readonly caution?: string
    readonly seconds?: number
  }[]
  readonly rows: readonly Row[]
  readonly failures: readonly Failure[]
}

/** A report as `--json` wrote it. INVALID_ARGUMENT for anything else, UNSUPPORTED_VERSION for a newer form. */
export async function readReport(text: string): Promise<BenchReport> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new SessionError('INVALID_ARGUMENT', 'the report is not JSON', { cause })
  }
  if (typeof value !== 'object' || value === null || !('format' in value) || value.format !== REPORT_FORMAT) {
    throw new SessionError('INVALID_ARGUMENT', 'this is no bench report')
  }
  const { version } = value as { readonly version?: unknown }
  if (version !== REPORT_VERSION) {
    throw new SessionError(
      'UNSUPPORTED_VERSION',
      `the report has version ${String(version)}, this program reads ${REPORT_VERSION}`,
      {
        expected: REPORT_VERSION,
      },
    )
  }
  // Loaded here: whoever only writes reports starts without it.
  const { checkReport } = await import('./report-schema.ts')
  const report = checkReport(value)
  if (typeof report === 'string') throw new SessionError('INVALID_ARGUMENT', `the report is damaged: ${report}`)
  return report
}
