/** Changes to the bytes of a log that know its structure: lines, numbers, lengths, sectors. */
import type { Random } from '@session-persistence/conformance/crash-states'

type Mutation = (bytes: Buffer, random: Random) => Buffer

/** Starts of lines, or of anything that a line feed happens to stand before. */
function cuts(bytes: Buffer): readonly number[] {
  const found = [0]
  for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) found.push(at + 1)
  return found
}

function range(bytes: Buffer, random: Random): readonly [number, number] {
  const start = random.below(bytes.length)
  return [start, Math.min(bytes.length, start + 1 + random.below(random.pick([2, 16, 600])))]
}

/** A line, or what stands for one. */
function line(bytes: Buffer, random: Random): readonly [number, number] {
  const starts = cuts(bytes)
  const index = random.below(starts.length)
  return [starts[index] ?? 0, starts[index + 1] ?? bytes.length]
}

const HOSTILE = [
  Buffer.from('{"seq":0,"batch":0}\n'),
  Buffer.from('}{'),
  Buffer.from('\n\n'),
  Buffer.from('\ufeff'),
  Buffer.from('\r\n'),
  Buffer.from('{"__proto__":{"polluted":true}}\n'),
  Buffer.from('[['.repeat(300)),
  Buffer.from('1e999'),
  Buffer.from([0x28, 0xb5, 0x2f, 0xfd]),
  Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0xff, 0xff, 0xff, 0xff]),
  Buffer.alloc(512),
]

const MUTATIONS: readonly Mutation[] = [
  (bytes, random) => {
    const at = random.below(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8))
    return bytes
  },
  (bytes, random) => {
    bytes[random.below(bytes.length)] = random.next() & 0xff
    return bytes
  },
  (bytes, random) => bytes.subarray(0, random.below(bytes.length)),
  (bytes, random) => {
    const [start, end] = range(bytes, random)
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
  },
  (bytes, random) => {
    const [start, end] = range(bytes, random)
    return bytes.fill(0, start, end)
  },
  (bytes, random) => {
    const at = random.below(bytes.length + 1)
    return Buffer.concat([bytes.subarray(0, at), random.pick(HOSTILE), bytes.subarray(at)])
  },
  // A line removed, repeated, moved.
  (bytes, random) => {
    const [start, end] = line(bytes, random)
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
  },
  (bytes, random) => {
    const [start, end] = line(bytes, random)
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start, end), bytes.subarray(end)])
  },
  (bytes, random) => {
    const [start, end] = line(bytes, random)
    const rest = Buffer.concat([bytes.subarray(0, start), bytes.subarray(end)])
    const at = random.pick(cuts(rest))
    return Buffer.concat([rest.subarray(0, at), bytes.subarray(start, end), rest.subarray(at)])
  },
  // A number made another one.
  (bytes, random) => {
    const digits: number[] = []
    for (const [at, byte] of bytes.entries()) if (byte >= 0x30 && byte <= 0x39) digits.push(at)
    if (digits.length > 0) bytes[random.pick(digits)] = 0x30 + random.below(10)
    return bytes
  },
  // A length or position in binary made another one.
  (bytes, random) => {
    if (bytes.length < 8) return bytes
    const at = random.below(bytes.length - 8)
    bytes.writeUInt32LE(random.pick([0, 1, 0xffff_ffff, 0x7fff_ffff, bytes.length]), at)
    return bytes
  },
  (bytes, random) => Buffer.concat([bytes, random.bytes(random.below(40))]),
]

/** One to three changes to a copy. */
export function mutate(original: Buffer, random: Random): Buffer {
  let bytes: Buffer = Buffer.from(original)
  for (let count = 1 + random.below(3); count > 0 && bytes.length > 0; count--) {
    bytes = Buffer.from(random.pick(MUTATIONS)(bytes, random))
  }
  return bytes
}
