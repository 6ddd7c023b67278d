/** The open files of a traced program, as far as they are watched. Threads of one process share them. */
import type { Inode } from '../crash/operation.ts'
import { descriptorOf } from './parse-trace.ts'

export interface OpenDescriptor {
  readonly inode: Inode
  position: number
  readonly appends: boolean
  readonly syncs: boolean
}

/** By the argument of a call: the number of a descriptor. */
export class Descriptors {
  readonly #open = new Map<number, OpenDescriptor>()

  add(descriptor: number, file: OpenDescriptor): void {
    this.#open.set(descriptor, file)
  }

  get(argument: string): OpenDescriptor | undefined {
    return this.#open.get(descriptorOf(argument))
  }

  /** Whether an argument is the number of a watched file, and nothing else. */
  has(argument: string): boolean {
    return /^\d+$/.test(argument) && this.#open.has(Number(argument))
  }

  seek(argument: string, position: number): void {
    const file = this.get(argument)
    if (file !== undefined) file.position = position
  }

  /** The copy shares the position. */
  copy(argument: string, descriptor: number): void {
    const file = this.get(argument)
    if (file === undefined) this.#open.delete(descriptor)
    else this.#open.set(descriptor, file)
  }

  close(argument: string): void {
    this.#open.delete(descriptorOf(argument))
  }
}
