// Proves that no id, link, special file or permission leads outside the root, hangs, or opens what is no plain file.
import { execFileSync } from 'node:child_process'
import { chmod, link, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { encodeSessionName } from '@session-persistence/file-log'
import { describe, expect, it } from 'vitest'
import { jsonlStorage } from '../src/index.ts'
import { logPath, readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const IDS = [
  ...[
    '..',
    '.',
    '../../x',
    '/etc/passwd',
    'a/b',
    'a\\b',
    'a\0b',
    '\n',
    ' ',
    'a.',
    'a ',
    'CON',
    'nul.txt',
    '.locks',
    '.tmp-x',
  ],
  ...[
    'x'.repeat(300),
    '漢'.repeat(100),
    'Abc',
    'abc',
    '\u00e9',
    'e\u0301',
    '~',
    '%2e%2e',
    '__proto__',
    'session.jsonl',
  ],
]

async function tree(root: string): Promise<string[]> {
  return (await readdir(root, { recursive: true })).sort()
}

it('every id is stored below the root, apart from every other, and can be deleted without a trace', async () => {
  const outer = await temporaryDirectory()
  const root = join(outer, 'root')
  const storage = jsonlStorage({ root, durability: 'process' })
  for (const id of IDS) await store(storage, id, SAMPLE_BATCHES)
  expect(await readdir(outer)).toEqual(['root'])
  expect((await readdir(root)).length).toBe(IDS.length + 1)
  const listed = await storage.list({ limit: 1000 })
  expect(listed.map(({ id }) => id).sort()).toEqual([...IDS].sort())
  for (const id of IDS) {
    expect(await readAll(storage, id)).toEqual(SAMPLE_EVENTS)
    const writer = await storage.openWriter(id, { kind: 'resume' })
    expect(writer.header).toEqual(sampleHeader(id))
    await writer.close()
    expect(await storage.delete(id)).toBe(true)
    expect(await storage.delete(id)).toBe(false)
    await expect(storage.openReader(id)).rejects.toMatchObject({ code: 'NOT_FOUND', sessionId: id })
    await expect(storage.openWriter(id, { kind: 'resume' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  }
  expect(await tree(root)).toEqual(['.locks'])
})

it.each(['', '\ud800', 'x'.repeat(1025)])('refuses what is no id', async (id) => {
  const storage = jsonlStorage({ root: await temporaryDirectory() })
  await expect(storage.openReader(id)).rejects.toMatchObject({ code: 'INVALID_ID' })
  await expect(storage.delete(id)).rejects.toMatchObject({ code: 'INVALID_ID' })
})

it('a header that names another session is damage of this one', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 'a', SAMPLE_BATCHES)
  await rename(join(root, 'a'), join(root, 'b'))
  await expect(storage.openReader('b')).rejects.toMatchObject({ code: 'CORRUPT', sessionId: 'b' })
  await expect(storage.openReader('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await storage.list({ limit: 10 })).toMatchObject([{ id: 'b', state: 'damaged', error: { code: 'CORRUPT' } }])
})

it('a damaged session with a long id is listed by its id', async () => {
  const root = await temporaryDirectory()
  const id = '漢'.repeat(200)
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, id, SAMPLE_BATCHES)
  await writeFile(logPath(root, id), 'nothing of ours\n')
  expect(await storage.list({ limit: 10 })).toMatchObject([{ id, state: 'damaged' }])
  expect(await storage.delete(id)).toBe(true)
})

describe('a symbolic link', () => {
  it('in the place of a session directory or a log is refused', async () => {
    const root = await temporaryDirectory()
    const elsewhere = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    await store(storage, 'a', SAMPLE_BATCHES)
    await store(jsonlStorage({ root: elsewhere, durability: 'process' }), 'b', SAMPLE_BATCHES)
    await symlink(join(elsewhere, 'b'), join(root, 'b'))
    await mkdir(join(root, 'c'))
    await symlink(join(root, 'a', 'session.jsonl'), join(root, 'c', 'session.jsonl'))
    for (const id of ['b', 'c']) {
      await expect(storage.openReader(id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
      await expect(storage.openWriter(id, { kind: 'resume' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
      await expect(storage.check(id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    }
    await expect(storage.delete('b')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    const states = (await storage.list({ limit: 10 })).map(({ id, state }) => [id, state])
    expect(states).toEqual([
      ['a', 'ready'],
      ['b', 'damaged'],
      ['c', 'damaged'],
    ])
    expect(await tree(elsewhere)).toEqual(['.locks', 'b', 'b/session.jsonl'])
  })

  it('above the root is followed, once', async () => {
    const real = await temporaryDirectory()
    const outer = await temporaryDirectory()
    await mkdir(join(real, 'sessions'))
    await symlink(real, join(outer, 'link'))
    const storage = jsonlStorage({ root: join(outer, 'link', 'sessions'), durability: 'process' })
    await store(storage, 'a', SAMPLE_BATCHES)
    // Turned elsewhere behind our back, the link no longer matters.
    await rm(join(outer, 'link'))
    await symlink('/nowhere', join(outer, 'link'))
    expect(await readAll(storage, 'a')).toEqual(SAMPLE_EVENTS)
    expect(await readdir(join(real, 'sessions'))).toContain('a')
  })

  it('in the place of a lock or of the lock directory is refused', async () => {
    const root = await temporaryDirectory()
    const target = join(await temporaryDirectory(), 'precious')
    await writeFile(target, 'precious')
    await mkdir(join(root, '.locks'))
    await symlink(target, join(root, '.locks', 'a'))
    const storage = jsonlStorage({ root, durability: 'process' })
    const create = { kind: 'create', header: sampleHeader('a') } as const
    await expect(storage.openWriter('a', create)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    await rm(join(root, '.locks'), { recursive: true })
    await symlink(await temporaryDirectory(), join(root, '.locks'))
    const again = jsonlStorage({ root, durability: 'process' })
    await expect(again.openWriter('a', create)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(await readFile(target, 'utf8')).toBe('precious')
  })
})

describe.each(['fifo', 'directory'] as const)('a %s in the place of a log', (kind) => {
  it('is refused at once', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root, durability: 'process' })
    await mkdir(join(root, 'a'))
    if (kind === 'fifo') execFileSync('mkfifo', [logPath(root, 'a')])
    else await mkdir(logPath(root, 'a'))
    await expect(storage.openReader('a')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    await expect(storage.openWriter('a', { kind: 'resume' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    await expect(storage.check('a')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    expect(await storage.list({ limit: 10 })).toMatchObject([
      { id: 'a', state: 'damaged', error: { code: 'PERMISSION_DENIED' } },
    ])
  })
})

it('a file in the place of a session directory or of the root is refused', async () => {
  const root = await temporaryDirectory()
  await writeFile(join(root, 'a'), 'x')
  const storage = jsonlStorage({ root, durability: 'process' })
  await expect(storage.openReader('a')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  const create = { kind: 'create', header: sampleHeader('a') } as const
  await expect(storage.openWriter('a', create)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  expect(await storage.list({ limit: 10 })).toEqual([])
  const onFile = jsonlStorage({ root: join(root, 'a') })
  await expect(onFile.list({ limit: 10 })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  expect(() => jsonlStorage({ root: '' })).toThrowError(expect.objectContaining({ code: 'INVALID_ARGUMENT' }))
  expect(await readFile(join(root, 'a'), 'utf8')).toBe('x')
})

it("somebody else's directory is neither listed, created in, nor deleted", async () => {
  const root = await temporaryDirectory()
  await mkdir(join(root, 'src'))
  await writeFile(join(root, 'src', 'index.ts'), 'code')
  const storage = jsonlStorage({ root, durability: 'process' })
  expect(await storage.list({ limit: 10 })).toEqual([])
  expect(await storage.delete('src')).toBe(false)
  const create = { kind: 'create', header: sampleHeader('src') } as const
  await expect(storage.openWriter('src', create)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
  expect(await tree(root)).toEqual(['.locks', 'src', 'src/index.ts'])
})

describe.each([0o000, 0o077, 0o777])('with umask %o', (umask) => {
  it('everything is readable by its owner only', async () => {
    const root = join(await temporaryDirectory(), 'a', 'b')
    const before = process.umask(umask)
    try {
      const storage = jsonlStorage({ root })
      const id = '漢'.repeat(100)
      const writer = await storage.openWriter(id, { kind: 'create', header: sampleHeader(id) })
      await writer.append(SAMPLE_BATCHES[0] ?? [])
      await writer.saveDerived('summary', '{}')
      await writer.close()
      const path = logPath(root, id)
      await writeFile(path, Buffer.concat([await readFile(path), Buffer.from('{"torn')]))
      const again = await storage.openWriter(id, { kind: 'resume' })
      await again.discardTornTail()
      await again.rewrite(sampleHeader(id), pages(SAMPLE_BATCHES), 'v0')
      const paths = [join(root, '..'), root, ...(await tree(root)).map((name) => join(root, name))]
      expect(paths.map((at) => at.slice(root.length)).filter((at) => at.includes('/'))).toContain(
        `/.locks/${encodeSessionName(id)}`,
      )
      for (const at of paths) {
        const { mode } = await stat(at)
        expect([at, mode & 0o777]).toEqual([at, (await stat(at)).isDirectory() ? 0o700 : 0o600])
      }
      await again.close()
    } finally {
      process.umask(before)
    }
  })
})

async function* pages<T>(batches: readonly T[]): AsyncGenerator<T> {
  yield* batches
}

it.skipIf(process.getuid?.() === 0)('what may not be read is denied, not missing or corrupt', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root })
  await store(storage, 'a', SAMPLE_BATCHES)
  await chmod(logPath(root, 'a'), 0)
  await expect(storage.openReader('a')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
})

it('a hard-linked log is read like any other', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 'a', SAMPLE_BATCHES)
  await link(logPath(root, 'a'), join(root, 'elsewhere'))
  expect(await readAll(storage, 'a')).toEqual(SAMPLE_EVENTS)
})

it('what stands in the place of the lock directory keeps writers out, and nobody from listing', async () => {
  const elsewhere = await temporaryDirectory()
  const owner = { pid: process.pid, host: hostname(), since: 0 }
  await writeFile(join(elsewhere, 'a'), JSON.stringify(owner))
  const plant: { readonly [what: string]: (path: string) => Promise<void> } = {
    file: (path) => writeFile(path, ''),
    fifo: async (path) => {
      execFileSync('mkfifo', [path])
    },
    link: (path) => symlink(elsewhere, path),
    dangling: (path) => symlink(join(elsewhere, 'nothing'), path),
  }
  for (const make of Object.values(plant)) {
    const root = await temporaryDirectory()
    await store(jsonlStorage({ root, durability: 'process' }), 'a', SAMPLE_BATCHES)
    await rm(join(root, '.locks'), { recursive: true })
    await make(join(root, '.locks'))
    const storage = jsonlStorage({ root, durability: 'process' })
    expect(await storage.list({ limit: 10 })).toMatchObject([{ id: 'a', state: 'ready' }])
    await expect(storage.openWriter('a', { kind: 'resume' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
    await expect(storage.delete('a')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' })
  }
  expect(await readdir(elsewhere)).toEqual(['a'])
})

it('deleting what is not stored writes nothing, and finishes what a crash left of a deletion', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  expect(await storage.delete('a')).toBe(false)
  expect(await tree(root)).toEqual([])
  await mkdir(join(root, 'b'))
  expect(await storage.delete('b')).toBe(false)
  expect(await tree(root)).toEqual(['b'])
  await mkdir(join(root, '.tmp-a-0123456789abcdef'))
  expect(await storage.delete('a')).toBe(false)
  expect(await tree(root)).toEqual(['.locks', 'b'])
})

it('deleting what a writer is about to create is refused', async () => {
  const root = await temporaryDirectory()
  const storage = jsonlStorage({ root, durability: 'process' })
  const writer = await storage.openWriter('a', { kind: 'create', header: sampleHeader('a') })
  await expect(jsonlStorage({ root }).delete('a')).rejects.toMatchObject({ code: 'LOCKED' })
  await writer.close()
})
