import type { BackendCapabilities } from '@session-persistence/core'

/** The levels that each capability has, the weakest first. */
export const CAPABILITY_LEVELS: { readonly [K in keyof BackendCapabilities]: readonly BackendCapabilities[K][] } = {
  durability: ['memory', 'process', 'power'],
  exclusion: ['medium', 'host'],
  integrity: ['none', 'checksum'],
  follow: ['medium', 'host'],
  repair: ['none', 'salvage'],
}

/** What is wrong with declared capabilities, one sentence; undefined when each has one of its levels. */
export function wrongCapability(capabilities: Readonly<Record<string, unknown>>): string | undefined {
  for (const [name, levels] of Object.entries(CAPABILITY_LEVELS)) {
    const level = capabilities[name]
    if ((levels as readonly unknown[]).includes(level)) continue
    const choice = levels.map((one) => `'${one}'`).join(' or ')
    return `The backend declares capability \`${name}\` as ${level === undefined ? 'nothing' : `'${String(level)}'`}: it must be ${choice}.`
  }
  const unknown = Object.keys(capabilities).find((name) => !Object.hasOwn(CAPABILITY_LEVELS, name))
  return unknown === undefined ? undefined : `The backend declares a capability \`${unknown}\`, which does not exist.`
}
