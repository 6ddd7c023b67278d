// Proves that a repair keeps every record that can be proven, says what is lost, keeps the original, and leaves a log
// that reads and resumes; and that a dry run, and a repair of a sound log, change nothing.
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type AnySessionEvent, LogFold, type SessionHeader, type StorageRepair } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { jsonlStorage, lineCodec, openJsonl } from '../src/index.ts'
import { ASKED, BEGUN } from './parts/asked-for-a-call.ts'
import { logPath, readAll, readLog, SAMPLE_TIME, sampleHeader, store, writeLog } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

function turn(number: number, seq: number): AnySessionEvent[] {
  const place = { turn: number, step: 1 }
  const datas: readonly (readonly [string, object])[] = [
    ['turn/start', { turn: number }],
    ['user/message', { turn: number, message: { role: 'user', content: `question ${number}` } }],
    ['step/start', place],
    ...[...'abcdef'].map((text) => ['assistant/chunk', { ...place, kind: 'text', index: 0, text }] as const),
    ['assistant/message', { ...place, message: { role: 'assistant', content: 'abcdef' }, toolCalls: [] }],
    ['step/end', place],
    ['turn/end', { turn: number, reason: { kind: 'completed' } }],
  ]
  return datas.map(([type, data], index) => ({ seq: seq + index, time: SAMPLE_TIME + seq + index, type, data }))
}

const TURN_EVENTS = 12
const TURNS = Array.from({ length: 6 }, (_, index) => turn(index + 1, index * TURN_EVENTS))
const EVENTS = TURNS.flat()

let root = ''
let storage: ReturnType<typeof jsonlStorage>
let whole: Buffer
let lines: readonly Buffer[]

beforeEach(async () => {
  root = await temporaryDirectory()
  storage = jsonlStorage({ root, durability: 'process' })
  await store(storage, 's', TURNS)
  whole = await readLog(root, 's')
  lines = whole
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => Buffer.from(`${line}\n`))
})

/** Line 0 is the header; line n + 1 holds event n. */
function edited(edit: (lines: Buffer[]) => void): Buffer {
  const copy = lines.map((line) => Buffer.from(line))
  edit(copy)
  return Buffer.concat(copy)
}

async function repaired(bytes: Buffer): Promise<StorageRepair> {
  await writeLog(root, 's', bytes)
  const before = await stat(logPath(root, 's'), { bigint: true })
  const plan = await storage.repair?.('s', { dryRun: true })
  const after = await stat(logPath(root, 's'), { bigint: true })
  expect([after.mtimeNs, after.ino]).toEqual([before.mtimeNs, before.ino])
  const done = await storage.repair?.('s', { dryRun: false })
  if (plan === undefined || done === undefined) throw new Error('there is no repair')
  const { originalAt, ...rest } = done
  expect({ ...rest, dryRun: true }).toEqual(plan)
  if (originalAt === undefined) throw new Error('nothing was repaired')
  expect((await readFile(originalAt)).equals(bytes)).toBe(true)
  expect((await stat(originalAt)).mode & 0o777).toBe(0o600)
  expect(await storage.check('s')).toMatchObject({ events: done.kept, problems: [] })
  const fold = new LogFold()
  for (const event of await readAll(storage, 's')) fold.accept(event)
  return done
}

const lost = (seq: number): AnySessionEvent => ({
  seq,
  time: SAMPLE_TIME + seq - 1,
  type: 'session-persistence/lost',
  data: {},
  ignorable: true,
})

it('leaves a sound log, and a torn one, as they are', async () => {
  for (const bytes of [whole, whole.subarray(0, -5)]) {
    await writeLog(root, 's', bytes)
    expect(await storage.repair?.('s', { dryRun: false })).toMatchObject({ lost: [] })
    expect(await readLog(root, 's')).toEqual(bytes)
  }
  expect(await readdir(join(root, 's'))).toEqual(['session.jsonl'])
})

