/**
 * A session's stored records, for a medium in which a session is not a file of its own: rows of a database, keys of a
 * remote store, members of an array. The kit damages them as it damages a file, and nothing is checked on the way.
 */
export interface StoredRecords {
  /**
   * The records of a stored session in their order, those that hold its header first, one event or batch of events in
   * each of the others. Each as bytes of any form, so that a changed bit of them is a changed bit of something stored:
   * checksums and counts belong to it; the place does not (the id of the session, the key of the record).
   */
  readonly read: (id: string) => Promise<readonly Uint8Array[]>
  /**
   * Puts exactly these in place of the session's records, past every lock and check of the backend, also while a writer
   * is open. They may be damaged, of another session, missing, repeated, or empty: whatever they say is stored as
   * nearly as the medium can.
   */
  readonly write: (id: string, records: readonly Uint8Array[]) => Promise<void>
}
