/** The tour, step by step: each step does its work, then says what came of it. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { isSessionError, openPersistence, SessionError } from 'session-persistence'
import { readLogFile } from '../read-log-file.ts'
import type { Runtime } from '../runtime.ts'
import { systemError } from '../system-error.ts'
import { Progress } from '../terminal/progress.ts'
import {
  type Branches,
  branchOff,
  type Continuation,
  carryOn,
  type Findings,
  inspectRemains,
  tourAgent,
} from './continued-session.ts'
import { type InterruptedAgent, interruptAgent } from './interrupted-agent.ts'
import { type BackendResult, measureBackends, type SampleLog } from './measure-backend.ts'
import * as print from './print-tour.ts'
import { sampleOf } from './sample-log.ts'

export interface TourOptions {
  /** A real log to store in every backend; without it, the session that the tour has made. */
  readonly file?: string
  /** Where to leave everything; without it, a temporary directory that is removed. */
  readonly keep?: string
  readonly json: boolean
}

/** The one document of `tour --json`. */
export interface TourDocument {
  readonly interrupted: InterruptedAgent & { readonly refusal: string }
  readonly found: Findings
  readonly continued: Continuation
  readonly branches: Branches
  readonly log: {
    readonly source: string
    readonly events: number
    readonly jsonBytes: number
    readonly whole: boolean
  }
  readonly backends: readonly BackendResult[]
}

interface Places {
  /** Of the jsonl store that process A and B share. */
  readonly root: string
  readonly location: string
  readonly reports: string
  readonly base: string
}

/** True when everything that was to be proven holds. */
export async function runTour(
  runtime: Runtime,
  options: TourOptions,
): Promise<{ readonly document: TourDocument; readonly proven: boolean }> {
  // A bad FILE is refused before any work is done.
  const given = options.file === undefined ? undefined : await readGiven(runtime, options.file)
  await using places = await makePlaces(options.keep)
  const say = async (lines: readonly string[]): Promise<void> => {
    if (!options.json) await runtime.out.lines(lines)
  }
  const { style } = runtime.out
  await say(print.introduction(style, places.base))

  const { agent: interrupted, refusal } = await interruptA(runtime, places)
  await say(print.heading(style, 1, 'Process A is killed in mid-turn', `pid ${interrupted.pid}`))
  await say(print.interruptedLines(style, interrupted, refusal))

  await using persistence = await openPersistence(places.location)
  const found = await inspectRemains(persistence, interrupted)
  await say(print.heading(style, 2, 'Process B looks at what is left', `pid ${process.pid}, read-only`))
  await say(print.findingsLines(style, found))

  await using session = await persistence.resume(interrupted.id, { signal: runtime.signal, writer: 'tour' })
  const agent = tourAgent(session, places.reports)
  const continued = await carryOn(session, agent)
  await say(print.heading(style, 3, 'It takes the lock, recovers, and carries on', `seq ${session.nextSeq - 1}`))
  await say(print.continuationLines(style, continued))

  const branches = await branchOff(persistence, session, agent, places)
  await session.close()
  await say(print.heading(style, 4, 'Two histories from one', `fork at seq ${branches.at}`))
  await say(print.branchLines(style, branches))

  const log = given ?? { ...(await sampleOf(await persistence.exportLog(session.id))), source: 'the session just made' }
  await say(print.heading(style, 5, 'A log in every backend', 'one run on this machine'))
  await say(print.sampleLines(style, log, log.source))
  const backends = await measure(runtime, log, places)
  await say(['', ...print.backendLines(style, backends, log.jsonBytes), ''])

  const { source, events, jsonBytes, whole } = log
  const document: TourDocument = {
    interrupted: { ...interrupted, refusal },
    found,
    continued,
    branches,
    log: { source, events: events.length, jsonBytes, whole },
    backends,
  }
  return { document, proven: found.check.ok && Object.values(branches.proofs).every(Boolean) }
}

type GivenLog = SampleLog & { readonly whole: boolean; readonly source: string }

/** The longest log of the file, to be measured; a file may hold several, such as those of sub-agents. */
async function readGiven({ err, signal }: Runtime, file: string): Promise<GivenLog> {
  using progress = new Progress(err)
  let longest: GivenLog | undefined
  let logs = 0
  let format = ''
  for await (const log of readLogFile(file, progress, signal)) {
    logs += 1
    format = log.report.format
    if (longest !== undefined && log.report.events <= longest.events.length) continue
    longest = { ...(await sampleOf(log)), source: '' }
  }
  if (longest === undefined) throw new SessionError('INVALID_ARGUMENT', `there is no session in ${resolve(file)}`)
  const source = `${format}${logs === 1 ? '' : `, the longest of ${logs} sessions`}${longest.whole ? '' : ', its beginning'}`
  return { ...longest, source }
}

async function makePlaces(keep: string | undefined): Promise<Places & AsyncDisposable> {
  const base = keep === undefined ? await mkdtemp(join(tmpdir(), 'session-persistence-tour-')) : resolve(keep)
  const root = join(base, 'sessions')
  const reports = join(base, 'reports')
  try {
    await mkdir(base, { recursive: true, mode: 0o700 })
    // Not recursive: a second tour in the same place would mix two stories.
    await mkdir(reports, { mode: 0o700 })
  } catch (error) {
    throw systemError(error, 'the tour could not make its directory', reports)
  }
  return {
    base,
    root,
    reports,
    location: `jsonl:${root}`,
    async [Symbol.asyncDispose]() {
      if (keep === undefined) await rm(base, { recursive: true, force: true })
    },
  }
}

/** Starts A, is refused while A runs, and kills it. */
async function interruptA(
  { signal, err }: Runtime,
  { location, reports }: Places,
): Promise<{ readonly agent: InterruptedAgent; readonly refusal: string }> {
  using progress = new Progress(err)
  progress.show(() => 'process A is working …')
  let refusal = ''
  const options = { location, reports, hold: ['read_file', 'write_report'], results: 3, signal }
  const agent = await interruptAgent(options, async (id) => {
    await using second = await openPersistence(location)
    refusal = await second.resume(id).then(
      () => {
        throw new SessionError('INVARIANT', 'two writers held one session')
      },
      (error: unknown) => {
        if (isSessionError(error, 'LOCKED')) return `${error.code}: ${error.message}`
        throw error
      },
    )
  })
  return { agent, refusal }
}

async function measure({ err, signal }: Runtime, log: SampleLog, { base }: Places): Promise<BackendResult[]> {
  using progress = new Progress(err)
  progress.show(() => 'measuring …')
  const results: BackendResult[] = []
  for await (const result of measureBackends(log, (scheme) => join(base, `measured-${scheme}`), signal))
    results.push(result)
  return results
}
