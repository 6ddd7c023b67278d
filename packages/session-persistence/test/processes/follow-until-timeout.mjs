// Follows and reads with signals that nobody else holds, while garbage is collected all the time. Run with --expose-gc.
import { openPersistence } from 'session-persistence'

const [location] = process.argv.slice(2)
const persistence = await openPersistence(location)
const session = await persistence.create({ id: 'followed' })
session.append('session/title', { title: 'one' })
await session.flush()

async function follow() {
  let events = 0
  try {
    for await (const _ of persistence.follow('followed', { signal: AbortSignal.timeout(300) })) events++
    return 'ended'
  } catch (error) {
    return `${error.name} after ${events}`
  }
}

const collecting = setInterval(() => globalThis.gc(), 1)
process.stdout.write(`${await follow()}\n`)
clearInterval(collecting)
await session.close()
await persistence.close()
