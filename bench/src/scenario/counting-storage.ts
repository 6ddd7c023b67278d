import type { SessionStorage, StorageWriter } from 'session-persistence'

/** What reached the port. Every append that resolves is one durable batch, which costs one sync. */
export interface PortCounts {
  appends: number
  events: number
}

/** A storage that counts what its writers are asked for. */
export function countingStorage(storage: SessionStorage): {
  readonly storage: SessionStorage
  readonly counts: PortCounts
} {
  const counts: PortCounts = { appends: 0, events: 0 }
  const counted = (writer: StorageWriter): StorageWriter =>
    new Proxy(writer, {
      get(target, key) {
        if (key === 'append') {
          return (events: Parameters<StorageWriter['append']>[0]) => {
            counts.appends++
            counts.events += events.length
            return target.append(events)
          }
        }
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  return {
    counts,
    storage: new Proxy(storage, {
      get(target, key) {
        if (key === 'openWriter') {
          return async (...given: Parameters<SessionStorage['openWriter']>) =>
            counted(await target.openWriter(...given))
        }
        const value: unknown = Reflect.get(target, key, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    }),
  }
}
