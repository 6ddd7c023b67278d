/** Both tiers for one backend; for one that takes no file system they say that they were not exercised. */
import type { TierExtension } from '@session-persistence/conformance'
import { ioCases } from './io-tier.ts'
import type { OpenOnPort } from './port-harness.ts'
import { powerCases } from './power-tier.ts'

/** Undefined: the backend cannot be opened on a file-system port. */
export function fileSystemTiers(openOnPort: OpenOnPort | undefined): readonly TierExtension[] {
  const unavailable = (): string | undefined =>
    openOnPort === undefined
      ? 'the backend takes no file-system port, so nothing can be taken from under it'
      : undefined
  const open: OpenOnPort = openOnPort ?? (() => Promise.reject(new Error('not exercised')))
  return [
    { tier: 'io', cases: ioCases(open), unavailable },
    { tier: 'power', cases: powerCases(open), unavailable },
  ]
}
