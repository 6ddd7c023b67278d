/** Durable agent sessions in one SQLite database. */
export { type SqliteAvailability, sqliteAvailability } from './availability.ts'
export {
  type BackupReport,
  backupSqlite,
  type CompactReport,
  compactSqlite,
  type MaintenanceOptions,
} from './maintenance.ts'
export { openSqlite, type SqliteOptions } from './open-sqlite.ts'
export { type SqliteStorageOptions, sqliteStorage } from './sqlite-storage.ts'