describe('nothing is lost', () => {
  it.each<[string, (lines: Buffer[]) => void]>([
    ['of swapped lines', (all) => all.splice(20, 2, all[21] ?? Buffer.alloc(0), all[20] ?? Buffer.alloc(0))],
    ['of repeated lines', (all) => all.splice(20, 0, ...all.slice(15, 25))],
    ['of a lost line end', (all) => all.splice(20, 1, (all[20] ?? Buffer.alloc(0)).subarray(0, -1))],
    ['of an overwritten line end', (all) => all[20]?.writeUInt8(0x20, all[20].length - 1)],
    ['around a foreign line', (all) => all.splice(20, 0, Buffer.from('{"of":"another program"}\n'))],
    ['around NULs', (all) => all.splice(20, 0, Buffer.alloc(3000))],
    ['when the two halves changed places', (all) => all.push(...all.splice(1, 30))],
  ])('%s', async (_, edit) => {
    const { kept, lost: report } = await repaired(edited(edit))
    expect(kept).toBe(EVENTS.length)
    expect(report.filter(({ from }) => from !== undefined)).toEqual([])
    expect(await readAll(storage, 's')).toEqual(EVENTS)
  })
})

it('an unreadable chunk is lost, and an empty event keeps its seq', async () => {
  const seq = TURN_EVENTS + 4
  const { kept, lost: report } = await repaired(edited((all) => all[seq + 1]?.fill(0x23, 30, 40)))
  expect(kept).toBe(EVENTS.length)
  expect(report).toEqual([
    { message: 'an event is lost; a stand-in takes its place', from: seq, to: seq },
    {
      message: expect.stringContaining('bytes hold no record'),
      offset: lines.slice(0, seq + 1).reduce((sum, line) => sum + line.length, 0),
      bytes: lines[seq + 1]?.length,
    },
  ])
  expect(await readAll(storage, 's')).toEqual(EVENTS.map((event) => (event.seq === seq ? lost(seq) : event)))
  await using persistence = await openJsonl({ root })
  const session = await persistence.resume('s')
  expect(session.messages()).toHaveLength(12)
  expect(session.openTurn).toBeUndefined()
  await session.close()
})

it('the start of a turn is made again, and everything behind it stays', async () => {
  const seq = 2 * TURN_EVENTS
  const { kept, lost: report } = await repaired(edited((all) => all.splice(seq + 1, 1)))
  expect(kept).toBe(EVENTS.length)
  expect(report).toEqual([
    { from: seq, to: seq, message: 'an event is lost; a stand-in takes its place' },
    { from: seq, to: seq, message: 'the stand-in is turn/start, without which what follows could not stay' },
  ])
  const time = SAMPLE_TIME + seq - 1
  expect(await readAll(storage, 's')).toEqual(EVENTS.map((event) => (event.seq === seq ? { ...event, time } : event)))
})

