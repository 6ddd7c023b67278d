// Writes docs/events.md and packages/core/schema/*.schema.json. Build the package first: this runs on dist/.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import * as core from '../dist/index.js'
import { eventsDocFiles } from './events-doc.mjs'

const root = new URL('../../../', import.meta.url)
for (const [path, text] of eventsDocFiles(core)) {
  const file = fileURLToPath(new URL(path, root))
  writeFileSync(file, text)
  console.log(file)
}
