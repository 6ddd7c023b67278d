import type { AnySessionEvent } from '../event/event.ts'
import { isEventOf } from '../event/event.ts'
import { LOST_EVENT_TYPE } from '../event/lost-event.ts'
import type { PartialBlock } from '../message-format/message-format.ts'

interface Block {
  readonly index: number
  readonly kind: PartialBlock['kind']
  /** Deltas not joined yet. Joining each at once would copy the text so far again and again. */
  readonly parts: string[]
}

/**
 * The text of the answer that is being streamed: that of the newest request only. A session feeds it every event;
 * recovery feeds it the events from `answerStart` on.
 */
export class PartialAnswer {
  readonly #blocks = new Map<string, Block>()
  /** The block of the newest delta: nearly always that of the next one as well. */
  #newest: Block | undefined
  #open = false

  accept(event: AnySessionEvent): void {
    if (isEventOf(event, 'assistant/chunk')) {
      const { data } = event
      if (this.#open && (data.kind === 'text' || data.kind === 'reasoning')) this.#add(data.kind, data.index, data.text)
      return
    }
    switch (event.type) {
      case 'request/sent':
      case 'step/start':
        this.#reset(true)
        return
      case 'assistant/message':
        // A replacement on the surface answers nothing.
        if (event.surface === undefined) this.#reset(false)
        return
      case 'step/end':
        this.#reset(false)
        return
      case LOST_EVENT_TYPE:
        // It may have been a delta: what was said ends here, and what comes behind is not what was said next.
        this.#open = false
    }
  }

  /** Blocks that have text, in block order. */
  blocks(): PartialBlock[] {
    const blocks = [...this.#blocks.values()].sort((a, b) => a.index - b.index)
    return blocks.map(({ kind, parts }) => ({ kind, text: parts.join('') })).filter(({ text }) => text !== '')
  }

  #add(kind: Block['kind'], index: number, text: string): void {
    const newest = this.#newest
    if (newest !== undefined && newest.index === index && newest.kind === kind) {
      newest.parts.push(text)
      return
    }
    // Some providers number text and reasoning apart, so the kind belongs to the key.
    const key = `${kind} ${index}`
    const block = this.#blocks.get(key)
    this.#newest = block ?? { index, kind, parts: [] }
    this.#newest.parts.push(text)
    if (block === undefined) this.#blocks.set(key, this.#newest)
  }

  #reset(open: boolean): void {
    this.#open = open
    this.#blocks.clear()
    this.#newest = undefined
  }
}
