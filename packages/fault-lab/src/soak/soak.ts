/**
 * Two processes on one place, random operations and faults: one lives through it, the other is killed again and again.
 * In the end everything that was acknowledged and not deleted is there, and the one that lived holds no more than when
 * it began.
 */

import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Random } from '@session-persistence/conformance/crash-states'
import { isSessionError, type SessionStorage } from '@session-persistence/core'
import { openReal } from '../real/real-backend.ts'
import { readSession } from '../scenario/read-session.ts'
import { type Holding, LOOK_EVERY, SOAK_SESSIONS, type SoakLine, type SoakTask } from './soak-task.ts'
import { bornOf } from './soaker.ts'

export interface SoakReport {
  readonly operations: number
  readonly acknowledgements: number
  readonly kills: number
  readonly faults: number
  /** Of the process that lived: when it had warmed up, and in the end. */
  readonly early: Holding | undefined
  readonly late: Holding | undefined
  readonly violations: readonly string[]
}

const PROGRAM = fileURLToPath(new URL('../../dist/soak/soaker-main.js', import.meta.url))

/** What a process may hold more in the end: a connection and its log; a page of events. */
const HANDLES_MORE = 6
const HEAP_MORE = 16 * 1024 * 1024

/** Lines between two kills of the mortal process, about. */
const KILL_EVERY_LINES = 40

/** What was promised of each session. */
class Promises {
  readonly violations: string[] = []
  readonly #acknowledged = new Map<string, Map<string, number>>()
  readonly #deleted = new Set<string>()
  acknowledgements = 0

  hear(line: SoakLine): void {
    // The first few are enough to understand a fault.
    if (line.kind === 'violation' && this.violations.length < 10) this.violations.push(line.problem)
    if (line.kind === 'delete') this.#deleted.add(line.id)
    if (line.kind !== 'ack') return
    this.acknowledgements++
    const births = this.#acknowledged.get(line.id) ?? new Map<string, number>()
    births.set(line.born, Math.max(births.get(line.born) ?? 0, line.events))
    this.#acknowledged.set(line.id, births)
  }

  async check(storage: SessionStorage): Promise<void> {
    for (let index = 0; index < SOAK_SESSIONS; index++) {
      const id = `session-${index}`
      try {
        const events = await readSession(storage, id)
        const births = this.#acknowledged.get(id)
        const born = events?.[0] === undefined ? undefined : bornOf(events[0])
        const promised = born === undefined ? undefined : births?.get(born)
        if (promised !== undefined && (events?.length ?? 0) < promised) {
          this.violations.push(`${id}: ${promised} events were acknowledged, ${events?.length ?? 0} are there`)
        }
        if (events === undefined && births !== undefined && !this.#deleted.has(id)) {
          this.violations.push(`${id} is gone, and nobody deleted it`)
        }
        if (events === undefined) continue
        for (const { message } of (await storage.check(id)).problems) this.violations.push(`${id}: ${message}`)
      } catch (error) {
        this.violations.push(`${id}: ${isSessionError(error) ? error.code : 'untyped'}: ${String(error)}`)
      }
    }
  }
}

/** Runs until the process that lives has ended. */
export async function soak(task: SoakTask): Promise<SoakReport> {
  mkdirSync(task.directory, { recursive: true })
  const promises = new Promises()
  const holdings: Holding[] = []
  const random = new Random(task.seed)
  let operations = 0
  let faults = 0
  let kills = 0
  let isOver = false
  const hear = (line: SoakLine): void => {
    promises.hear(line)
    if (line.kind === 'end') operations += line.operations
    if (line.kind === 'end') faults += line.faults
  }
  const mortals = async (): Promise<void> => {
    for (let seed = task.seed + 1; !isOver; seed++) {
      let left = 1 + random.below(2 * KILL_EVERY_LINES)
      await run({ ...task, seed }, (line, kill) => {
        hear(line)
        if (line.kind === 'holding') operations += LOOK_EVERY
        if (--left > 0 && !isOver) return
        kill()
        if (left === 0) kills++
      })
    }
  }
  const mortal = mortals()
  await run(task, (line) => {
    hear(line)
    if (line.kind === 'holding') holdings.push(line)
  })
  isOver = true
  await mortal
  const storage = openReal(task.backend, task.directory)
  await promises.check(storage)
  await storage.close()
  const early = holdings[Math.floor(holdings.length / 4)]
  const late = holdings.at(-1)
  const violations = [...promises.violations, ...growth(early, late)]
  return { operations, acknowledgements: promises.acknowledgements, kills, faults, early, late, violations }
}

function growth(early: Holding | undefined, late: Holding | undefined): readonly string[] {
  if (early === undefined || late === undefined) return ['the process said nothing of what it holds']
  const found: string[] = []
  if (late.handles > early.handles + HANDLES_MORE) found.push(`handles grew from ${early.handles} to ${late.handles}`)
  if (late.heap > early.heap + HEAP_MORE) found.push(`memory grew from ${early.heap} to ${late.heap} bytes`)
  return found
}

/** Resolves when the process has ended, by itself or by a kill. An end that nobody wanted is said to be one. */
function run(task: SoakTask, onLine: (line: SoakLine, kill: () => void) => void): Promise<void> {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  const child = spawn(process.execPath, ['--expose-gc', PROGRAM, JSON.stringify(task)], { stdio })
  let isKilled = false
  const kill = (): void => {
    isKilled = true
    child.kill('SIGKILL')
  }
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece
    const lines = text.split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) onLine(JSON.parse(line) as SoakLine, kill)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0 && !isKilled) onLine({ kind: 'violation', problem: `a process ended with code ${code}` }, kill)
      resolve()
    })
  })
}
