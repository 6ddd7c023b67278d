/** A log as a person reads it: one block an event that says something, in the order of the log. */
import type { AnySessionEvent, MessageFormat, SessionEvent, SessionHeader } from '@session-persistence/core'
import { messageFormatNamed } from './message-formats.ts'
import type { Output } from './terminal/output.ts'
import { localTime } from './terminal/quantity.ts'
import { safeJson, safeLine, safeText } from './terminal/safe-text.ts'
import type { Style } from './terminal/style.ts'
import { cutTo } from './terminal/table.ts'

/** On a terminal: what a tool was called with, and a message without text, are told in a line. */
const argumentsWidth = 100

export class Transcript {
  readonly #style: Style
  readonly #format: MessageFormat | undefined
  readonly #header: SessionHeader
  readonly #cut: (line: string) => string

  /** Into a pipe or a file (`out` has no width) nothing is cut. */
  constructor({ style, width }: Pick<Output, 'style' | 'width'>, header: SessionHeader) {
    this.#style = style
    this.#cut = width === undefined ? (line) => line : (line) => cutTo(line, argumentsWidth)
    this.#header = header
    this.#format = messageFormatNamed(header.messageFormat)
  }

  heading(): string[] {
    const { id, createdAt, messageFormat, cwd, parent, seedLength, origin } = this.#header
    const facts = [
      ['session', id],
      ['created', localTime(createdAt)],
      ['format', messageFormat],
      ['directory', cwd],
      [
        'parent',
        parent === undefined
          ? undefined
          : `${parent}${seedLength === undefined ? '' : `, ${seedLength} events shared`}`,
      ],
      ['origin', origin],
    ] as const
    return facts.flatMap(([name, fact]) =>
      fact === undefined ? [] : [`${this.#style.dim(name.padEnd(11))}${safeLine(fact)}`],
    )
  }

  /** Lines for one event; none for those that only machines need, such as stream chunks. */
  lines(event: AnySessionEvent): string[] {
    const seq = this.#style.dim(String(event.seq).padStart(6))
    const pad = ' '.repeat(8)
    const block = (who: string, text: string): string[] => [
      `${seq}  ${this.#style.bold(who)}`,
      ...(text === '' ? [] : safeText(text).split('\n')).map((line) => `${pad}${line}`.trimEnd()),
    ]
    const note = (text: string): string[] => [`${seq}  ${this.#style.dim(safeLine(text))}`]
    const known = event as SessionEvent
    switch (known.type) {
      case 'turn/start':
        return ['', ...note(`── turn ${known.data.turn} · ${localTime(known.time)}`)]
      case 'turn/end':
        return note(`turn ${known.data.turn}: ${reasonText(known)}`)
      case 'user/message':
        return block(
          known.data.source === undefined ? 'user' : `user (${safeLine(known.data.source.kind)})`,
          this.#text(known.data.message),
        )
      case 'assistant/message': {
        const { message, toolCalls, interrupted } = known.data
        const text = toolCalls.length > 0 ? this.#ownText(message) : this.#text(message)
        return [
          ...block(interrupted ? 'assistant (interrupted)' : 'assistant', text),
          ...toolCalls.map(({ name, arguments: input }) =>
            this.#cut(`${pad}→ ${this.#style.accent(safeLine(name))} ${argumentsText(input)}`),
          ),
        ]
      }
      case 'tool/result': {
        const { synthetic, error, message } = known.data
        const state =
          synthetic !== undefined ? ` (no result: ${synthetic.tier})` : error !== undefined ? ' (failed)' : ''
        return block(`tool${state}`, this.#text(message))
      }
      case 'surface/remove':
        return note(`messages of seq ${known.data.start} to ${known.data.end} taken away`)
      case 'session/title':
        return note(`title: ${known.data.title}`)
      case 'session/forked':
        return note(`forked from ${known.data.parent} at seq ${known.data.at}`)
      case 'session/resumed':
        return note(`resumed · ${localTime(known.time)}`)
      case 'compaction/end':
        return note(`compaction ${known.data.outcome}`)
      case 'request/header':
        return note(`model: ${known.data.model}`)
      default:
        return []
    }
  }

  #ownText(message: unknown): string {
    return this.#format?.text(message) ?? ''
  }

  /** A message without text still is a message, and one of an unknown format is shown as it is. */
  #text(message: unknown): string {
    const text = this.#ownText(message)
    return text === '' ? this.#cut(safeJson(message)) : text
  }
}

/** Some harnesses keep arguments as the JSON text that the model wrote. */
function argumentsText(input: unknown): string {
  return typeof input === 'string' ? safeLine(input) : safeJson(input)
}

function reasonText({ data: { reason } }: SessionEvent<'turn/end'>): string {
  switch (reason.kind) {
    case 'failed':
      return `failed${reason.error.message === undefined ? '' : `: ${reason.error.message}`}`
    case 'cancelled':
      return `cancelled${reason.cause === undefined ? '' : `: ${reason.cause}`}`
    default:
      return reason.kind
  }
}
