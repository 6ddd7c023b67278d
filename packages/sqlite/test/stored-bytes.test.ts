// Proves that texts of every kind are read as they were written, and that a column whose bytes are no text of JSON is
// CORRUPT under a right checksum too, in every way of reading, and costs no other event.
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type AnySessionEvent, isElided, isSessionError, type SessionStorage } from '@session-persistence/core'
import { beforeEach, describe, expect, it } from 'vitest'
import { sqliteStorage } from '../src/index.ts'
import { RawDatabase } from './parts/raw-database.ts'
import { chunk, errorOf, note, notes, readAll, store } from './parts/sample-log.ts'
import { temporaryDirectory } from './parts/temporary-directory.ts'

let file = ''

beforeEach(async () => {
  file = join(await temporaryDirectory(), 'sessions.db')
})

async function withStorage<T>(use: (storage: SessionStorage) => Promise<T>): Promise<T> {
  const storage = sqliteStorage({ file })
  try {
    return await use(storage)
  } finally {
    await storage.close()
  }
}

const UNITS = ['a', '\u0000', '\ufeff', 'é', 'ÿ', 'Ā', '\u2028', '你', '👋', '\ud83d', '\udc4b', '"', '\\', '\u007f']
const LENGTHS = [1, 50, 1000, 33_000]

it('texts of every kind and length, alone and among others, are read as they were written', async () => {
  const texts = LENGTHS.flatMap((length) => UNITS.map((unit) => unit.repeat(length)))
  const alone = texts.map((text, seq) => note(seq, { text, ['key '.concat(text.slice(0, 9))]: [text.slice(1)] }))
  const amid = texts.flatMap((text, at) =>
    notes(3, texts.length + 4 * at).concat(note(texts.length + 4 * at + 3, text)),
  )
  const huge = note(texts.length * 5, { text: '👋é'.repeat(700_000) })
  const events = [...alone, ...amid, huge]
  await withStorage(async (storage) => {
    await store(storage, 's', [events])
    expect(JSON.stringify(await readAll(storage, 's')) === JSON.stringify(events)).toBe(true)
    const reversed = await readAll(storage, 's', { reverse: true })
    expect(JSON.stringify(reversed) === JSON.stringify(events.toReversed())).toBe(true)
    expect(await storage.check('s')).toMatchObject({ events: events.length, problems: [] })
  })
})

const FORGED_SEQ = 5

/** Gives a row other bytes for its text, and a checksum over `checked`. */
function forge(seq: number, bytes: Buffer, checked: string | Buffer = bytes): void {
  using raw = new RawDatabase(file)
  const key = 2 ** 32 + seq
  const [row] = raw.rows('SELECT time, events, type, extra FROM record WHERE key = ?', key)
  const salt = raw.value('SELECT salt FROM session WHERE number = 1') as number
  const columns = [seq, ...(row ?? [])].map((column) => `${String(column ?? '')}\n`).join('')
  const crc = crc32(checked, crc32(columns, salt))
  expect(raw.run('UPDATE record SET data = CAST(? AS TEXT), crc = ? WHERE key = ?', bytes, crc, key)).toBe(1)
}

const FORGED: readonly (readonly [string, Buffer])[] = [
  ['a byte that is no UTF-8', Buffer.from([0x22, 0x80, 0x22])],
  ['a surrogate as bytes', Buffer.from([0x22, 0xed, 0xa0, 0xbd, 0x22])],
  ['an overlong character', Buffer.from([0x22, 0xc1, 0xa1, 0x22])],
  ['a character cut short', Buffer.from([0x22, 0xe4, 0xbd, 0x22])],
  ['a byte order mark', Buffer.from('\ufeff"a"')],
  ['a byte 0', Buffer.from('"a\u0000b"')],
  ['a byte 0 behind the text', Buffer.from('"a"\u0000')],
  ['nothing', Buffer.alloc(0)],
  ['two values', Buffer.from('1,2')],
  ['half a value', Buffer.from('{"a":[1')],
]

