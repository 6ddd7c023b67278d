// Proves that a log which the `zstd` program compressed imports as the plain file does, and that damaged, cut and bloated
// ones are typed errors that store nothing.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digestLog, openPersistence } from 'session-persistence'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { filesOf } from './support/corpus-files.ts'
import { runCli } from './support/run-cli.ts'
import { contentOf, store, type TemporaryRoot, temporaryRoot, twoTurns } from './support/temporary-root.ts'

const corpus = fileURLToPath(new URL('../../../../shared/corpus/dsh', import.meta.url))
const zstdPresent = hasZstd()

function hasZstd(): boolean {
  try {
    execFileSync('zstd', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
})
afterEach(() => place[Symbol.asyncDispose]())

const file = (name: string): string => join(place.directory, name)

/** What `zstd` makes of `content`, with these arguments. */
const zstd = (content: Buffer, ...args: readonly string[]): Buffer =>
  execFileSync('zstd', ['-q', '-c', ...args], { input: content, maxBuffer: 2 ** 28 })

/** A frame of blocks that say `128 KiB of the letter a` in four bytes each. */
function bomb(blocks: number): Buffer {
  const size = 128 * 1024
  const parts = [Buffer.from('28b52ffd0058', 'hex')]
  for (let block = 1; block <= blocks; block++) {
    const bytes = Buffer.from('00000061', 'hex')
    bytes.writeUIntLE((size << 3) | (1 << 1) | (block === blocks ? 1 : 0), 0, 3)
    parts.push(bytes)
  }
  return Buffer.concat(parts)
}

async function refused(name: string, code: string): Promise<void> {
  const result = await runCli(['import', file(name), '--root', place.root])
  expect(result, name).toMatchObject({ code: 3, stdout: '' })
  expect(result.stderr).toMatch(new RegExp(`^session-persistence: ${code}: [^\n]*${name}[^\n]*\n$`))
}

if (!zstdPresent) it.skip('compressed logs are not looked at: the program zstd is absent', () => undefined)

describe.runIf(zstdPresent)('a compressed log', () => {
  if (!existsSync(corpus)) it.skip('of the corpus is not looked at: ../shared/corpus is absent', () => undefined)

  it.each(existsSync(corpus) ? filesOf(corpus, 3) : [])('%s', async (name) => {
    const plain = await readFile(join(corpus, name))
    const frames = [plain.subarray(0, plain.length / 2), plain.subarray(plain.length / 2)].map((half) => zstd(half))
    await writeFile(file('plain.jsonl'), plain)
    await writeFile(file('one.jsonl.zstd'), zstd(plain, '--check'))
    await writeFile(file('two.jsonl.zst'), Buffer.concat(frames))
    const reports = []
    for (const source of ['plain.jsonl', 'one.jsonl.zstd', 'two.jsonl.zst']) {
      const { stdout, ...rest } = await runCli(['import', file(source), '--root', file(`from-${source}`), '--json'])
      expect(rest).toEqual({ code: 0, stderr: '' })
      const sessions = stdout.split('\n').filter((line) => line !== '')
      const imported = sessions.map((line) => ({ ...JSON.parse(line), file: undefined }))
      await using persistence = await openPersistence(`jsonl:${file(`from-${source}`)}`)
      const digests = await Promise.all(imported.map(({ id }) => digestLog(persistence, id)))
      reports.push({ imported, digests })
    }
    expect(reports[0]?.digests.length).toBeGreaterThan(0)
    expect(reports[1]).toEqual(reports[0])
    expect(reports[2]).toEqual(reports[0])
  })

  it('that is cut, flipped, a bomb, or a stored session is refused', async () => {
    await store(file('source'), 'talk-one', (session) => twoTurns(session))
    const { stdout } = await runCli(['export', 'talk-one', '--root', file('source')])
    const good = zstd(Buffer.from(stdout), '--check')
    await writeFile(file('good.zst'), good)
    await writeFile(file('cut.zst'), good.subarray(0, -3))
    const flipped = Buffer.from(good)
    flipped[good.length >> 1] = (flipped[good.length >> 1] ?? 0) ^ 0x10
    await writeFile(file('flipped.zst'), flipped)
    await writeFile(file('tail.zst'), Buffer.concat([good, Buffer.from('and then some text')]))
    await writeFile(file('zeros.zst'), zstd(Buffer.alloc(100_000_000)))
    await writeFile(file('empty.zst'), zstd(Buffer.alloc(0)))
    await writeFile(file('bomb.zst'), bomb(2100))
    // One byte that says of itself that it is 2^40.
    await writeFile(file('declared.zst'), Buffer.from('28b52ffde0000000000001000009000061', 'hex'))
    const before = await contentOf(place.directory)
    await refused('cut.zst', 'CORRUPT')
    await refused('flipped.zst', 'CORRUPT')
    await refused('tail.zst', 'CORRUPT')
    await refused('zeros.zst', 'INVALID_ARGUMENT')
    await refused('empty.zst', 'INVALID_ARGUMENT')
    await refused('bomb.zst', 'TOO_LARGE')
    await refused('declared.zst', 'CORRUPT')
    expect(await contentOf(place.directory)).toEqual(before)
    expect(await runCli(['import', file('good.zst'), '--root', place.root])).toMatchObject({ code: 0, stderr: '' })
  })
})
