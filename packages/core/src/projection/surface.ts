import type { SurfaceType } from '../event/vocabulary.ts'

/** One live message. */
export interface SurfaceEntry {
  readonly seq: number
  readonly type: SurfaceType
  readonly message: unknown
}
