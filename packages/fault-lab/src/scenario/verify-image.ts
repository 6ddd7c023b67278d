/**
 * Starts a machine on a crash image and reads the session. Thoroughly: also resumes it as a harness would, continues,
 * and cuts the power once more. Everything acknowledged before either cut must be there.
 */
import { type Disk, type DiskImage, durableImage, visibleImage } from '@session-persistence/conformance/crash-states'
import { isSessionError, type SessionStorage } from '@session-persistence/core'
import { ModelFileSystem } from '../model/model-file-system.ts'
import { type Expectation, violation } from './expectation.ts'
import type { FileBackend } from './file-backend.ts'
import { readSession } from './read-session.ts'
import { recoverAndContinue } from './recover-and-continue.ts'
import { sessionsIn } from './sessions-directory.ts'

let mounts = 0

/** A path that no other simulated process has: a process remembers the locks that it holds by path. */
export function newMount(): string {
  return `/model-${++mounts}`
}

function openOn(backend: FileBackend, disk: Disk): SessionStorage {
  const mount = newMount()
  return backend.open(new ModelFileSystem({ mount, disk }), sessionsIn(mount))
}

/** Undefined when all is well, else what is wrong. */
export async function verifyImage(
  backend: FileBackend,
  image: DiskImage,
  expected: Expectation,
  { thorough }: { readonly thorough: boolean },
): Promise<string | undefined> {
  try {
    const disk = image.toDisk()
    if (!thorough || expected.damaged === true)
      return violation(expected, await readSession(openOn(backend, disk), expected.id))
    let promised = expected
    const problem = await recoverAndContinue(openOn(backend, disk), expected, (next) => {
      promised = next
    })
    if (problem !== undefined) return problem
    const cut = durableImage(disk)
    const wrong = violation(promised, await readSession(openOn(backend, cut.toDisk()), expected.id))
    if (wrong !== undefined) return `resumed, continued, and after a second power cut: ${wrong}`
    return leftOver(visibleImage(disk))
  } catch (error) {
    if (!isSessionError(error)) return `an error without a type: ${String(error)}`
    return expected.damaged === true && error.code === 'CORRUPT' ? undefined : `${error.code}: ${error.message}`
  }
}

function leftOver(image: DiskImage): string | undefined {
  for (const path of image.nodes.keys()) if (path.includes('/.tmp-')) return `left over after a resume: ${path}`
  return undefined
}
