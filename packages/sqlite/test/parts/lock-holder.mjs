// A process of another program that holds the database: begins a transaction, says `held`, and keeps it until it dies.
// Arguments: the file, and how the transaction begins (IMMEDIATE, EXCLUSIVE).
import { createRequire } from 'node:module'

const [file, how] = process.argv.slice(2)
const Database = createRequire(import.meta.url)('better-sqlite3')
const database = new Database(file)
database.exec(`BEGIN ${how}`)
process.stdout.write('held\n')
setInterval(() => database.inTransaction, 60_000)
