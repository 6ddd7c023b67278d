/** A database without our code around it: for what an operator or an attacker does to one, and for controls. */
import { createRequire } from 'node:module'

interface RawStatement {
  raw(): RawStatement
  all(...values: readonly unknown[]): readonly unknown[]
}

interface RawConnection {
  exec(sql: string): void
  prepare(sql: string): RawStatement
  close(): void
}

/** The driver of the backend. */
const load = createRequire(import.meta.resolve('@session-persistence/sqlite'))

export class RawDatabase {
  readonly #connection: RawConnection

  constructor(file: string, { readonly = false }: { readonly readonly?: boolean } = {}) {
    const Database = load('better-sqlite3') as new (file: string, options: object) => RawConnection
    this.#connection = new Database(file, { readonly })
  }

  exec(sql: string): void {
    this.#connection.exec(sql)
  }

  all(sql: string): readonly unknown[] {
    return this.#connection.prepare(sql).raw().all()
  }

  close(): void {
    this.#connection.close()
  }
}
