/** One way through the code that writes, on a stage. */
import type { FileBackend } from './file-backend.ts'
import type { Stage } from './stage.ts'

export interface Scenario {
  readonly name: string
  /** Of the session; default `session`. */
  readonly id?: string
  fits?(backend: FileBackend): boolean
  run(stage: Stage): Promise<void>
}
