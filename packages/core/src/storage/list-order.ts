/** The order of a listing and its filters, the same on every backend (contract family LIST). */
import type { StorageListEntry, StorageListKey, StorageListQuery } from './session-storage.ts'

function compareIds(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Newest `updatedAt` first, equal times by id; entries without a time (damaged, newer) last, by id. */
export function compareListKeys(a: StorageListKeyLike, b: StorageListKeyLike): number {
  if (a.updatedAt !== b.updatedAt) {
    if (a.updatedAt === undefined) return 1
    if (b.updatedAt === undefined) return -1
    return b.updatedAt - a.updatedAt
  }
  return compareIds(a.id, b.id)
}

export interface StorageListKeyLike {
  readonly updatedAt?: number | undefined
  readonly id: string
}

export function isAfterListKey(entry: StorageListKeyLike, after: StorageListKey | undefined): boolean {
  return after === undefined || compareListKeys(entry, after) > 0
}

/** Whether the cheap filters of a query let an entry through. Damaged entries have no header and match none of its filters. */
export function matchesListQuery(entry: StorageListEntry, query: StorageListQuery): boolean {
  if (query.state !== undefined && entry.state !== query.state) return false
  if (query.cwd !== undefined && entry.header?.cwd !== query.cwd) return false
  if (query.parent !== undefined && entry.header?.parent !== query.parent) return false
  if (query.origin !== undefined && entry.header?.origin !== query.origin) return false
  if (query.updatedAfter !== undefined && !(entry.updatedAt !== undefined && entry.updatedAt > query.updatedAfter)) {
    return false
  }
  return true
}
