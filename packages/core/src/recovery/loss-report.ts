/** What a repair says is lost, in order, in words that every backend shares. */
import type { StorageRepair } from '../storage/session-storage.ts'

type Loss = StorageRepair['lost'][number]

export class LossReport {
  readonly lost: Loss[] = []
  /** Events in a row that cannot stay. */
  #misfits: { readonly from: number; to: number; readonly why: string } | undefined
  /** Whether an event is lost, and not only given up. */
  #isDamaged = false

  /** No record of these events was found. */
  gap(from: number, to: number, isTooMuch: boolean): void {
    this.endMisfits()
    this.#isDamaged = true
    const what = from === to ? 'an event is lost' : `${to - from + 1} events are lost`
    const then = isTooMuch
      ? ', more than is believable: the log ends before them'
      : from === to
        ? '; a stand-in takes its place'
        : '; stand-ins take their places'
    this.lost.push({ message: `${what}${then}`, from, to })
  }

  /** An event was found, and cannot stand where it stood. */
  misfit(seq: number, why: string): void {
    if (this.#misfits?.to === seq - 1) this.#misfits.to = seq
    else {
      this.endMisfits()
      this.#misfits = { from: seq, to: seq, why }
    }
  }

  endMisfits(): void {
    if (this.#misfits === undefined) return
    const { from, to, why } = this.#misfits
    this.#misfits = undefined
    const what = from === to ? 'an event that cannot' : `${to - from + 1} events that cannot`
    const before = this.#isDamaged ? 'what was lost' : 'what stands before'
    this.lost.push({ code: 'INVALID_EVENT', message: `${what} follow ${before} (${why})`, from, to })
  }

  /** Events were found behind more lost ones than are believed. */
  beyond(from: number, to: number): void {
    this.lost.push({ message: 'events that were found behind them are not kept: the original holds them', from, to })
  }

  /** An event was made in a lost place. */
  made(seq: number, type: string): void {
    this.#standIn(seq, `the stand-in is ${type}, without which what follows could not stay`)
  }

  /** The log ends with a stand-in. */
  ended(seq: number): void {
    this.#standIn(
      seq,
      'a stand-in ends the log: without it a call whose start may be lost would look as if it had never begun',
    )
  }

  #standIn(seq: number, message: string): void {
    this.lost.push({ message, from: seq, to: seq })
  }
}
