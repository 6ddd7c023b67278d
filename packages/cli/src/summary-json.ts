import type { SessionError, SessionSummary } from '@session-persistence/core'

/** An error as the `--json` documents show it. Messages hold no payload. */
export interface ErrorJson {
  readonly code: string
  readonly message: string
  readonly path?: string
  readonly offset?: number
  readonly seq?: number
}

export function errorJson({ code, message, path, offset, seq }: SessionError): ErrorJson {
  return {
    code,
    message,
    ...(path === undefined ? {} : { path }),
    ...(offset === undefined ? {} : { offset }),
    ...(seq === undefined ? {} : { seq }),
  }
}

/** One entry of `list --json`: the summary as the API gives it, times in Unix milliseconds. */
export function summaryJson({ error, ...summary }: SessionSummary): object {
  return error === undefined ? summary : { ...summary, error: errorJson(error) }
}
