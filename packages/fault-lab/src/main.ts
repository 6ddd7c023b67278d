/**
 * A writer process: does the {@link WriterTask} in its argument and says each step on its standard output, one write a
 * line, so that a trace of its system calls shows what was promised when.
 */
import { readSync, writeSync } from 'node:fs'
import {
  type AnySessionEvent,
  isSessionError,
  type SessionStorage,
  type StorageWriter,
} from '@session-persistence/core'
import { openReal } from './real/real-backend.ts'
import { taskBatches, type WriterTask, type WriterWord } from './real/writer-task.ts'
import { sampleHeader } from './scenario/sample-events.ts'
import { OTHER_WEAKNESSES, WEAKNESSES } from './scenario/weaknesses.ts'

const task = JSON.parse(process.argv[2] ?? '') as WriterTask

function say(word: WriterWord, value: string | number = ''): void {
  writeSync(1, `${word} ${value}\n`)
}

function codeOf(error: unknown): string {
  return isSessionError(error) ? error.code : `untyped:${String(error).replaceAll(/\s/g, '_')}`
}

async function stubbornly(step: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await step()
      return
    } catch (error) {
      say('fail', codeOf(error))
      if (tries >= (task.retries ?? 0)) throw error
      if (task.waits === true) readSync(0, Buffer.alloc(1))
    }
  }
}

/** Resumes what is there. */
async function openAgain(storage: SessionStorage): Promise<StorageWriter> {
  const writer = await storage.openWriter(task.id, { kind: 'resume' })
  if (writer.tail.torn !== undefined) await writer.discardTornTail()
  return writer
}

async function open(storage: SessionStorage): Promise<StorageWriter> {
  try {
    return await openAgain(storage)
  } catch (error) {
    if (!isSessionError(error, 'NOT_FOUND')) throw error
    return await storage.openWriter(task.id, { kind: 'create', header: sampleHeader(task.id) })
  }
}

async function append(writer: StorageWriter, batch: readonly AnySessionEvent[]): Promise<void> {
  const events = (batch.at(-1)?.seq ?? -1) + 1
  say('submit', events)
  await stubbornly(() => writer.append(batch))
  say('ack', events)
}

async function run(): Promise<void> {
  const weaken =
    task.weakness === undefined ? undefined : (WEAKNESSES[task.weakness] ?? OTHER_WEAKNESSES[task.weakness])
  const storage = openReal(task.backend, task.directory, weaken)
  let writer: StorageWriter | undefined
  const opened = async (how: (from: SessionStorage) => Promise<StorageWriter>): Promise<StorageWriter> => {
    let found: StorageWriter | undefined
    await stubbornly(async () => {
      found = await how(storage)
    })
    if (found === undefined) throw new Error('nothing was opened')
    return found
  }
  if (task.gated === true) {
    say('ready')
    readSync(0, Buffer.alloc(1))
  }
  try {
    if (task.neighbour === true) {
      const other = await storage.openWriter('neighbour', { kind: 'create', header: sampleHeader('neighbour') })
      await other.append(taskBatches({ seed: 7, batches: 1, bytes: 20 }).flat())
      await other.close()
    }
    writer = await opened(open)
    for (const [index, batch] of taskBatches(task).entries()) {
      const from = writer.tail.nextSeq
      if ((batch.at(-1)?.seq ?? -1) < from) continue
      await append(
        writer,
        batch.filter(({ seq }) => seq >= from),
      )
      if (task.reopenEvery === undefined || index % task.reopenEvery !== task.reopenEvery - 1) continue
      await writer.close()
      writer = await opened(openAgain)
    }
    if (task.neighbour === true) await storage.delete('neighbour')
    if (task.holds === true) {
      say('done')
      readSync(0, Buffer.alloc(1))
    }
  } finally {
    await writer?.close().catch((error: unknown) => say('fail', codeOf(error)))
    await storage.close()
  }
  if (task.holds !== true) say('done')
}

await run().catch((error: unknown) => {
  say('refused', codeOf(error))
  process.exitCode = 1
})