describe.each(FORGED)('%s under a right checksum', (_, bytes) => {
  it.each([false, true])('is CORRUPT, and so it is backwards and for a check (reverse: %s)', async (reverse) => {
    const events = notes(12)
    await withStorage((storage) => store(storage, 's', [events]))
    forge(FORGED_SEQ, bytes)
    await withStorage(async (storage) => {
      const { found, error } = await readUntilDamage(storage, { reverse })
      expect(error).toEqual(['CORRUPT', FORGED_SEQ])
      expect(found).toEqual(reverse ? events.slice(FORGED_SEQ + 1).toReversed() : events.slice(0, FORGED_SEQ))
      const { problems, events: sound } = await storage.check('s')
      expect([sound, problems.map(({ code, seq }) => [code, seq])]).toEqual([11, [['CORRUPT', FORGED_SEQ]]])
    })
  })
})

it('a forged row passes where its bytes are a text of JSON', async () => {
  await withStorage((storage) => store(storage, 's', [notes(12)]))
  forge(FORGED_SEQ, Buffer.from(' "dü" '))
  await withStorage(async (storage) => {
    expect((await readAll(storage, 's'))[FORGED_SEQ]).toEqual(note(FORGED_SEQ, 'dü'))
  })
})

it('a checksum over what bytes that are no UTF-8 would be read as does not make them a text', async () => {
  await withStorage((storage) => store(storage, 's', [notes(12)]))
  forge(FORGED_SEQ, Buffer.from([0x22, 0x80, 0x22]), '"\ufffd"')
  await withStorage(async (storage) => {
    expect((await readUntilDamage(storage, {})).error).toEqual(['CORRUPT', FORGED_SEQ])
  })
})

it('chunks whose content is elided are CORRUPT when it is no UTF-8, and those before them are given', async () => {
  const events = [chunk(0, 'a'), note(1), chunk(2, 'b'), note(3)]
  await withStorage((storage) => store(storage, 's', [events]))
  const text = Buffer.from(JSON.stringify(chunk(2, 'b').data))
  text[text.length - 3] = 0xff
  forge(2, text)
  await withStorage(async (storage) => {
    const { found, error } = await readUntilDamage(storage, { elideChunks: true })
    expect(error).toEqual(['CORRUPT', 2])
    expect(found).toEqual([note(1)])
  })
})

it('a BLOB of the very bytes is CORRUPT', async () => {
  await withStorage((storage) => store(storage, 's', [notes(12)]))
  const schema = `UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'record'`
  const change = (...values: readonly string[]): void => {
    using raw = new RawDatabase(file)
    raw.allowAnything()
    expect(raw.run(schema, ...values)).toBe(1)
  }
  change(') STRICT', ') /***/')
  {
    using raw = new RawDatabase(file)
    raw.run('UPDATE record SET data = CAST(data AS BLOB) WHERE key = ?', 2 ** 32 + FORGED_SEQ)
    expect(raw.value('SELECT typeof(data) FROM record WHERE key = ?', 2 ** 32 + FORGED_SEQ)).toBe('blob')
  }
  change(') /***/', ') STRICT')
  await withStorage(async (storage) => {
    const { found, error } = await readUntilDamage(storage, {})
    expect([error, found]).toEqual([['CORRUPT', FORGED_SEQ], notes(FORGED_SEQ)])
  })
})

/** What came before the damage, without elided chunks; code and seq of the damage. */
async function readUntilDamage(
  storage: SessionStorage,
  range: { readonly reverse?: boolean; readonly elideChunks?: boolean },
): Promise<{ readonly found: readonly AnySessionEvent[]; readonly error: readonly unknown[] }> {
  const reader = await storage.openReader('s')
  const found: AnySessionEvent[] = []
  const error = await errorOf(async () => {
    for await (const page of reader.read(range)) for (const record of page) if (!isElided(record)) found.push(record)
  })
  await reader.close()
  if (!isSessionError(error)) throw error
  return { found, error: [error.code, error.seq] }
}
