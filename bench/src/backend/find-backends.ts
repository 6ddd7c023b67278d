import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { SessionError } from 'session-persistence'
import type { BenchBackend, BenchMedium } from './bench-backend.ts'
import { BUILT_IN_BACKENDS } from './built-in-backends.ts'

export interface FoundBackends {
  readonly backends: readonly BenchBackend[]
  /** Built-in ones that this machine lacks. */
  readonly unavailable: readonly { readonly name: string; readonly reason: string }[]
}

/**
 * The backends with these names; a name with a slash or a module's extension is the path of a module that exports a
 * `harness`, as for conformance. All built-in ones that this machine has when none is named. INVALID_ARGUMENT for what
 * is neither, NOT_SUPPORTED for a named one that this machine lacks.
 */
export async function findBackends(names: readonly string[] = []): Promise<FoundBackends> {
  const asked = names.length === 0 ? BUILT_IN_BACKENDS : await Promise.all(names.map(findBackend))
  const backends: BenchBackend[] = []
  const unavailable: { readonly name: string; readonly reason: string }[] = []
  for (const backend of asked) {
    const reason = await backend.unavailable?.()
    if (reason === undefined) backends.push(backend)
    else if (names.length === 0) unavailable.push({ name: backend.name, reason })
    else throw new SessionError('NOT_SUPPORTED', `the ${backend.name} backend cannot be measured here: ${reason}`)
  }
  return { backends, unavailable }
}

async function findBackend(name: string): Promise<BenchBackend> {
  const builtIn = BUILT_IN_BACKENDS.find((backend) => backend.name === name)
  if (builtIn !== undefined) return builtIn
  if (!/[/\\]|\.[cm]?js$/.test(name)) {
    const known = BUILT_IN_BACKENDS.map((backend) => backend.name).join(', ')
    throw new SessionError(
      'INVALID_ARGUMENT',
      `no backend is named ${JSON.stringify(name)}; known: ${known}, or the path of a harness module`,
    )
  }
  const url = pathToFileURL(path.resolve(name)).href
  const found: unknown = await import(url).catch((cause: unknown) => {
    throw new SessionError('INVALID_ARGUMENT', `the harness module ${name} cannot be imported`, { cause, path: name })
  })
  if (!isHarnessModule(found)) {
    throw new SessionError('INVALID_ARGUMENT', `${name} exports no \`harness\` with a name and createMedium`, {
      path: name,
    })
  }
  const { harness } = found
  return {
    ...harness,
    createMedium: () => mediumOf(harness),
    // A child process imports the module by the address that worked here.
    ...(harness.module === undefined ? {} : { module: url }),
  }
}

async function mediumOf(harness: BenchBackend): Promise<BenchMedium> {
  const medium: unknown = await harness.createMedium()
  if (isMedium(medium)) return medium
  throw new SessionError('INVALID_ARGUMENT', `createMedium of ${harness.name} gave no medium with an \`open\``)
}

function isMedium(value: unknown): value is BenchMedium {
  return typeof value === 'object' && value !== null && 'open' in value && typeof value.open === 'function'
}

function isHarnessModule(found: unknown): found is { readonly harness: BenchBackend } {
  if (typeof found !== 'object' || found === null || !('harness' in found)) return false
  const { harness } = found
  return (
    typeof harness === 'object' &&
    harness !== null &&
    'name' in harness &&
    typeof harness.name === 'string' &&
    'createMedium' in harness &&
    typeof harness.createMedium === 'function'
  )
}
