/** What strace writes, as system calls: interrupted ones joined, strings decoded. */

export interface Syscall {
  /** Number of the thread. */
  readonly thread: string
  readonly name: string
  readonly args: readonly string[]
  /** Undefined where it never returned. */
  readonly result: number | undefined
  /** Symbolic error, where it failed. */
  readonly error: string | undefined
  readonly injected: boolean
}

/** In order of their ends: only then has a call done what it does. */
export function* parseTrace(text: string): Generator<Syscall, void, undefined> {
  const unfinished = new Map<string, string>()
  for (const line of text.split('\n')) {
    const split = /^(\d+)\s+(.*)$/s.exec(line)
    if (split === null) continue
    const [, process = '', rest = ''] = split
    const begun = /^(.*?)\s*<unfinished \.\.\.>$/s.exec(rest)
    if (begun !== null) {
      unfinished.set(process, begun[1] ?? '')
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/s.exec(rest)
    const whole = resumed === null ? rest : `${unfinished.get(process) ?? ''}${resumed[1] ?? ''}`
    unfinished.delete(process)
    const call = parseCall(process, whole)
    if (call !== undefined) yield call
  }
}

function parseCall(thread: string, text: string): Syscall | undefined {
  const parsed = /^(\w+)\((.*)\)\s+= (\?|-?\d+)(.*)$/s.exec(text)
  if (parsed === null) return undefined
  const [, name = '', args = '', result = '', tail = ''] = parsed
  return {
    thread,
    name,
    args: splitArguments(args),
    result: result === '?' ? undefined : Number(result),
    error: /^\s+(E[A-Z0-9]+)/.exec(tail)?.[1],
    injected: tail.includes('(INJECTED)'),
  }
}

/** Strings hold no comma: strace was told to write every byte as a number. */
function splitArguments(args: string): readonly string[] {
  const found: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < args.length; at++) {
    const character = args[at]
    if (character === '[' || character === '{' || character === '(') depth++
    else if (character === ']' || character === '}' || character === ')') depth--
    else if (character === ',' && depth === 0) {
      found.push(args.slice(from, at).trim())
      from = at + 1
    }
  }
  found.push(args.slice(from).trim())
  return found
}

/** The bytes of a string argument. Throws where the trace holds only a part of them. */
export function decodeString(argument: string): Buffer {
  const quoted = /"((?:\\x[0-9a-f]{2})*)"(?!\.\.\.)/.exec(argument)
  if (quoted === null) throw new Error(`not a whole string in a trace: ${argument.slice(0, 40)}`)
  return Buffer.from((quoted[1] ?? '').replaceAll('\\x', ''), 'hex')
}

/** All the strings in an argument, one after the other: what `writev` writes. */
export function decodeStrings(argument: string): Buffer {
  return Buffer.concat((argument.match(/"(?:\\x[0-9a-f]{2})*"(?:\.\.\.)?/g) ?? []).map(decodeString))
}

export function descriptorOf(argument: string): number {
  return Number.parseInt(argument, 10)
}
