/** Where the parts of a stored log of frames are, and units made by hand. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeSessionName } from '@session-persistence/file-log'
import { COMMIT_BYTES, type Commit, writeCommit } from '../../src/commit-record.ts'
import { walkFrame } from '../../src/frame-walk.ts'

export function logPath(root: string, id: string): string {
  return join(root, encodeSessionName(id), 'session.jsonl.zst')
}

export function readLog(root: string, id: string): Promise<Buffer> {
  return readFile(logPath(root, id))
}

export function writeLog(root: string, id: string, bytes: Uint8Array): Promise<void> {
  return writeFile(logPath(root, id), bytes)
}

export interface UnitPlace {
  readonly start: number
  readonly commit: number
  readonly end: number
}

/** Every unit of a sound log; the first is the header. */
export function unitsOf(log: Buffer): readonly UnitPlace[] {
  const units: UnitPlace[] = []
  for (let start = 0; start < log.length; ) {
    const walk = walkFrame(log, start)
    if (walk.kind !== 'frame') throw new Error(`no frame at ${start}`)
    const end = walk.end + COMMIT_BYTES
    units.push({ start, commit: walk.end, end })
    start = end
  }
  return units
}

/** A frame and a record for it, as they would stand at `offset`. */
export function unit(
  frame: Buffer,
  commit: Omit<Commit, 'frameBytes' | 'frameCrc'>,
  salt: number,
  offset: number,
  crc: (bytes: Buffer) => number,
): Buffer {
  const bytes = Buffer.alloc(frame.length + COMMIT_BYTES)
  frame.copy(bytes)
  const record = { ...commit, frameBytes: frame.length, frameCrc: crc(frame) }
  writeCommit(bytes, frame.length, record, salt, offset + frame.length)
  return bytes
}
