// Proves that frames made without a codec are standard frames that every decoder reads, that they are made only where they
// pay, and that an append of one small event asks no codec.
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SCALE } from '../../jsonl/test/parts/scale.ts'
import { walkFrame } from '../src/frame-walk.ts'
import { chooseCodec, type ZstdCodec } from '../src/index.ts'
import { mongodbZstd } from '../src/mongodb-zstd.ts'
import { nodeZstd } from '../src/node-zstd.ts'
import { smallFrame } from '../src/small-frame.ts'
import { encodeFrame } from '../src/zstd-frame.ts'

const codecs: readonly ZstdCodec[] = [mongodbZstd(), nodeZstd()].filter((codec) => codec !== undefined)
const DELTA = '{"seq":4711,"time":1750000000503,"type":"assistant/chunk","data":{"turn":1,"step":1,'
const ASCII = String.fromCharCode(...Array.from({ length: 95 }, (_, index) => 0x20 + index))

/** The frame of a content, which must have one. */
function frameOf(content: Buffer): Buffer {
  const frame = smallFrame(content)
  if (frame === undefined) throw new Error('the content has no small frame')
  expect(walkFrame(frame, 0)).toMatchObject({
    kind: 'frame',
    end: frame.length,
    header: { contentSize: content.length, checksum: false },
  })
  expect(frame.length).toBeLessThan(content.length + 9)
  return frame
}

describe.each(codecs)('$name decodes', (codec) => {
  it('every character at every place of a byte', async () => {
    for (const character of ASCII) {
      for (let before = 0; before < 8; before++) {
        const content = Buffer.from(`${DELTA.slice(0, 60 + before)}${character.repeat(3)}"""""""""""""""""""""""""\n`)
        const decoded = await codec.decompress(frameOf(content), content.length)
        expect(decoded.toString('latin1')).toBe(content.toString('latin1'))
      }
    }
  })

  it('any line of ASCII that got a frame', async () => {
    const text = fc.string({ unit: fc.constantFrom(...ASCII), maxLength: 210 - DELTA.length })
    await fc.assert(
      fc.asyncProperty(text, fc.boolean(), async (tail, delta) => {
        const content = Buffer.from(`${delta ? DELTA : ''}${tail}\n`)
        const frame = smallFrame(content)
        if (frame === undefined) return
        expect((await codec.decompress(frame, content.length)).equals(content)).toBe(true)
        const checked = await encodeFrame({ ...codec, compress: () => frame }, content)
        expect((await codec.decompress(checked, content.length)).equals(content)).toBe(true)
      }),
      { numRuns: 300 * SCALE },
    )
  })
})

it("the distribution's own tool decodes one", async () => {
  const directory = await mkdtemp(join(tmpdir(), 'small-frame-'))
  try {
    const content = Buffer.from(`${DELTA}"kind":"text","index":0,"text":" Hello"}}\n`)
    await writeFile(join(directory, 'x.zst'), frameOf(content))
    let decoded: Buffer | undefined
    try {
      decoded = execFileSync('zstd', ['-dc', join(directory, 'x.zst')])
    } catch (error) {
      // Not on every machine.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    expect(decoded?.equals(content) ?? true).toBe(true)
  } finally {
    await rm(directory, { recursive: true })
  }
})

it('nothing else gets one: more than a line, long ones, bytes beyond ASCII, what would not become smaller', () => {
  const longest = `${DELTA}${' '.repeat(209 - DELTA.length)}\n`
  expect(smallFrame(Buffer.from(longest))?.length).toBeLessThan(210)
  const others = [` ${longest}`, `${DELTA}\n{}\n`, `${DELTA}}}`, '', '\n', '{}\n', `${'Q'.repeat(40)}\n`]
  const bytes = [`${DELTA}é}}\n`, `${DELTA}\t}}\n`, `${DELTA}\x7f}}\n`]
  for (const content of [...others, ...bytes]) expect(smallFrame(Buffer.from(content))).toBeUndefined()
})

it('the default codec makes them at once, and as small as a library does within a few bytes', async () => {
  const chosen = chooseCodec()
  let own = 0
  let library = 0
  const kinds = [
    '"kind":"text","index":0,"text":" the"}}\n',
    '"kind":"reasoning","index":1,"text":" consider"}}\n',
    '"kind":"tool-arguments","index":2,"callId":"call_00007_hzf5ve05bt1txz1qnlavmleq","name":"read","text":"ath"}}\n',
  ]
  for (const kind of kinds) {
    const content = Buffer.from(DELTA + kind)
    const frame = chosen.compress(content)
    if (frame instanceof Promise) throw new Error('the codec makes them wait')
    own += (await encodeFrame({ ...chosen, compress: () => frame }, content)).length
    for (const codec of codecs.slice(0, 1)) library += (await encodeFrame(codec, content)).length
  }
  expect(own).toBeLessThan(1.08 * library)
})
