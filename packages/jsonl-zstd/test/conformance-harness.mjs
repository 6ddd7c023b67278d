// What the conformance kit needs to know of this backend. Plain JavaScript, so that the kit's worker processes, which
// run built code, can import it too.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { defineHarness } from '@session-persistence/conformance'
import { openJsonlZstd } from '@session-persistence/jsonl-zstd'

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = defineHarness({
  name: 'jsonl-zstd',
  module: import.meta.url,
  async createMedium() {
    const place = await mkdtemp(join(tmpdir(), 'session-persistence-conformance-'))
    // Below, not at, the temporary directory, so that escapes from the root would still land in it.
    const root = join(place, 'root')
    return {
      location: root,
      open: (options) => openJsonlZstd({ ...options, root }),
      files: () => filesBelow(root),
      stampVersion: (id, version) => stampVersion(join(root, id, 'session.jsonl.zst'), version),
      destroy: () => rm(place, { recursive: true, force: true }),
    }
  },
  openAt: (root, options) => openJsonlZstd({ ...options, root }),
})

/** @param {string} root */
async function filesBelow(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

const COMMIT_BYTES = 44

/**
 * Another version in the header line. Its unit is a frame of one raw block, without a content checksum here, and a
 * commit record without a salt.
 *
 * @param {string} path
 * @param {number} version
 */
async function stampVersion(path, version) {
  const log = await readFile(path)
  const lineAt = log.indexOf('{"format"')
  const lineEnd = log.indexOf('\n') + 1
  const line = Buffer.from(log.toString('utf8', lineAt, lineEnd).replace(/"version":\d+/, `"version":${version}`))
  // Single segment, size in four bytes; then the only block, raw.
  const frame = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0, 0, 0, 0]), line])
  frame.writeUInt32LE(line.length, 5)
  frame.writeUIntLE((line.length << 3) | 1, 9, 3)
  const oldCommit = log.indexOf(Buffer.from([0x5d, 0x2a, 0x4d, 0x18]), lineEnd)
  const commit = Buffer.from(log.subarray(oldCommit, oldCommit + COMMIT_BYTES))
  commit.writeUInt32LE(frame.length, 24)
  commit.writeUInt32LE(line.length, 28)
  commit.writeUInt32LE(crc32(frame), 32)
  const offset = Buffer.alloc(8)
  offset.writeBigUInt64LE(BigInt(frame.length))
  commit.writeUInt32LE(crc32(Buffer.concat([commit.subarray(0, 39), commit.subarray(43), offset])), 39)
  await writeFile(path, Buffer.concat([frame, commit, log.subarray(oldCommit + COMMIT_BYTES)]))
}
