import type { BackendCapabilities } from '@session-persistence/core'
import type { Tier } from '../conformance-case.ts'
import type { Mutant } from './mutant.ts'

/** A sound backend that says something else of itself. */
function declares(capabilities: Partial<BackendCapabilities>): Pick<Mutant, 'persistence'> {
  return {
    persistence: (inner) => ({
      get description() {
        const { description } = inner
        return Object.freeze({
          ...description,
          capabilities: Object.freeze({ ...description.capabilities, ...capabilities }),
        })
      },
    }),
  }
}

/** Wrong in what they declare, too much or too little. */
export const DECLARATION_MUTANTS: readonly (readonly [Tier, Mutant])[] = [
  [
    'logic',
    {
      name: 'salvage-is-only-declared',
      wrong: 'Declares repair `salvage` and refuses to repair.',
      aimedAt: 'CAP-2',
      ...declares({ repair: 'salvage' }),
    },
  ],
  [
    'process',
    {
      name: 'durability-understated',
      wrong: 'Declares durability `memory`, and what a killed process wrote is there.',
      aimedAt: 'CAP-7',
      ...declares({ durability: 'memory' }),
    },
  ],
  [
    'process',
    {
      name: 'exclusion-understated',
      wrong: 'Declares exclusion `medium`, and refuses a writer beside that of another process.',
      aimedAt: 'CAP-8',
      ...declares({ exclusion: 'medium' }),
    },
  ],
  [
    'process',
    {
      name: 'follow-understated',
      wrong: 'Declares follow `medium`, and is woken by another process.',
      aimedAt: 'CAP-9',
      ...declares({ follow: 'medium' }),
    },
  ],
  [
    'medium',
    {
      name: 'integrity-understated',
      wrong: 'Declares integrity `none`, and notices a changed letter.',
      aimedAt: 'CAP-10',
      ...declares({ integrity: 'none' }),
    },
  ],
]
