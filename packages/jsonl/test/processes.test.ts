// Proves across real processes: one writer, named to the second; a killed holder frees the lock and leaves nothing;
// readers and followers see what another process writes. The children run the built JavaScript.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, copyFile, readdir, readFile, rename, rm, truncate } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { jsonlStorage, openJsonl } from '../src/index.ts'
import { logPath, readAll, SAMPLE_BATCHES, SAMPLE_EVENTS, sampleHeader, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

const BUILT = fileURLToPath(new URL('../dist/index.js', import.meta.url))

/** Speaks one JSON line a command and one a reply. */
const CHILD = `
import { createInterface } from 'node:readline'
const { jsonlStorage } = await import(${JSON.stringify(BUILT)})
const [root] = process.argv.slice(1)
const storage = jsonlStorage({ root })
const writers = new Map()
const commands = {
  open: async ({ id, intent }) => { const writer = await storage.openWriter(id, intent); writers.set(id, writer); return writer.tail },
  append: ({ id, events }) => writers.get(id).append(events),
  close: ({ id }) => writers.get(id).close(),
  delete: ({ id }) => storage.delete(id),
}
process.stdout.write('"ready"\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...rest } = JSON.parse(line)
  const reply = await commands[command](rest).then((value) => ({ value }), ({ code, message }) => ({ code, message }))
  process.stdout.write(JSON.stringify(reply) + '\\n')
}
`

interface Reply {
  readonly value?: unknown
  readonly code?: string
  readonly message?: string
}

const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

class Other {
  readonly process: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(root: string) {
    this.process = spawn(process.execPath, ['--input-type=module', '-e', CHILD, root], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.push(this.process)
    if (this.process.stdout === null) throw new Error('no output to read')
    this.#lines = createInterface({ input: this.process.stdout })[Symbol.asyncIterator]()
  }

  async #next(): Promise<Reply> {
    const { value } = (await this.#lines.next()) as { value: string }
    return JSON.parse(value) as Reply
  }

  static async start(root: string): Promise<Other> {
    const other = new Other(root)
    await other.#next()
    return other
  }

  async ask(command: string, rest: object): Promise<Reply> {
    this.process.stdin?.write(`${JSON.stringify({ command, ...rest })}\n`)
    return await this.#next()
  }

  async kill(): Promise<void> {
    const gone = once(this.process, 'exit')
    this.process.kill('SIGKILL')
    await gone
  }
}

const create = (id: string): object => ({ id, intent: { kind: 'create', header: sampleHeader(id) } })
const resume = (id: string): object => ({ id, intent: { kind: 'resume' } })

describe.skipIf(!existsSync(BUILT))('with another process (needs the built package)', () => {
  it('a second writer is refused and told who holds the session', async () => {
    const root = await temporaryDirectory()
    const other = await Other.start(root)
    expect(await other.ask('open', create('s'))).toEqual({ value: { nextSeq: 0 } })
    const storage = jsonlStorage({ root })
    const refused = storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await expect(refused).rejects.toMatchObject({ code: 'LOCKED', sessionId: 's' })
    await expect(refused).rejects.toThrow(`pid ${other.process.pid} on ${hostname()}`)
    await other.ask('append', { id: 's', events: SAMPLE_BATCHES[0] })
    await expect(storage.openWriter('s', { kind: 'resume' })).rejects.toMatchObject({ code: 'LOCKED' })
    await expect(storage.delete('s')).rejects.toMatchObject({ code: 'LOCKED' })
    await expect(storage.repair?.('s', { dryRun: false })).rejects.toMatchObject({ code: 'LOCKED' })
    expect(await readAll(storage, 's')).toEqual(SAMPLE_BATCHES[0])
    const [entry] = await storage.list({ limit: 1 })
    expect(entry).toMatchObject({ state: 'open', owner: expect.stringContaining(`pid ${other.process.pid}`) })
    await other.ask('close', { id: 's' })
    const writer = await storage.openWriter('s', { kind: 'resume' })
    expect(await other.ask('open', resume('s'))).toMatchObject({ code: 'LOCKED' })
    expect(await other.ask('delete', { id: 's' })).toMatchObject({ code: 'LOCKED' })
    await writer.close()
    expect(await other.ask('delete', { id: 's' })).toEqual({ value: true })
    expect(await readdir(root)).toEqual(['.locks'])
  })

  it('a killed holder frees the lock, and what it stored is there', async () => {
    const root = await temporaryDirectory()
    const other = await Other.start(root)
    await other.ask('open', create('s'))
    await other.ask('append', { id: 's', events: SAMPLE_BATCHES[0] })
    await other.kill()
    const storage = jsonlStorage({ root })
    // The lock file is left, but names a process that is gone.
    expect(await readdir(join(root, '.locks'))).toEqual(['s'])
    expect((await storage.list({ limit: 1 }))[0]?.state).toBe('ready')
    const writer = await storage.openWriter('s', { kind: 'resume' })
    for (const batch of SAMPLE_BATCHES.slice(1)) await writer.append(batch)
    await writer.close()
    expect(await readAll(storage, 's')).toEqual(SAMPLE_EVENTS)
    expect(await readdir(join(root, '.locks'))).toEqual([])
  })

  it('what a killed builder left is swept by the next writer of that id, and by the first writer of a process', async () => {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root })
    await store(storage, 'bystander', SAMPLE_BATCHES)
    for (const opener of [storage, jsonlStorage({ root })]) {
      const other = await Other.start(root)
      const staged = { id: 's', intent: { kind: 'create', header: sampleHeader('s'), staged: true } }
      await other.ask('open', staged)
      await other.ask('append', { id: 's', events: SAMPLE_BATCHES[0] })
      const temporary = (await readdir(root)).filter((name) => name.startsWith('.tmp-s-'))
      expect(temporary).toHaveLength(1)
      // While its builder lives nobody else may touch it.
      const witness = await jsonlStorage({ root }).openWriter('t', { kind: 'create', header: sampleHeader('t') })
      await witness.close()
      expect(await readdir(root)).toContain(temporary[0])
      await other.kill()
      expect(await storage.list({ limit: 10 })).toHaveLength(1)
      const id = opener === storage ? 's' : 'u'
      const writer = await opener.openWriter(id, { kind: 'create', header: sampleHeader(id) })
      expect((await readdir(root)).filter((name) => name.startsWith('.tmp-'))).toEqual([])
      await writer.close()
    }
  })

  it('a follower sees what another process writes, and the end of it all', async () => {
    const root = await temporaryDirectory()
    const other = await Other.start(root)
    await other.ask('open', create('s'))
    await other.ask('append', { id: 's', events: SAMPLE_BATCHES[0] })
    await using persistence = await openJsonl({ root })
    const seen: number[] = []
    for await (const { seq } of persistence.follow('s')) {
      seen.push(seq)
      const next = SAMPLE_BATCHES.find((batch) => batch[0]?.seq === seq + 1)
      if (next !== undefined) await other.ask('append', { id: 's', events: next })
      else if (seq === SAMPLE_EVENTS.length - 1) {
        await other.ask('close', { id: 's' })
        await other.ask('delete', { id: 's' })
      }
    }
    expect(seen).toEqual(SAMPLE_EVENTS.map(({ seq }) => seq))
  })

  it('a reader is never held up, and sees whole batches only', { timeout: 30_000 }, async () => {
    const root = await temporaryDirectory()
    const other = await Other.start(root)
    await other.ask('open', create('s'))
    const storage = jsonlStorage({ root })
    let done = false
    const writing = (async () => {
      for (let batch = 0; batch < 200; batch++) {
        const events = Array.from({ length: 7 }, (_, index) => {
          const seq = 7 * batch + index
          return { seq, time: seq, type: 'acme/note', data: { text: 'x'.repeat(seq % 900) }, ignorable: true }
        })
        await other.ask('append', { id: 's', events })
      }
      done = true
    })()
    let reads = 0
    while (!done) {
      // Small reads of what is cached never leave the thread: what the other answers needs a turn.
      await new Promise(setImmediate)
      if (!existsSync(logPath(root, 's'))) continue
      const events = await readAll(storage, 's')
      expect(events.length % 7).toBe(0)
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index))
      reads++
    }
    await writing
    expect(reads).toBeGreaterThan(0)
    expect(await readAll(storage, 's')).toHaveLength(1400)
  })
})

