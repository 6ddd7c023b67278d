import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openPersistence, type Session } from 'session-persistence'

export interface TemporaryRoot extends AsyncDisposable {
  readonly directory: string
  /** An empty store, `directory`/sessions. */
  readonly root: string
}

export async function temporaryRoot(): Promise<TemporaryRoot> {
  const directory = await mkdtemp(join(tmpdir(), 'session-persistence-cli-'))
  return {
    directory,
    root: join(directory, 'sessions'),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Stores one session in the plain JSONL store at `root`, and closes it. */
export function store(root: string, id: string, write: (session: Session) => void | Promise<void>): Promise<void> {
  return storeAt(`jsonl:${root}`, id, write)
}

/** The same at any location. */
export async function storeAt(
  location: string,
  id: string,
  write: (session: Session) => void | Promise<void>,
): Promise<void> {
  await using persistence = await openPersistence(location)
  const session = await persistence.create({ id, cwd: '/project', labels: { team: 'red' } })
  await write(session)
  await session.close()
}

/** Two turns; the second one has a tool call, and stays open when `open`. */
export async function twoTurns(session: Session, open = false): Promise<void> {
  session.append('request/header', { model: 'model-1', system: 'Be brief.' })
  session.append('turn/start', { turn: 1 })
  session.append('user/message', { turn: 1, message: { role: 'user', content: 'What is in the box?' } })
  session.append('assistant/message', { turn: 1, message: { role: 'assistant', content: 'A cat.' }, toolCalls: [] })
  await session.closeTurn({ reason: { kind: 'completed' } })
  session.append('turn/start', { turn: 2 })
  session.append('user/message', { turn: 2, message: { role: 'user', content: 'Look again.' } })
  const call = { callId: 'call-1', name: 'look', arguments: { where: 'box' } }
  session.append('assistant/message', {
    turn: 2,
    message: { role: 'assistant', content: 'Looking.' },
    toolCalls: [call],
  })
  await session.beginCall({ turn: 2, ...call, effect: 'side-effect' })
  if (open) return
  session.append('tool/result', { turn: 2, callId: 'call-1', message: { role: 'tool', content: 'A dog.' } })
  await session.closeTurn({ reason: { kind: 'completed' } })
}

/** Every file below a directory with its content and time of change, to prove that nothing was written. */
export async function contentOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const content = new Map<string, string>()
  for (const name of (await readdir(directory, { recursive: true })).sort()) {
    const path = join(directory, name)
    const facts = await stat(path)
    // Large files are known by their size and time: nobody reads a gigabyte of zeros to see that it is there.
    const bytes = facts.isFile() && facts.size < 1e6 ? (await readFile(path)).toString('base64') : facts.size.toString()
    content.set(name, facts.isDirectory() ? 'directory' : `${facts.mtimeMs} ${bytes}`)
  }
  return content
}
