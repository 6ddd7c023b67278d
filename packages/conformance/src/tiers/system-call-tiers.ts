/** Tiers *io* and *power* for any backend whose harness lets other processes work on files: by system calls, with strace. */
import type { Harness } from '../harness.ts'
import type { TierExtension } from '../tier-extension.ts'
import { straceProblem } from '../trace/strace.ts'
import { IO_CASES } from './io-cases.ts'
import { POWER_CASES } from './power-cases.ts'

/**
 * Both tiers. They need strace (Linux), `module` and `openAt` of the harness, and of a medium `location`, an absolute
 * path, and `files`. Where one of these is missing they are not exercised, and never passed.
 */
export const systemCallTiers: readonly TierExtension[] = [
  { tier: 'io', cases: IO_CASES, unavailable },
  { tier: 'power', cases: POWER_CASES, unavailable },
]

function unavailable({ module, openAt }: Harness): string | undefined {
  if (module === undefined || openAt === undefined) return 'the harness has no `module` and `openAt`'
  return straceProblem()
}
