// Proves that a writer lock has one holder, names it, survives unlinking races, and leaves nothing behind.
import { mkdtemp, readdir, readFile, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { mayBeAlive, nodeFileSystem, readLockOwner, WriterLock } from '../src/index.ts'

let locks = ''

beforeEach(async () => {
  locks = await mkdtemp(join(tmpdir(), 'locks-'))
})

afterEach(async () => {
  await rm(locks, { recursive: true })
})

it('has one holder, which the refusal names', async () => {
  const lock = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  const refused = WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  await expect(refused).rejects.toMatchObject({ code: 'LOCKED', sessionId: 'id' })
  await expect(refused).rejects.toThrow(`open for writing by this process, pid ${process.pid} on ${hostname()}`)
  const other = await WriterLock.acquire(nodeFileSystem, locks, 'b', 'other')
  await other.release()
  await lock.release()
  const again = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  await again.release()
})

it('says who holds it in a file that only the owner may read', async () => {
  const before = process.umask(0)
  try {
    const lock = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
    expect(JSON.parse(await readFile(join(locks, 'a'), 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() })
    expect((await stat(join(locks, 'a'))).mode & 0o777).toBe(0o600)
    expect(readLockOwner(nodeFileSystem, locks, 'a')).toMatchObject({ pid: process.pid })
    await lock.release()
  } finally {
    process.umask(before)
  }
})

it('leaves no file, and releases once', async () => {
  const lock = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  await lock.release()
  const next = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  await lock.release()
  await expect(WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')).rejects.toMatchObject({ code: 'LOCKED' })
  await next.release()
  expect(await readdir(locks)).toEqual([])
})

it('tells when the last holder died without releasing it', async () => {
  await writeFile(join(locks, 'a'), '{"pid":1,"host":"elsewhere","since":0}\n')
  const lock = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  expect(lock.abandoned).toBe(true)
  await lock.release()
  const next = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  expect(next.abandoned).toBe(false)
  await next.release()
})

it('locks the file that is there, not one that was unlinked while it was opened', async () => {
  let opened = 0
  const racing: typeof nodeFileSystem = {
    ...nodeFileSystem,
    async open(path, how, mode) {
      const file = await nodeFileSystem.open(path, how, mode)
      // What a holder that releases in this moment does.
      if (opened++ === 0) await unlink(path)
      return file
    },
  }
  const lock = await WriterLock.acquire(racing, locks, 'a', 'id')
  expect(opened).toBe(2)
  expect(await readdir(locks)).toEqual(['a'])
  await lock.release()
})

it('takes nonsense in a lock file for no owner', async () => {
  for (const text of [
    '',
    'x',
    '{}',
    '[]',
    'null',
    '{"pid":"1","host":"h","since":1}',
    `{"pid":1,"host":"${'h'.repeat(2000)}","since":1}`,
  ]) {
    await writeFile(join(locks, 'a'), text)
    expect(readLockOwner(nodeFileSystem, locks, 'a')).toBeUndefined()
  }
  expect(readLockOwner(nodeFileSystem, locks, 'missing')).toBeUndefined()
  expect(mayBeAlive({ pid: process.pid, host: hostname(), since: 0 })).toBe(true)
  expect(mayBeAlive({ pid: 2 ** 30, host: hostname(), since: 0 })).toBe(false)
  expect(mayBeAlive({ pid: 2 ** 30, host: 'elsewhere', since: 0 })).toBe(true)
})

it('refuses a directory in its place', async () => {
  await nodeFileSystem.mkdir(join(locks, 'a'), 0o700)
  await expect(WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
  })
})

it('leaves the lock of another where its own file was removed from outside', async () => {
  const first = await WriterLock.acquire(nodeFileSystem, locks, 'a', 'id')
  await unlink(join(locks, 'a'))
  // Another process would take it; here a file of its own stands for that.
  await writeFile(join(locks, 'a'), 'of another')
  await first.release()
  expect(await readFile(join(locks, 'a'), 'utf8')).toBe('of another')
})
