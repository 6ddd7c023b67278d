import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { AnySessionEvent, LogSource } from '@session-persistence/core'
import type { CaseContext, ConformanceCase } from '../conformance-case.ts'
import { casesOf } from '../define-case.ts'
import { expectEqual, expectRefusal, expectThat, rejectionOf } from '../expectation.ts'
import { type HoldingFile, storeInFileAtRest } from '../holding-file.ts'
import { locateStoredLog } from '../located-log.ts'
import { appendUntyped, storedEvents, storeSession } from '../stored-events.ts'
import { turnEvents } from '../workload.ts'

const SECRET = 'hunter2-is-the-secret'

export const SEC_CASES: readonly ConformanceCase[] = casesOf('SEC', {
  1: {
    title: 'No error message holds payload.',
    why: 'Messages end in logs and bug reports; payloads hold secrets.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      session.append('turn/start', { turn: 1 })
      const refused: readonly (readonly [string, unknown])[] = [
        ['user/message', { turn: 1, message: { [SECRET]: SECRET, bad: undefined } }],
        ['user/message', { turn: 1, message: SECRET, step: SECRET }],
        ['turn/start', { turn: 5, trigger: SECRET }],
        ['tool/result', { turn: 1, callId: 'never', message: SECRET }],
        ['assistant/message', { turn: 1, message: SECRET }],
        ['acme/unknown', { secret: SECRET }],
        ['session/title', { title: 7, other: SECRET }],
      ]
      for (const [type, data] of refused) {
        const error = await rejectionOf(() => appendUntyped(session, type, data), `a refused ${type}`)
        expectThat(!wordsOf(error).includes(SECRET), `the error about ${type} holds the payload: ${wordsOf(error)}`)
      }
      session.append('user/message', { turn: 1, message: SECRET })
      session.append('step/start', { turn: 1, step: 1 })
      const different = { messages: [`${SECRET} changed`] }
      const error = await expectRefusal(
        () => session.checkpoint(different),
        'INVARIANT',
        'a checkpoint of something else',
      )
      expectThat(!wordsOf(error).includes(SECRET), 'the error of the checkpoint holds the payload')
    },
  },
  2: {
    title: 'A hostile log that is imported or read changes no prototype.',
    why: 'Logs come from other machines.',
    run: async (context) => {
      const persistence = await context.open()
      const hostile = JSON.parse(`{"role":"user","content":"x","__proto__":{"polluted":true}}`) as unknown
      const events: AnySessionEvent[] = [
        { seq: 0, time: 1, type: 'user/message', data: { message: hostile } },
        { seq: 1, time: 1, type: 'session/labels', data: JSON.parse('{"labels":{"__proto__":"polluted"}}') as unknown },
      ]
      async function* pages(): AsyncGenerator<readonly AnySessionEvent[]> {
        yield events
      }
      const header = { version: 1, id: '__proto__', createdAt: 1, messageFormat: 'plain' }
      const source: LogSource = { header, events: pages() }
      await persistence.importLog(source)
      const view = await persistence.inspect('__proto__')
      expectEqual(view.messages(), [hostile], 'messages')
      await (await persistence.resume('__proto__')).close()
      await persistence.list()
      expectThat(!('polluted' in {}), 'Object.prototype was changed')
      expectEqual(Object.getPrototypeOf(view.summary().labels) === Object.prototype, true, 'prototype of the labels')
    },
  },
  3: {
    title: 'Files are readable by their owner only (0600), directories too (0700), whatever the umask.',
    why: 'Conversations hold secrets, and machines are shared.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const umask = process.umask(0)
      try {
        const persistence = await context.open()
        const session = await persistence.create({ id: 's' })
        session.append('user/message', { message: SECRET })
        await session.flush()
        await expectPrivate(await context.medium.files(), context.medium.location)
        await session.close()
        await (await persistence.fork('s', { id: 'child' })).close()
        await persistence.close()
        await expectPrivate(await context.medium.files(), context.medium.location)
      } finally {
        process.umask(umask)
      }
    },
  },
  4: {
    title:
      'A session file or directory that is a symbolic link is refused, and what it points to is neither shown nor changed.',
    why: 'A planted link redirects reads and writes.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const outside = mkdtempSync(join(tmpdir(), 'conformance-outside-'))
      try {
        const { target, ids } = await linkOut(context, outside)
        const before = [readFileSync(target, 'latin1'), String(lstatSync(target).mtimeMs)]
        const codes = ['PERMISSION_DENIED', 'CORRUPT', 'NOT_FOUND'] as const
        for (const id of ids) {
          // A store that is one file is refused when it is opened.
          const reading = async (): Promise<unknown> => storedEvents(await context.open(), id)
          await expectRefusal(reading, codes, `read through a linked ${id}`)
          const resuming = async (): Promise<unknown> => (await context.open()).resume(id)
          await expectRefusal(resuming, codes, `resume through a linked ${id}`)
        }
        expectEqual(
          existsSync(target) ? [readFileSync(target, 'latin1'), String(lstatSync(target).mtimeMs)] : 'gone',
          before,
          'what the link points to',
        )
      } finally {
        rmSync(outside, { recursive: true, force: true })
      }
    },
  },
  5: {
    title: 'Files that are no sessions, and leftovers with other names, are ignored.',
    why: 'Synchronising tools leave placeholders and conflicted copies.',
    needs: { tier: 'medium' },
    run: async (context) => {
      const { path, events } = await storeInFile(context, 's')
      const persistence = await context.open()
      const before = (await persistence.list()).sessions
      await persistence.close()
      const beside = [join(dirname(path), `${basename(path)} (conflicted copy)`), join(dirname(path), 'notes.txt')]
      if (context.medium.location !== undefined) beside.push(join(context.medium.location, 'README.txt'))
      for (const stray of beside) writeFileSync(stray, 'not of this store')
      context.note(`the kit: ${beside.map((stray) => basename(stray)).join(', ')} put beside ${basename(path)}`)
      const again = await context.open()
      expectEqual((await again.list()).sessions, before, 'list')
      expectEqual(await storedEvents(again, 's'), events, 'events')
      await (await again.resume('s')).close()
    },
  },
  6: {
    title: 'Many hostile names and values at once end in typed refusals or exact storage, never in a crash.',
    why: 'The first thing that a store meets in the wild is input that nobody meant.',
    run: async (context) => {
      const persistence = await context.open()
      const session = await persistence.create({ id: 's' })
      const hostile: unknown[] = [
        null,
        7,
        'text',
        [],
        { turn: '1' },
        { turn: {} },
        { message: () => 1 },
        { __proto__: null },
      ]
      let appended = 0
      for (const type of [
        'turn/start',
        'user/message',
        'tool/result',
        'step/end',
        'request/header',
        '',
        '__proto__',
        'a/b/c',
      ]) {
        for (const data of hostile) {
          try {
            appendUntyped(session, type, data)
            appended += 1
          } catch (error) {
            const typed = error instanceof Error && error.name === 'SessionError'
            expectThat(typed, `appending a hostile ${type} ended in ${String(error)}`)
          }
        }
      }
      expectEqual(session.nextSeq, appended, 'nextSeq')
      await session.close()
      const stored = appended === 0 ? [] : await storedEvents(persistence, 's')
      expectEqual(stored.length, appended, 'events stored')
      await storeSession(persistence, 'other', [turnEvents(1)])
    },
  },
})