it('two handles in one process exclude each other as well', async () => {
  const root = await temporaryDirectory()
  const [one, two] = [jsonlStorage({ root }), jsonlStorage({ root })]
  await store(one, 's', SAMPLE_BATCHES)
  const attempts = await Promise.allSettled(
    [one, two, one, two].map((storage) => storage.openWriter('s', { kind: 'resume' })),
  )
  const [writer, ...more] = attempts.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  expect(more).toEqual([])
  for (const result of attempts) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'LOCKED' })
  }
  await writer?.close()
  const next = await two.openWriter('s', { kind: 'resume' })
  await next.close()
})

it('a writer whose file was changed under it gets CONFLICT and writes nothing', async () => {
  const changes: readonly ((path: string) => Promise<void>)[] = [
    (path) => appendFile(path, 'x'),
    async (path) => truncate(path, (await readFile(path)).length - 1),
    async (path) => copyFile(path, `${path}.new`).then(() => rename(`${path}.new`, path)),
    (path) => rm(path),
  ]
  for (const change of changes) {
    const root = await temporaryDirectory()
    const storage = jsonlStorage({ root })
    const writer = await storage.openWriter('s', { kind: 'create', header: sampleHeader('s') })
    await writer.append(SAMPLE_BATCHES[0] ?? [])
    await change(writer.location)
    const before = await readFile(writer.location).catch(() => undefined)
    for (let tries = 0; tries < 2; tries++) {
      await expect(writer.append(SAMPLE_BATCHES[1] ?? [])).rejects.toMatchObject({ code: 'CONFLICT' })
    }
    expect(await readFile(writer.location).catch(() => undefined)).toEqual(before)
    await writer.close()
  }
})
