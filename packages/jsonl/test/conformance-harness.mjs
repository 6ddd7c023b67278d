// What the conformance kit needs to know of this backend. Plain JavaScript, so that the kit's worker processes, which
// run built code, can import it too.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { defineHarness } from '@session-persistence/conformance'
import { openJsonl } from '@session-persistence/jsonl'

/** @type {import('@session-persistence/conformance').Harness} */
export const harness = defineHarness({
  name: 'jsonl',
  module: import.meta.url,
  async createMedium() {
    const place = await mkdtemp(join(tmpdir(), 'session-persistence-conformance-'))
    // Below, not at, the temporary directory, so that escapes from the root would still land in it.
    const root = join(place, 'root')
    return {
      location: root,
      open: (options) => openJsonl({ ...options, root }),
      files: () => filesBelow(root),
      stampVersion: (id, version) => stampVersion(join(root, id, 'session.jsonl'), version),
      destroy: () => rm(place, { recursive: true, force: true }),
    }
  },
  openAt: (root, options) => openJsonl({ ...options, root }),
})

/** @param {string} root */
async function filesBelow(root) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
}

/**
 * Another version in the header line, whose last field is the CRC-32 of everything before it.
 *
 * @param {string} path
 * @param {number} version
 */
async function stampVersion(path, version) {
  const [header = '', ...lines] = (await readFile(path, 'utf8')).split('\n')
  const body = header.replace(/"version":\d+/, `"version":${version}`).replace(/,"crc":"[0-9a-f]{8}"\}$/, '')
  const crc = crc32(Buffer.from(body)).toString(16).padStart(8, '0')
  await writeFile(path, [`${body},"crc":"${crc}"}`, ...lines].join('\n'))
}
