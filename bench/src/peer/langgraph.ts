/** LangGraph's SQLite checkpointer: each event a checkpoint of one thread, which is its unit of durability. */
import path from 'node:path'
import type { OpenPeer } from './peer.ts'

/** What of its package is used. */
interface LangGraphPackage {
  readonly SqliteSaver: {
    fromConnString(file: string): {
      readonly db: { close(): void }
      put(config: object, checkpoint: object, metadata: object): Promise<unknown>
      list(config: object): AsyncIterable<unknown>
    }
  }
}

const THREAD = { configurable: { thread_id: 'bench', checkpoint_ns: '' } }

export const openLangGraph: OpenPeer = async (directory, load) => {
  const { SqliteSaver } = (await load('@langchain/langgraph-checkpoint-sqlite')) as LangGraphPackage
  const saver = SqliteSaver.fromConnString(path.join(directory, 'checkpoints.db'))
  return {
    async append(events) {
      // It has no way to store several checkpoints in one transaction.
      for (const event of events) {
        const checkpoint = {
          v: 4,
          id: String(event.seq).padStart(12, '0'),
          ts: new Date(event.time).toISOString(),
          channel_values: { event },
          channel_versions: { event: event.seq },
          versions_seen: {},
        }
        await saver.put(THREAD, checkpoint, { source: 'loop', step: event.seq, parents: {} })
      }
    },
    async replay() {
      let events = 0
      for await (const _checkpoint of saver.list(THREAD)) events++
      return events
    },
    async close() {
      saver.db.close()
    },
  }
}
