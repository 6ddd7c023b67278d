/** What a suite has tried and found. */
import type { DiskImage } from '@session-persistence/conformance/crash-states'

export interface Violation {
  readonly scenario: string
  readonly seed: number
  /** Operations that were done. */
  readonly after: number
  readonly operation: string
  readonly problem: string
}

export class Evidence {
  readonly violations: Violation[] = []
  /** Ten are enough to understand one fault; a control needs but one. */
  readonly violationsMax: number
  /** Distinct states after which nothing more is tried. */
  readonly statesMax: number
  /** 48 bits of the hash of an image, to the promise that it was last held against. */
  readonly #images = new Map<number, object>()

  constructor({
    violationsMax = 10,
    statesMax = Number.POSITIVE_INFINITY,
  }: { readonly violationsMax?: number; readonly statesMax?: number } = {}) {
    this.violationsMax = violationsMax
    this.statesMax = statesMax
  }

  /** Distinct images. */
  get states(): number {
    return this.#images.size
  }

  get enough(): boolean {
    return this.violations.length >= this.violationsMax || this.states >= this.statesMax
  }

  /** True when the image was not held against this promise yet. */
  isNew(image: DiskImage, promise: object): boolean {
    const key = Number.parseInt(image.key.slice(0, 12), 16)
    if (this.#images.get(key) === promise) return false
    this.#images.set(key, promise)
    return true
  }
}