describe('a damaged header', () => {
  const HEADER: SessionHeader = {
    ...sampleHeader('s'),
    messageFormat: 'anthropic',
    parent: 'p',
    seedLength: 2,
    labels: { origin: 'x', cwd: 'y' },
  }
  const NOTES = EVENTS.slice(0, 2)
  let bytes: Buffer

  beforeEach(async () => {
    await storage.delete('s')
    const writer = await storage.openWriter('s', { kind: 'create', header: HEADER })
    await writer.append(NOTES)
    await writer.close()
    bytes = await readLog(root, 's')
  })

  async function headerAfter(damage: Buffer): Promise<readonly [readonly string[], SessionHeader]> {
    await writeLog(root, 's', damage)
    const done = await storage.repair?.('s', { dryRun: false })
    if (done?.originalAt !== undefined) await rm(done.originalAt)
    expect(await readAll(storage, 's')).toEqual(NOTES)
    const reader = await storage.openReader('s')
    await reader.close()
    return [done?.lost.map(({ message }) => message) ?? [], reader.header]
  }

  it.each(['crc32', 'none'] as const)(
    'of which any one byte is wrong is put right, with checksum %s',
    async (checksum) => {
      if (checksum === 'none') {
        await storage.delete('s')
        const other = jsonlStorage({ root, durability: 'process', checksum })
        const writer = await other.openWriter('s', { kind: 'create', header: HEADER })
        await writer.append(NOTES)
        await writer.close()
        bytes = await readLog(root, 's')
      }
      for (let at = 0; at <= bytes.indexOf('\n'); at++) {
        const damaged = Buffer.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ (1 + (at % 255))
        expect([at, ...(await headerAfter(damaged))]).toEqual([at, [], HEADER])
      }
    },
  )

  const KEPT = (fields: string): string =>
    `the header is damaged: these fields are kept as they could be read, and could not be proven: ${fields}`
  const LOST = (fields: string): string => `the header is damaged: these fields of it are lost: ${fields}`
  const PERHAPS = (fields: string): string =>
    `the header is damaged: whether it had these fields cannot be told: ${fields}`
  const LOST_FORMAT = 'messageFormat ("plain" is taken for it)'
  const ANY_FORMAT = expect.stringContaining('"ant#ropic": perhaps the name itself is damaged')

  it.each<
    [
      string,
      readonly (readonly [string, number])[],
      readonly unknown[],
      { readonly [key in keyof SessionHeader]?: unknown },
    ]
  >([
    [
      'its text is JSON',
      [
        ['home', 0],
        ['someone', 1],
      ],
      [KEPT('createdAt, messageFormat, cwd, parent, seedLength, labels')],
      { cwd: '/#ome/s#meone/työ' },
    ],
    [
      'its text is no JSON',
      [
        ['"/home', 0],
        ['someone', 1],
      ],
      [KEPT('createdAt, messageFormat, parent, seedLength, labels'), PERHAPS('cwd, origin')],
      { cwd: undefined },
    ],
    [
      'the name of its format is wrong',
      [
        ['anthropic', 3],
        ['someone', 1],
      ],
      [KEPT('createdAt, messageFormat, cwd, parent, seedLength, labels'), ANY_FORMAT],
      { messageFormat: 'ant#ropic', cwd: '/home/s#meone/työ' },
    ],
    [
      'the key of its format is wrong',
      [
        ['messageFormat', 3],
        ['someone', 1],
      ],
      [KEPT('createdAt, cwd, parent, seedLength, labels'), LOST(LOST_FORMAT), PERHAPS('origin')],
      { messageFormat: 'plain', cwd: '/home/s#meone/työ' },
    ],
    [
      'the key of its labels is wrong',
      [
        ['"labels', 0],
        ['"/home', 0],
      ],
      [KEPT('createdAt, messageFormat, parent, seedLength'), PERHAPS('cwd, origin, labels')],
      { cwd: undefined, labels: undefined },
    ],
    [
      'its time and a number are wrong',
      [
        ['createdAt":', 12],
        ['seedLength":', 12],
      ],
      [
        KEPT('messageFormat, cwd, parent, labels'),
        LOST('createdAt (the time of the first event is taken for it)'),
        PERHAPS('seedLength, origin'),
      ],
      { createdAt: NOTES[0]?.time ?? 0, seedLength: undefined },
    ],
  ])('is told field by field where two bytes are wrong and %s', async (_, places, messages, changed) => {
    for (const [text, at] of places) bytes[bytes.indexOf(text) + at] = 0x23
    const [told, header] = await headerAfter(bytes)
    expect(told.filter((message) => !message.includes('bytes hold no record'))).toEqual(messages)
    expect(header).toEqual(
      Object.fromEntries(Object.entries({ ...HEADER, ...changed }).filter(([, value]) => value !== undefined)),
    )
  })

  it('of which nothing is left takes what must be there, and says so', async () => {
    const [told, header] = await headerAfter(bytes.fill(0, 0, bytes.indexOf('\n')))
    expect(told.slice(0, 2)).toEqual([
      LOST(`createdAt (the time of the first event is taken for it), ${LOST_FORMAT}`),
      PERHAPS('cwd, parent, seedLength, origin, labels'),
    ])
    expect(header).toEqual({ version: 1, id: 's', createdAt: NOTES[0]?.time, messageFormat: 'plain' })
  })
})

it('of what holds nothing of ours is refused, and changes nothing', async () => {
  const bytes = Buffer.from('nothing\nof ours\n')
  await writeLog(root, 's', bytes)
  for (const dryRun of [true, false]) {
    await expect(storage.repair?.('s', { dryRun })).rejects.toMatchObject({ code: 'CORRUPT', sessionId: 's' })
  }
  expect(await readLog(root, 's')).toEqual(bytes)
  expect(await readdir(join(root, 's'))).toEqual(['session.jsonl'])
})

