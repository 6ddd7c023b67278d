// Process A of a walk-through: appends the events it is given, tells of each receipt, and waits to be killed.
// Arguments: location, session id, JSON of [{ type, data }].
import { writeSync } from 'node:fs'
import { openPersistence } from '../../dist/index.js'

const [location, id, events] = process.argv.slice(2)
const persistence = await openPersistence(location)
const session = await persistence.create({ id })
for (const { type, data } of JSON.parse(events)) {
  session.append(type, data)
  writeSync(1, `${JSON.stringify(await session.flush())}\n`)
}
writeSync(1, 'done\n')
setInterval(() => undefined, 60_000)
