// Process A of "parallel worlds": two turns of the loop, every accepted event and every receipt told, then it waits to
// be killed. Arguments: location, session id.
import { writeSync } from 'node:fs'
import { openPersistence } from '../../dist/index.js'
import { runTurn } from './small-loop.mjs'

const [location, id] = process.argv.slice(2)
const tell = (news) => writeSync(1, `${JSON.stringify(news)}\n`)
const persistence = await openPersistence(location)
const session = await persistence.create({ id })
session.subscribe((event) => tell({ event }))
for (const prompt of ['What is in the box?', 'And what is under it?']) {
  await runTurn(session, prompt)
  tell({ durable: await session.flush() })
}
writeSync(1, 'done\n')
setInterval(() => undefined, 60_000)
