/**
 * Proof of the last durable event: its seq, and the unsalted CRC-32 (8 hex digits) of the UTF-8 bytes of its canonical
 * JSON. Independent of backend, framing and packing. Seq -1 stands for an empty log.
 */
export interface HeadReceipt {
  readonly seq: number
  readonly crc: string
}
