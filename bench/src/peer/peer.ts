/** Other stores for the same work, from npm, measured beside the backends on the same events. */
import type { AnySessionEvent } from 'session-persistence'
import type { Reference } from '../report/row.ts'

/** One session in another store. */
export interface PeerLog {
  /** Resolves when the events are stored, as durably as the peer does it. */
  append(events: readonly AnySessionEvent[]): Promise<void>
  /** Reads everything back, and returns the number of events. */
  replay(): Promise<number>
  close(): Promise<void>
}

/** Opens a new or stored session below `directory`. `load` imports one of the peer's packages. */
export type OpenPeer = (directory: string, load: (name: string) => Promise<unknown>) => Promise<PeerLog>

/** A peer as it stands in a report. */
export interface Peer extends Reference {
  readonly name: PeerName
}

export type PeerName = 'D jsonl' | 'D zstd' | 'langgraph'

export const PEERS: readonly Peer[] = Object.freeze([
  {
    name: 'D jsonl',
    reference: 'D jsonl',
    description:
      'DeepSeek Harness, packed JSONL: synced each append, by the running process only (no lock between processes), no checksums, whole log in memory to read any of it',
  },
  {
    name: 'D zstd',
    reference: 'D zstd',
    description:
      'DeepSeek Harness, Zstandard JSONL: synced each append, no lock between processes, a checksum a frame, whole log in memory to read any of it',
  },
  {
    name: 'langgraph',
    reference: 'LangGraph',
    description:
      'LangGraph SqliteSaver, a checkpoint an event: not synced each append (WAL, synchronous normal), a power loss takes the newest; no event checks, no checksums; read at a fifth of the length and scaled up',
  },
])

/** What was looked at and has nothing of the kind. */
export const NO_PEERS: readonly { readonly name: string; readonly reason: string }[] = Object.freeze([
  {
    name: 'OpenAI Agents',
    reason:
      'its JavaScript packages (0.20.0) keep sessions in memory or with the provider; only its Python one has SQLite',
  },
])

/** Pinned: what is compared must not change with the day. */
export const PEER_PACKAGES: { readonly [name: string]: string } = Object.freeze({
  '@deepseek-ai/cordis': '4.0.4',
  '@deepseek-ai/cosmokit': '1.8.5',
  '@deepseek-ai/dsh-attachment': '0.1.0-rc.8',
  '@deepseek-ai/dsh-brand': '0.1.0-rc.8',
  '@deepseek-ai/dsh-invariants': '0.1.0-rc.8',
  '@deepseek-ai/dsh-llm': '0.1.0-rc.8',
  '@deepseek-ai/dsh-scope': '0.1.0-rc.8',
  '@deepseek-ai/dsh-session': '0.1.0-rc.8',
  '@deepseek-ai/dsh-session-persistence': '0.1.0-rc.8',
  '@deepseek-ai/dsh-session-persistence-jsonl': '0.1.0-rc.8',
  '@deepseek-ai/dsh-timeout': '0.1.0-rc.8',
  '@deepseek-ai/dsh-typert-protocol': '0.1.0-rc.8',
  '@deepseek-ai/schemastery': '3.18.4',
  '@langchain/core': '1.4.0',
  '@langchain/langgraph-checkpoint': '1.2.2',
  '@langchain/langgraph-checkpoint-sqlite': '1.0.4',
  'better-sqlite3': '12.11.1',
})

/** Runs all of it: D needs 22 or newer. As an npm package, where the running Node is another line. */
export const PEER_NODE = '24.22.3'
