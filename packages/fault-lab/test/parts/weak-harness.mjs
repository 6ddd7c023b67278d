// Plain JSONL over a file system that leaves out one step, chosen by the query of this module's address:
// `?weakness=drop the sync of an append`. For processes that the tiers io and power start.

import { OTHER_WEAKNESSES, WEAKNESSES } from '@session-persistence/fault-lab'
import { nodeFileSystem } from '@session-persistence/file-log'
import { openJsonl } from '@session-persistence/jsonl'
import { harness as sound } from '../../../jsonl/test/conformance-harness.mjs'

const name = new URL(import.meta.url).searchParams.get('weakness') ?? ''
const weaken = WEAKNESSES[name] ?? OTHER_WEAKNESSES[name]
const fileSystem = weaken?.(nodeFileSystem) ?? nodeFileSystem

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = { ...sound, openAt: (root, options) => openJsonl({ ...options, root, fileSystem }) }