it('a number that somebody edited is given up, where no checksum tells of it, and a torn end is named', async () => {
  await storage.delete('s')
  storage = jsonlStorage({ root, durability: 'process', checksum: 'none' })
  await store(storage, 's', TURNS)
  const text = (await readLog(root, 's')).toString('utf8')
  const seq = 2 * TURN_EVENTS
  const start = text.indexOf('"turn":3')
  const edit = `${text.slice(0, start)}"turn":5${text.slice(start + 8)}{"seq":72,"ti`
  await writeLog(root, 's', Buffer.from(edit))
  expect(await storage.check('s')).toMatchObject({ problems: [], torn: { bytes: 13 } })
  const { kept, lost: report } = await repaired(Buffer.from(edit))
  expect(kept).toBe(EVENTS.length)
  expect(report).toMatchObject([
    { code: 'INVALID_EVENT', from: seq, to: seq },
    { from: seq, to: seq, message: expect.stringMatching(/the stand-in is turn\/start/) },
    { offset: Buffer.byteLength(text), bytes: 13 },
  ])
  const time = SAMPLE_TIME + seq - 1
  expect(await readAll(storage, 's')).toEqual(EVENTS.map((event) => (event.seq === seq ? { ...event, time } : event)))
})

describe('the start of a call at the end', () => {
  const asked = async (): Promise<{ readonly bytes: Buffer; readonly begunAt: number }> => {
    await storage.delete('s')
    await store(storage, 's', [ASKED])
    const { length } = await readLog(root, 's')
    await storage.delete('s')
    await store(storage, 's', [ASKED, BEGUN])
    return { bytes: await readLog(root, 's'), begunAt: length }
  }
  const tiers = async (): Promise<readonly string[]> => {
    await using persistence = await openJsonl({ root, durability: 'process' })
    const session = await persistence.resume('s')
    // A close would write a summary, by which the next one would know of what is missing.
    await session.abandon()
    return (session.recovery?.openCalls ?? []).map(({ tier }) => tier)
  }

  it.each<[string, (begun: Buffer) => Buffer]>([
    ['damaged', (begun) => begun.fill(0x23, 30, 40)],
    ['overwritten by something else', (begun) => Buffer.from(`${'x'.repeat(begun.length - 1)}\n`)],
    ['damaged, with torn bytes behind', (begun) => Buffer.concat([begun.fill(0x23, 30, 40), Buffer.from('{"seq":5,')])],
    [
      'followed by something else',
      (begun) => Buffer.concat([Buffer.from('{"of":"another program"}\n'), begun.subarray(0, 20)]),
    ],
  ])('%s: the call is not called safe to run after a repair', async (_, damage) => {
    const { bytes, begunAt } = await asked()
    const done = await repaired(
      Buffer.concat([bytes.subarray(0, begunAt), damage(Buffer.from(bytes.subarray(begunAt)))]),
    )
    expect(done.kept).toBe(ASKED.length + 1)
    expect(done.lost[0]).toMatchObject({
      from: ASKED.length,
      to: ASKED.length,
      message: expect.stringMatching(/stand-in ends/),
    })
    expect(await storage.repair?.('s', { dryRun: false })).toMatchObject({ kept: ASKED.length + 1, lost: [] })
    expect(await tiers()).toEqual(['outcome-unknown'])
  })

  it('torn, or never written: the call is safe to run', async () => {
    const { bytes, begunAt } = await asked()
    for (const end of [bytes.length - 5, begunAt]) {
      await writeLog(root, 's', bytes.subarray(0, end))
      expect(await tiers()).toEqual(['not-started'])
    }
  })

  it('may be gone too where damage was found anywhere: nothing tells where the log of a damaged file ended', async () => {
    const { bytes, begunAt } = await asked()
    const headerEnd = bytes.indexOf('\n') + 1
    const damaged = Buffer.from(bytes.subarray(0, begunAt))
    damaged.fill(0x23, damaged.indexOf('\n', headerEnd) + 30, damaged.indexOf('\n', headerEnd) + 40)
    await repaired(damaged)
    expect(await tiers()).toEqual(['outcome-unknown'])
  })
})

