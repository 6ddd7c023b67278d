/** A connection beside the backend's own: what another program, or damage, does to a database. */
import { type DriverConnection, loadDriver, type SqlValue } from '../../src/driver.ts'

export class RawDatabase implements Disposable {
  readonly #connection: DriverConnection

  constructor(file: string) {
    this.#connection = loadDriver().open(file, 'write')
  }

  /** Lets statements change the schema's own table. */
  allowAnything(): void {
    ;(this.#connection as unknown as { unsafeMode(on: boolean): void }).unsafeMode(true)
    this.exec('PRAGMA writable_schema = ON')
  }

  exec(sql: string): void {
    this.#connection.exec(sql)
  }

  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#connection.prepare(sql).run(...values).changes
  }

  rows(sql: string, ...values: readonly SqlValue[]): readonly (readonly unknown[])[] {
    return this.#connection
      .prepare(sql)
      .raw()
      .all(...values) as readonly (readonly unknown[])[]
  }

  value(sql: string, ...values: readonly SqlValue[]): unknown {
    return this.rows(sql, ...values)[0]?.[0]
  }

  [Symbol.dispose](): void {
    this.#connection.close()
  }
}
