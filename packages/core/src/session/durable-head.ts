/** The receipt of the newest durable event, made while the medium is busy with that event and kept until the next one. */
import type { AnySessionEvent } from '../event/event.ts'
import { headReceipt } from '../event/event-json.ts'
import type { HeadReceipt } from '../event/head-receipt.ts'

interface Head {
  readonly event: AnySessionEvent | undefined
  readonly receipt: HeadReceipt
}

export class DurableHead {
  #head: Head
  #prepared: Head | undefined

  /** `receipt` is that of the log as it was opened; no event of this writer is durable yet. */
  constructor(receipt: HeadReceipt) {
    this.#head = { event: undefined, receipt }
  }

  /** Makes the receipt of an event that is being written. It counts once `receiptOf` is asked for that event. */
  prepare(event: AnySessionEvent): void {
    this.#prepared = headOf(event)
  }

  /** The receipt of the newest durable event of this writer, undefined before the first: the same one when asked again. */
  receiptOf(event: AnySessionEvent | undefined): HeadReceipt {
    if (event !== this.#head.event) {
      const prepared = this.#prepared
      this.#head = prepared !== undefined && prepared.event === event ? prepared : headOf(event)
      this.#prepared = undefined
    }
    return this.#head.receipt
  }
}

function headOf(event: AnySessionEvent | undefined): Head {
  return { event, receipt: headReceipt(event) }
}