it('a forged seq does not fill the disk', async () => {
  const far = { seq: 2 ** 40, time: 1, type: 'acme/note', data: 1, ignorable: true } as const
  const newSalt = (): number => 1
  const same = jsonlStorage({ root, durability: 'process', newSalt })
  await same.delete('s')
  await store(same, 's', TURNS.slice(0, 1))
  const { dialect } = await lineCodec({ newSalt }).create(sampleHeader('s'))
  await writeLog(root, 's', Buffer.concat([await readLog(root, 's'), await dialect.encodeBatch([far], 0)]))
  const done = await same.repair?.('s', { dryRun: false })
  expect(done?.kept).toBe(TURN_EVENTS)
  expect(done?.lost).toMatchObject([
    { from: TURN_EVENTS, to: 2 ** 40 - 1, message: expect.stringContaining('ends before') },
    { from: 2 ** 40, to: 2 ** 40, message: expect.stringContaining('the original holds them') },
  ])
})

it('leaves no snapshot that knows of what the log has lost', async () => {
  const notes = { 'acme/note': { ignorable: true } } as const
  await using persistence = await openJsonl({ root, durability: 'process', events: notes })
  const session = await persistence.create({ id: 'long' })
  for (const content of ['first', 'second']) session.append('user/message', { message: { role: 'user', content } })
  for (let count = 0; count < 1000; count++) session.append('acme/note' as never, count as never)
  await session.close()
  expect(await readdir(join(root, 'long'))).toContain('snapshots.json')
  const bytes = await readLog(root, 'long')
  await writeLog(root, 'long', bytes.fill(0x23, bytes.indexOf('first'), bytes.indexOf('first') + 5))
  await persistence.repair('long', { dryRun: false })
  await using resumed = await persistence.resume('long')
  expect(resumed.nextSeq).toBe(1002)
  expect(resumed.messages()).toEqual([{ role: 'user', content: 'second' }])
})

describe('two logs that went on from one, joined in one file', () => {
  const note = (seq: number, data: string): AnySessionEvent => ({
    seq,
    time: SAMPLE_TIME,
    type: 'acme/note',
    data,
    ignorable: true,
  })
  const notes = async (
    checksum: 'crc32' | 'none',
    ...batches: readonly (readonly AnySessionEvent[])[]
  ): Promise<Buffer> => {
    await storage.delete('s')
    storage = jsonlStorage({ root, durability: 'process', checksum, newSalt: () => 7 })
    await store(storage, 's', batches)
    return await readLog(root, 's')
  }
  const BASE = [note(0, 'm0'), note(1, 'm1')]

  it.each(['crc32', 'none'] as const)('name every event that gives way, with checksum %s', async (checksum) => {
    const base = await notes(checksum, BASE)
    const laptop = await notes(checksum, BASE, [note(2, 'laptop 1')], [note(3, 'laptop 2')])
    const desktop = await notes(checksum, BASE, ...[1, 2, 3].map((count) => [note(count + 1, `desktop ${count}`)]))
    const { kept, lost: report } = await repaired(Buffer.concat([laptop, desktop.subarray(base.length)]))
    expect(report).toEqual([
      {
        from: 2,
        to: 3,
        message: expect.stringMatching(
          new RegExp(`2 other events .* byte ${laptop.length}: .* first are kept; .* from seq 4 on, is kept`),
        ),
      },
    ])
    expect(kept).toBe(5)
    const told = (await readAll(storage, 's')).map(({ data }) => data)
    expect(told).toEqual(['m0', 'm1', 'laptop 1', 'laptop 2', 'desktop 3'])
  })

  it('do not name what merely stands there twice', async () => {
    const laptop = await notes('crc32', BASE, [note(2, 'laptop 1'), note(3, 'both')])
    const desktop = await notes('crc32', BASE, [note(2, 'desktop 1'), note(3, 'both')])
    const { lost: report } = await repaired(Buffer.concat([laptop, desktop.subarray(desktop.indexOf('\n') + 1)]))
    expect(report).toEqual([{ from: 2, to: 2, message: expect.stringMatching(/another event .* first are kept$/) }])
  })

  it('keep an event whose mark is that of another batch', async () => {
    const laptop = await notes('crc32', BASE, [note(2, 'laptop 1')])
    const desktop = await notes('crc32', BASE, [note(2, 'desktop 1'), note(3, 'desktop 2')], [note(4, 'desktop 3')])
    const { kept, lost: report } = await repaired(
      Buffer.concat([laptop, desktop.subarray(desktop.lastIndexOf('{"seq":3'))]),
    )
    expect([kept, report]).toEqual([5, []])
  })

  it('make no call safe to run that the other one may have begun', async () => {
    await storage.delete('s')
    storage = jsonlStorage({ root, durability: 'process', newSalt: () => 7 })
    const pieces: Buffer[] = []
    for (const last of [note(ASKED.length, 'laptop'), ...BEGUN]) {
      await store(storage, 's', [ASKED, [last]])
      pieces.push(await readLog(root, 's'))
      await storage.delete('s')
    }
    await store(storage, 's', [ASKED])
    const { length } = await readLog(root, 's')
    const [laptop, desktop] = pieces
    await repaired(Buffer.concat([laptop ?? Buffer.alloc(0), (desktop ?? Buffer.alloc(0)).subarray(length)]))
    await using persistence = await openJsonl({ root, durability: 'process' })
    expect((await persistence.inspect('s')).openCalls()).toMatchObject([{ tier: 'outcome-unknown' }])
  })
})

