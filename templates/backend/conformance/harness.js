import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { defineHarness } from '@session-persistence/conformance'
import { fileNameOf } from '../src/files.js'
import { openAcme } from '../src/open-acme.js'

export const harness = defineHarness({
  name: 'acme',
  async createMedium() {
    const place = await mkdtemp(join(tmpdir(), 'acme-'))
    const root = join(place, 'sessions')
    return {
      open: (options) => openAcme({ ...options, root }),
      location: root,
      files: () => filesIn(root),
      stampVersion: (id, version) => stampVersion(join(root, fileNameOf(id)), version),
      destroy: () => rm(place, { recursive: true, force: true }),
    }
  },
  module: import.meta.url,
  openAt: (root, options) => openAcme({ ...options, root }),
})

/** @param {string} root */
async function filesIn(root) {
  const names = await readdir(root).catch(() => [])
  return names.map((name) => join(root, name))
}

/**
 * Another version in the header of a stored session, its checksum included.
 *
 * @param {string} path
 * @param {number} version
 */
async function stampVersion(path, version) {
  const [first = '', ...lines] = (await readFile(path, 'utf8')).split('\n')
  const json = first.slice(9).replace(/"version":\d+/, `"version":${version}`)
  await writeFile(path, [`${crc32(json).toString(16).padStart(8, '0')} ${json}`, ...lines].join('\n'))
}
