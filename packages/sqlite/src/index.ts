/** Durable agent sessions in one SQLite database. */
export { openSqlite, type SqliteOptions } from './open-sqlite.ts'
export { type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.ts'
