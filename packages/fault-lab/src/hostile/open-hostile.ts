/** Reads and lists what was planted, and measures what that cost. */
import { readFileSync, writeFileSync } from 'node:fs'
import { isSessionError } from '@session-persistence/core'
import { openReal, type RealBackend } from '../real/real-backend.ts'
import { taskBatches } from '../real/writer-task.ts'
import { firstForeign } from '../scenario/expectation.ts'
import { readSession } from '../scenario/read-session.ts'
import { HOSTILE_TASK } from './hostile-file.ts'

export interface Opening {
  /** `stored`: what was stored before, or its front; a code; or what must never be seen. */
  readonly outcome: 'stored' | { readonly code: string } | { readonly problem: string }
  /** Milliseconds of work of this process. */
  readonly workMs: number
  /** Bytes by which its memory grew at most; undefined where the system does not tell. */
  readonly grownBytes: number | undefined
}

/** `read`: stands for a careless reader in controls. */
export async function openHostile(
  backend: RealBackend,
  directory: string,
  read: (directory: string) => Promise<Opening['outcome']> = (from) => readAndList(backend, from),
): Promise<Opening> {
  const before = peakMemory()
  const started = process.cpuUsage()
  const outcome = await read(directory)
  const { user, system } = process.cpuUsage(started)
  const after = readPeak()
  const grownBytes = before === undefined || after === undefined ? undefined : after - before
  return { outcome, workMs: (user + system) / 1000, grownBytes }
}

async function readAndList(backend: RealBackend, directory: string): Promise<Opening['outcome']> {
  const storage = openReal(backend, directory)
  try {
    await storage.list({ limit: 10 }).catch((error: unknown) => {
      if (!isSessionError(error)) throw error
    })
    const found = (await readSession(storage, HOSTILE_TASK.id)) ?? []
    const foreign = firstForeign(found, taskBatches(HOSTILE_TASK).flat())
    return foreign < 0 ? 'stored' : { problem: `event ${foreign} is not the one that was stored` }
  } catch (error) {
    return isSessionError(error) ? { code: error.code } : { problem: `an error without a type: ${String(error)}` }
  } finally {
    await storage.close()
  }
}

/** Starts the measurement of the peak anew, and returns what it starts from. */
function peakMemory(): number | undefined {
  try {
    writeFileSync('/proc/self/clear_refs', '5')
  } catch {
    return undefined
  }
  return readPeak()
}

function readPeak(): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
