import type { SessionEvent, SessionPersistence } from '@session-persistence/core'
import { messageFormatNamed } from './message-formats.ts'

/** Events looked through from the start of a log: a prompt stands among the first ones, or the log has none. */
const eventsSearched = 256

const charactersKept = 200

/**
 * The beginning of what a person first asked for, to know an untitled session by: the first line, at most 200 characters
 * of it. Where no person asked, what the harness itself said first. Empty when the log has no such message, and when it
 * cannot be read: a listing shows what it can.
 */
export async function firstPrompt(persistence: SessionPersistence, id: string, signal: AbortSignal): Promise<string> {
  try {
    const { header } = await persistence.exportLog(id, { signal })
    const format = messageFormatNamed(header.messageFormat)
    if (format === undefined) return ''
    let other = ''
    for await (const event of persistence.read(id, { to: eventsSearched - 1, signal })) {
      const { type, data } = event as SessionEvent
      if (type !== 'user/message') continue
      const line = format.text(data.message).trim().split('\n', 1)[0]?.slice(0, charactersKept) ?? ''
      if (line !== '' && (data.source === undefined || data.source.kind === 'human')) return line
      if (other === '') other = line
    }
    return other
  } catch {
    signal.throwIfAborted()
    return ''
  }
}
