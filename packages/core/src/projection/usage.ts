import type { Usage } from '../event/vocabulary.ts'

/** Token counts summed over all answers, and answers counted. */
export interface UsageState {
  readonly total: Required<Usage>
  readonly answers: number
}
