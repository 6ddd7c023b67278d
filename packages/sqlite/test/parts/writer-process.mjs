// A process that appends notes to one session and says so, for tests that kill, starve or race it. Runs built code.
// Arguments: the file, the id, how many batches, events a batch, then any of `hold` (do not exit), `retry` (offer a
// failed batch again when a line comes in on stdin; without it, at once, up to 50 times), `delete` (journal mode).
import { createInterface } from 'node:readline'
import { sqliteStorage } from '../../dist/index.js'

const [file, id, batches, size, ...words] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const lines = createInterface({ input: process.stdin })
const told = lines[Symbol.asyncIterator]()

const storage = sqliteStorage({ file, journal: words.includes('delete') ? 'delete' : 'wal' })
const writer = await openWriter()
let seq = writer.tail.nextSeq
say({ kind: 'ready', seq })
for (let batch = 0; batch < Number(batches); batch++) {
  const events = Array.from({ length: Number(size) }, (_, index) => ({
    seq: seq + index,
    time: 1_700_000_000_000 + seq + index,
    type: 'acme/note',
    data: { text: `note ${seq + index}` },
    ignorable: true,
  }))
  await append(events)
  seq += events.length
  say({ kind: 'ack', seq })
}
if (words.includes('hold')) await new Promise((resolve) => setTimeout(resolve, 600_000))
await writer.close()
await storage.close()
say({ kind: 'closed', seq })
process.exit(0)

async function openWriter() {
  const header = { version: 1, id, createdAt: 1_700_000_000_000, messageFormat: 'plain' }
  try {
    return await storage.openWriter(id, { kind: 'resume' })
  } catch (error) {
    if (error.code !== 'NOT_FOUND') {
      say({ kind: 'refused', code: error.code })
      process.exit(0)
    }
    return await storage.openWriter(id, { kind: 'create', header })
  }
}

async function append(events) {
  for (let tries = 0; ; tries++) {
    try {
      return await writer.append(events)
    } catch (error) {
      say({ kind: 'failed', code: error.code, cause: error.cause?.code, tries })
      if (words.includes('retry')) await told.next()
      else if (tries === 50) throw error
    }
  }
}
