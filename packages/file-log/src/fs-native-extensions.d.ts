/** The part of the package that is used here; it ships no types of its own. */
declare module 'fs-native-extensions' {
  /** True when the lock was granted, false when another file description holds it. */
  export function tryLock(fd: number, offset?: number, length?: number): boolean
}
