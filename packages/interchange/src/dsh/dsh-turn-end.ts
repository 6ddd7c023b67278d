import type { ErrorInfo, TurnEndReason } from '@session-persistence/core'
import type { SourceRecord } from '../source/decode-line.ts'
import { isRecord, type RecordFields } from '../source/record-fields.ts'

/** Why a turn ended, in core's words. What they do not say stays in the fields. */
export function turnEndReason(fields: RecordFields): TurnEndReason {
  const reason = fields.record('reason')
  if (reason === undefined) {
    const error = fields.take('error')
    return error === undefined ? { kind: 'completed' } : { kind: 'failed', error: errorInfo(error) }
  }
  switch (reason.kind) {
    case 'completed':
      return { kind: 'completed' }
    case 'max-tokens':
      return { kind: 'max-tokens' }
    case 'aborted':
      return { kind: 'cancelled', cause: causeOf(reason) }
    case 'rejected':
      return { kind: 'cancelled', cause: `rejected: ${causeOf(reason)}` }
    case 'error':
    case 'failed':
      return { kind: 'failed', error: errorInfo(reason.error) }
    default:
      return { kind: 'failed', error: { code: 'unknown-reason', details: reason } }
  }
}

function causeOf({ reason }: SourceRecord): string {
  if (typeof reason === 'string') return reason
  if (isRecord(reason) && typeof reason.kind === 'string') return reason.kind
  return reason === undefined ? 'unknown' : JSON.stringify(reason)
}

function errorInfo(error: unknown): ErrorInfo {
  if (typeof error === 'string') return { message: error }
  if (!isRecord(error)) return error === undefined ? {} : { details: error }
  const { code, message, ...others } = error
  const plain = typeof code === 'string' && (message === undefined || typeof message === 'string')
  if (!plain) return { details: error }
  return {
    code,
    ...(typeof message === 'string' && { message }),
    ...(Object.keys(others).length > 0 && { details: others }),
  }
}
