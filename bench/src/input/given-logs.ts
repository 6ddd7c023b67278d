/** Real logs: of a user's file, or of a directory of them, through the readers of other harnesses' formats. */
import fs from 'node:fs/promises'
import path from 'node:path'
import { readLogs, type Unpacker } from '@session-persistence/interchange'
import { type AnySessionEvent, isSessionError, type SessionHeader } from 'session-persistence'

export interface GivenLog {
  readonly header: SessionHeader
  readonly events: readonly AnySessionEvent[]
}

export interface GivenLogs {
  /** Base name of what was given; a path may say more than its owner wants in a report. */
  readonly name: string
  readonly logs: readonly GivenLog[]
  /** Files below a directory that are no log that can be read. */
  readonly skipped: number
}

export interface ReadGivenOptions {
  readonly signal?: AbortSignal
  readonly unpackers?: readonly Unpacker[]
}

/** A name for reports: what a terminal would act on is left out. */
function harmless(name: string): string {
  return name.replace(/[\p{C}\u2028\u2029]/gu, '?')
}

/**
 * The logs of a file, or of all readable files below a directory. Held in memory, because every backend gets exactly
 * the same. Errors as `readLogs` for a file; in a directory files that are no logs are counted and left out, and
 * NOT_FOUND says that there was none at all.
 */
export async function readGivenLogs(given: string, options: ReadGivenOptions = {}): Promise<GivenLogs> {
  const name = harmless(path.basename(path.resolve(given)))
  if (!(await isDirectory(given))) return { name, logs: await logsOf(given, options), skipped: 0 }
  const logs: GivenLog[] = []
  let skipped = 0
  for (const entry of await fs.readdir(given, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    try {
      logs.push(...(await logsOf(path.join(entry.parentPath, entry.name), options)))
    } catch (error) {
      if (!isSessionError(error)) throw error
      skipped++
    }
  }
  return { name, logs: unique(logs), skipped }
}

async function logsOf(file: string, options: ReadGivenOptions): Promise<GivenLog[]> {
  const logs: GivenLog[] = []
  for await (const { header, events } of readLogs(file, options)) {
    const all: AnySessionEvent[] = []
    for await (const page of events) all.push(...page)
    logs.push({ header, events: all })
  }
  return logs
}

/** Several fixtures may share one id; a store holds one of each. */
function unique(logs: readonly GivenLog[]): GivenLog[] {
  return [...new Map(logs.map((log) => [log.header.id, log])).values()]
}

async function isDirectory(given: string): Promise<boolean> {
  try {
    return (await fs.stat(given)).isDirectory()
  } catch {
    // What is wrong with it, the readers say better.
    return false
  }
}
