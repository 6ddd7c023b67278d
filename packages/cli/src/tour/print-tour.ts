/** The tour as text: calm sections of at most 80 columns. */
import type { AnySessionEvent, SurfaceEntry } from 'session-persistence'
import { byteSize, count, milliseconds, plural, significant } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import type { Style } from '../terminal/style.ts'
import { type Cell, cutTo, tableLines, wrapLines } from '../terminal/table.ts'
import { promptText, toolResults } from './anthropic-messages.ts'
import type { Branches, Continuation, Findings } from './continued-session.ts'
import type { InterruptedAgent } from './interrupted-agent.ts'
import type { BackendResult, Measurement, SampleLog } from './measure-backend.ts'

const indent = '   '
const columns = 80
const labelWidth = 14

export function heading(style: Style, number: number, title: string, note: string): string[] {
  const room = Math.max(1, columns - 3 - title.length - note.length)
  return ['', `${style.accent(String(number))}  ${style.bold(title)}${' '.repeat(room)}${style.dim(note)}`, '']
}

/** `label   text`, wrapped under itself. */
function fact(style: Style, label: string, text: string): string[] {
  const [first = '', ...rest] = wrapLines(safeLine(text), columns - indent.length - labelWidth)
  const hang = indent + ' '.repeat(labelWidth)
  return [`${indent}${style.dim(label.padEnd(labelWidth))}${first}`, ...rest.map((line) => hang + line)]
}

function proof(style: Style, holds: boolean, sentence: string): string {
  return `${indent}${holds ? style.good('✓') : style.bad('✗')} ${sentence}`
}

export function introduction(style: Style, root: string): string[] {
  return [
    style.bold('session-persistence tour'),
    ...wrapLines(
      'A harness works on a question and is killed in mid-turn. Another process finds everything that was acknowledged, carries on and branches off. Then a log is stored in every backend.',
      columns,
    ),
    '',
    style.dim('Everything happens below'),
    style.dim(safeLine(root)),
  ]
}

export function interruptedLines(style: Style, agent: InterruptedAgent, refusal: string): string[] {
  const { seq, crc } = agent.acknowledged
  return [
    ...fact(style, 'session', agent.id),
    ...fact(style, 'running', `${agent.running.join(' and ')}, when SIGKILL came`),
    ...fact(style, 'acknowledged', `up to seq ${seq}, receipt ${seq}:${crc}`),
    ...fact(style, 'meanwhile', `a second writer was refused. ${refusal}`),
  ]
}

export function findingsLines(
  style: Style,
  { events, chunks, bytes, surface, openCalls, lastRequest, check }: Findings,
): string[] {
  const calls: readonly (readonly (Cell | string)[])[] = openCalls.map(({ callId, name, effect, begunAt, tier }) => [
    safeLine(callId),
    safeLine(name),
    begunAt === undefined ? 'never begun' : `begun at seq ${begunAt}`,
    effect ?? 'effect unknown',
    { text: tier, style: style.bold },
  ])
  const callColumns = ['', '', '', '', ''].map((title) => ({ title }))
  return [
    ...fact(style, 'found', `${plural(events, 'event')}, ${count(chunks)} of them stream chunks, ${byteSize(bytes)}`),
    ...fact(style, 'checked', `${plural(check.problems.length, 'problem')} in ${plural(check.events, 'record')}`),
    proof(style, check.ok, 'the last receipt is in the log: nothing that A was promised is lost'),
    '',
    `${indent}${style.dim(`What the model saw at its last request${lastRequest === undefined ? '' : ` (seq ${lastRequest.seq})`}, and what came after it`)}`,
    ...surfaceLines(style, surface, lastRequest?.seq),
    '',
    `${indent}${style.dim('Calls without a result, and what may be done with them')}`,
    ...tableLines(callColumns, calls).map((line) => indent + line),
  ]
}

function surfaceLines(style: Style, surface: readonly SurfaceEntry[], lastRequest: number | undefined): string[] {
  const rows = surface.map(({ seq, type, message }): readonly (Cell | string)[] => [
    { text: String(seq), style: style.dim },
    { text: roles[type], style: style.dim },
    { text: messageLine(message), ...(lastRequest !== undefined && seq > lastRequest ? { style: style.bold } : {}) },
  ])
  const surfaceColumns = [{ title: '', align: 'right' as const }, { title: '' }, { title: '', flexible: true }]
  return tableLines(surfaceColumns, rows, { width: columns - indent.length }).map((line) => indent + line)
}

const roles: { readonly [type in SurfaceEntry['type']]: string } = {
  'user/message': 'user',
  'assistant/message': 'assistant',
  'tool/result': 'tool',
}

function messageLine(message: unknown): string {
  const text =
    promptText(message) ??
    toolResults(message)
      .map(({ output }) => output)
      .join(' ')
  if (text !== '') return safeLine(text)
  const blocks = typeof message === 'object' && message !== null && 'content' in message ? message.content : undefined
  if (!Array.isArray(blocks)) return safeJson(message)
  const parts = blocks.map((block) => (block?.type === 'text' ? block.text : `[${block?.name ?? block?.type}]`))
  return safeLine(parts.join(' '))
}

