import type { PeerName } from './peer.ts'

/** What the process that runs the peers is asked for; it answers with one JSON document. */
export type PeerTask = { readonly directory: string } & (
  | AppendTask
  | ReplayTask
  | { readonly kind: 'fill'; readonly peer: PeerName; readonly place: string; readonly events: number }
  | { readonly kind: 'memory'; readonly subject: Stored; readonly reads: boolean }
)

/** `directory` of every task is where the packages of the peers are. */
export interface AppendTask {
  readonly kind: 'append'
  /** Modules that export backends as `harness`. */
  readonly modules: readonly string[]
  readonly peers: readonly PeerName[]
  /** Empty, for the files of references and peers. */
  readonly place: string
  readonly eventsPerFlush: number
  readonly flushes: number
  readonly rounds: number
  readonly warmUp: number
}

export interface ReplayTask {
  readonly kind: 'replay'
  readonly subjects: readonly Stored[]
  readonly parseFile: string
  /** Times are those of so many events, whatever a stored log has. */
  readonly events: number
  readonly rounds: number
  readonly warmUp: number
}

/** One stored log: of a backend, or of a peer. */
export type Stored = { readonly name: string; readonly events: number } & (
  | { readonly module: string; readonly location: string; readonly id: string }
  | { readonly peer: PeerName; readonly place: string }
)

/** By the name of the case, in the order of the rounds: milliseconds. */
export type PeerSamples = { readonly [name: string]: readonly number[] }
