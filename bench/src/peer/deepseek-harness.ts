/** DeepSeek Harness's JSONL backend, through the methods that its own harness calls. */
import path from 'node:path'
import { HarnessEvents } from './harness-events.ts'
import type { OpenPeer } from './peer.ts'

/** What of its packages is used. */
interface HarnessPackages {
  readonly Context: new () => {
    plugin(plugin: unknown, config?: object): Promise<unknown>
    readonly sessionPersistence: {
      create(header: object): Promise<void>
      append(id: string, events: readonly object[]): Promise<void>
      load(id: string): Promise<{ readonly events: readonly unknown[] }>
    }
    readonly fiber: { dispose(): Promise<unknown> }
  }
  readonly SessionStore: unknown
  readonly JsonlSessionPersistence: unknown
}

const ID = 'bench'

/** `load` is the road that its resume takes: read, decode, check, close what is open. */
export function openDeepSeekHarness(compression: 'none' | 'zstd'): OpenPeer {
  return async (directory, load) => {
    const { Context } = (await load('@deepseek-ai/cordis')) as HarnessPackages
    const { SessionStore } = (await load('@deepseek-ai/dsh-session')) as HarnessPackages
    const { JsonlSessionPersistence } = (await load('@deepseek-ai/dsh-session-persistence-jsonl')) as HarnessPackages
    const context = new Context()
    await context.plugin(SessionStore)
    await context.plugin(JsonlSessionPersistence, { root: path.join(directory, 'sessions'), compression })
    const { sessionPersistence } = context
    const translated = new HarnessEvents()
    let created = false
    return {
      async append(events) {
        if (!created)
          await sessionPersistence.create({ version: 0, id: ID, createdAt: 1, cwd: '/', delegationDepth: 0 })
        created = true
        await sessionPersistence.append(
          ID,
          events.map((event) => translated.next(event)),
        )
      },
      async replay() {
        return (await sessionPersistence.load(ID)).events.length
      },
      async close() {
        await context.fiber.dispose()
      },
    }
  }
}