export function continuationLines(style: Style, { recovery, carriedOn, turn }: Continuation): string[] {
  const closed = recovery?.closed ?? []
  return [
    ...fact(
      style,
      'recovery',
      `${plural(recovery?.survived ?? 0, 'event')} survived, ${recovery?.torn === undefined ? 'no torn bytes' : `${byteSize(recovery.torn.bytes)} torn and kept aside`}, ${plural(closed.length, 'event')} added to close turn ${recovery?.openTurn?.turn ?? '?'}:`,
    ),
    ...closed.map(
      (event) => `${indent}${' '.repeat(labelWidth)}${cutTo(closingLine(event), columns - indent.length - labelWidth)}`,
    ),
    '',
    ...fact(style, 'user', carriedOn.prompt),
    ...fact(style, 'assistant', carriedOn.answer),
    ...fact(style, 'recorded', `turn 2 as seq ${turn.from} to ${turn.to}`),
  ]
}

function closingLine({ seq, type, data }: AnySessionEvent): string {
  const facts = typeof data === 'object' && data !== null ? data : {}
  const synthetic = 'synthetic' in facts ? (facts.synthetic as { readonly tier?: unknown }) : undefined
  const reason = 'reason' in facts ? (facts.reason as { readonly kind?: unknown }) : undefined
  const detail = synthetic?.tier ?? reason?.kind ?? ''
  const callId = 'callId' in facts ? `${safeLine(String(facts.callId))} ` : ''
  return `${seq}  ${type}  ${callId}${String(detail)}`.trimEnd()
}

export function branchLines(
  style: Style,
  { at, parent, child, parentExchange, childExchange, proofs }: Branches,
): string[] {
  return [
    ...fact(style, 'parent', parent),
    ...fact(style, 'child', `${child}, from seq ${at}`),
    '',
    ...fact(style, 'parent: user', parentExchange.prompt),
    ...fact(style, 'assistant', parentExchange.answer),
    ...fact(style, 'child: user', childExchange.prompt),
    ...fact(style, 'assistant', childExchange.answer),
    '',
    proof(style, proofs.differentIds, 'parent and child have different ids'),
    proof(style, proofs.equalPrefix, `events 0 to ${at} are equal in both, value for value`),
    proof(
      style,
      proofs.parentBytesUnchanged,
      'SHA-256 of every file of the parent: the same before and after the fork',
    ),
    proof(style, proofs.childBytesUnchanged, 'SHA-256 of every file of the child: untouched by the parent’s next turn'),
    proof(style, proofs.differentSuffix, 'after the fork each has its own history'),
  ]
}

/** `stored` is where the log came from, for the reader. */
export function sampleLines(style: Style, log: SampleLog, stored: string): string[] {
  const { events, jsonBytes } = log
  return fact(style, 'log', `${stored}: ${plural(events.length, 'event')}, ${byteSize(jsonBytes)} as JSON lines`)
}

export function backendLines(style: Style, results: readonly BackendResult[], jsonBytes: number): string[] {
  const measured = results.flatMap((result) => (result.kind === 'measured' ? [result.measurement] : []))
  const rows: readonly (readonly [string, (measurement: Measurement) => string])[] = [
    ['durable against', ({ durability }) => survives[durability]],
    ['append/s, 1 a flush', ({ appendEach }) => perSecond(appendEach)],
    ['append/s, 100 a flush', ({ appendHundred }) => perSecond(appendHundred)],
    ['store/s, whole log', ({ store }) => perSecond(store)],
    ['replay/s, whole log', ({ replay }) => perSecond(replay)],
    ['read the last 100', ({ lastHundredMs }) => milliseconds(lastHundredMs)],
    ['bytes stored', ({ bytes, durability }) => (durability === 'memory' ? 'none' : byteSize(bytes))],
    [
      'bytes, of JSON lines',
      ({ bytes, durability }) =>
        durability === 'memory' ? '–' : `${significant((100 * bytes) / Math.max(1, jsonBytes))} %`,
    ],
  ]
  const table = tableLines(
    [{ title: '' }, ...measured.map(({ backend }) => ({ title: backend, align: 'right' as const }))],
    rows.map(([name, show]) => [{ text: name, style: style.dim }, ...measured.map(show)]),
    { titleStyle: style.bold },
  )
  const unavailable = results.flatMap((result) =>
    result.kind === 'unavailable' ? fact(style, result.backend, result.reason) : [],
  )
  const legend = `${indent}${style.dim('Rates are events a second, each event durable as the first row says.')}`
  return [...table.map((line) => indent + line), ...unavailable, '', legend]
}

const survives = { memory: 'nothing', process: 'kill', power: 'power loss' } as const

function perSecond(rate: { readonly perSecond: number } | undefined): string {
  return rate === undefined ? 'not measured' : significant(rate.perSecond)
}