describe('the summary beside a repaired log', () => {
  const title = (name: string) => ['session/title', { title: name }] as const
  const store = async (): Promise<Buffer> => {
    await using persistence = await openJsonl({ root, durability: 'process' })
    await using session = await persistence.create({ id: 'titled' })
    for (const name of ['first', 'second']) session.append(...title(name))
    session.append('user/message', { message: { role: 'user', content: 'last' } })
    await session.close()
    return await readLog(root, 'titled')
  }
  const repair = async (damage: (bytes: Buffer) => void): Promise<void> => {
    const bytes = await store()
    damage(bytes)
    await writeLog(root, 'titled', bytes)
    await storage.repair?.('titled', { dryRun: false })
  }

  it('is removed where it fits an event that stays: a listing shows what the log holds', async () => {
    await repair((bytes) => bytes.fill(0x23, bytes.indexOf('second'), bytes.indexOf('second') + 6))
    await using persistence = await openJsonl({ root, durability: 'process' })
    const { sessions } = await persistence.list()
    expect(sessions.find(({ id }) => id === 'titled')).toMatchObject({ title: 'first' })
    expect((await persistence.inspect('titled')).summary()).toMatchObject({ title: 'first' })
    const { ok, notes } = await persistence.verify('titled')
    expect([ok, notes]).toEqual([true, [expect.stringMatching(/are lost: stand-ins .* newest at seq 1$/)]])
  })

  it('stays where it says how far the log once went', async () => {
    await repair((bytes) => bytes.fill(0x23, bytes.indexOf('last'), bytes.indexOf('last') + 4))
    expect(await readdir(join(root, 'titled'))).toContain('summary.json')
    await using persistence = await openJsonl({ root, durability: 'process' })
    expect(await persistence.verify('titled')).toMatchObject({ ok: true })
    await using session = await persistence.resume('titled')
    expect(session.recovery?.missing).toEqual({ from: 2, to: 2 })
  })

  it('may be anything: what is not a file is never read, and stays', async () => {
    await mkdir(join(root, 's', 'summary.json'))
    await mkdir(join(root, 's', 'snapshots.json'))
    expect(await repaired(edited((all) => all.splice(5, 1)))).toMatchObject({ kept: EVENTS.length })
  })
})

it('keeps each original of several repairs', async () => {
  for (const count of [1, 2]) {
    await repaired(edited((all) => all.splice(5 + count, 1)))
    const kept = (await readdir(join(root, 's'))).filter((name) => name.includes('damaged'))
    expect(kept).toHaveLength(count)
  }
})
