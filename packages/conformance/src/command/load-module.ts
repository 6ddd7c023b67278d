import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { withDeadline } from '../deadline.ts'
import { HARNESS_DEADLINE_MS } from '../medium-source.ts'
import { sentenceOf } from '../short-value.ts'
import type { TierExtension, TierExtensionModule } from '../tier-extension.ts'
import { systemCallTiers } from '../tiers/system-call-tiers.ts'

/**
 * What a module exports: a path from where the command runs, or the name of a package that is installed there. Rejects
 * with a sentence that says why there is none.
 */
export async function loadModule(name: string, what: string): Promise<Readonly<Record<string, unknown>>> {
  const file = fileOf(name)
  if (file === undefined) throw new Error(`There is no file ${name}: give the path of the module that exports ${what}.`)
  const late = (): Error => new Error(`${name} was not loaded within ${HARNESS_DEADLINE_MS / 1000} s: it hangs.`)
  try {
    return await withDeadline(import(pathToFileURL(file).href) as Promise<object>, HARNESS_DEADLINE_MS, late).then(
      (module) => ({ ...module }),
    )
  } catch (error) {
    throw new Error(`${name} could not be loaded: ${sentenceOf(error)}`)
  }
}

/** The tiers that were given with `--with`: this kit's own by their names, others by the modules that bring them. */
export async function loadExtensions(names: readonly string[]): Promise<readonly TierExtension[]> {
  const unknown = unknownExtension(names)
  if (unknown !== undefined) throw new Error(unknown)
  const extensions: TierExtension[] = []
  for (const name of names) {
    const own = ownTiers(name)
    if (own !== undefined) {
      extensions.push(...own)
      continue
    }
    const { conformanceTiers } = (await loadModule(name, '`conformanceTiers`')) as Partial<TierExtensionModule>
    if (!Array.isArray(conformanceTiers)) throw new Error(`${name} exports no list \`conformanceTiers\`.`)
    extensions.push(...(conformanceTiers as readonly TierExtension[]))
  }
  return extensions
}

/** A sentence about the first name given with `--with` that stands for nothing. Loads none of them. */
export function unknownExtension(names: readonly string[]): string | undefined {
  const unknown = names.find((name) => ownTiers(name) === undefined && fileOf(name) === undefined)
  if (unknown === undefined) return undefined
  const tiers = systemCallTiers.map(({ tier }) => tier).join(',')
  return `--with takes ${tiers}, the path of a module, or the name of an installed package; ${unknown} is none of these.`
}

/** `io`, `power` or `io,power`; undefined for anything else. */
function ownTiers(name: string): readonly TierExtension[] | undefined {
  const found = name.split(',').map((tier) => systemCallTiers.find((extension) => extension.tier === tier))
  return found.every((extension) => extension !== undefined) ? found : undefined
}

function fileOf(name: string): string | undefined {
  const file = resolve(name)
  if (existsSync(file)) return file
  if (/^(?:\.|\/|[a-z]+:)/i.test(name)) return undefined
  try {
    return createRequire(join(process.cwd(), 'package.json')).resolve(name)
  } catch {
    return undefined
  }
}