/** A stored session and its file: its own, or the one that holds all. */
async function storeInFile(context: CaseContext, id: string): Promise<HoldingFile> {
  if (context.medium.records !== undefined) return storeInFileAtRest(context, id)
  const persistence = await context.open()
  const { path, events } = await locateStoredLog(context, persistence, id, [turnEvents(1), turnEvents(2)])
  await persistence.close()
  return path === undefined ? context.skip('no file of this medium holds the session') : { path, events }
}

/** Moves a session's file out, and another's directory where it has one of its own; links stand in their places. */
async function linkOut(
  context: CaseContext,
  outside: string,
): Promise<{ readonly target: string; readonly ids: readonly string[] }> {
  const file = await storeInFile(context, 'file')
  const ids = ['file']
  if (context.medium.records === undefined) {
    const directory = await storeInFile(context, 'directory')
    if (dirname(file.path) !== dirname(directory.path)) {
      const moved = join(outside, 'session')
      renameSync(dirname(directory.path), moved)
      symlinkSync(moved, dirname(directory.path))
      ids.push('directory')
    }
  }
  const target = join(outside, 'log')
  renameSync(file.path, target)
  symlinkSync(target, file.path)
  context.note(`the kit: ${basename(file.path)} of session "file" moved out of the medium, a link in its place`)
  return { target, ids }
}

/** Message and enumerable facts of an error and its causes. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : wordsOf(error.cause)
  return `${error.message} ${JSON.stringify({ ...error, path: undefined, cause: undefined })} ${cause}`
}

async function expectPrivate(files: readonly string[], location: string | undefined): Promise<void> {
  for (const path of files) {
    const mode = lstatSync(path).mode & 0o777
    expectThat(mode === 0o600, `${path} has mode ${mode.toString(8)}`)
    for (let directory = dirname(path); location !== undefined && directory.startsWith(location); ) {
      const directoryMode = lstatSync(directory).mode & 0o777
      expectThat(directoryMode === 0o700, `${directory} has mode ${directoryMode.toString(8)}`)
      if (directory === location) break
      directory = dirname(directory)
    }
  }
}
