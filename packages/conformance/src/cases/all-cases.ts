import type { ConformanceCase } from '../conformance-case.ts'
import { APPEND_CASES } from './append.ts'
import { APPEND_REGISTERED_CASES } from './append-registered.ts'
import { CAP_CASES } from './cap.ts'
import { CAP_LOWER_LEVEL_CASES } from './cap-lower-levels.ts'
import { CHECKPOINT_CASES } from './checkpoint.ts'
import { CLOSE_CASES } from './close.ts'
import { CONC_CASES } from './conc.ts'
import { CONC_PROCESS_CASES } from './conc-processes.ts'
import { CORRUPT_CASES } from './corrupt.ts'
import { CORRUPT_REPAIR_CASES } from './corrupt-repair.ts'
import { CORRUPT_TORN_CASES } from './corrupt-torn.ts'
import { CORRUPT_WRITING_CASES } from './corrupt-writing.ts'
import { CRASH_CASES } from './crash.ts'
import { CRASH_INSIDE_CASES } from './crash-inside.ts'
import { DATA_CASES } from './data.ts'
import { DELETE_CASES } from './delete.ts'
import { DURABLE_CASES } from './durable.ts'
import { ERR_CASES } from './err.ts'
import { FORK_CASES } from './fork.ts'
import { GRAMMAR_CASES } from './grammar.ts'
import { GRAMMAR_IMPORT_CASES } from './grammar-import.ts'
import { ID_CASES } from './id.ts'
import { LIFE_CASES } from './life.ts'
import { DELETE_UNFLUSHED_CASES, LIFE_UNFLUSHED_CASES } from './life-unflushed.ts'
import { LIFE_WHOLE_LOG_CASES } from './life-whole-log.ts'
import { LIST_CASES } from './list.ts'
import { LIST_ENTRIES_CASES } from './list-entries.ts'
import { MODEL_CASES } from './model.ts'
import { MODEL_CRASH_CASES } from './model-crash.ts'
import { READ_CASES } from './read.ts'
import { READ_ALONGSIDE_CASES } from './read-alongside.ts'
import { RECOVER_CASES } from './recover.ts'
import { RECOVER_STATE_CASES } from './recover-state.ts'
import { SEC_CASES } from './sec.ts'
import { VERSION_CASES } from './version.ts'

/** Every case, in the order of the contract. */
export const ALL_CASES: readonly ConformanceCase[] = [
  ...LIFE_CASES,
  ...LIFE_WHOLE_LOG_CASES,
  ...LIFE_UNFLUSHED_CASES,
  ...APPEND_CASES,
  ...APPEND_REGISTERED_CASES,
  ...GRAMMAR_CASES,
  ...GRAMMAR_IMPORT_CASES,
  ...DURABLE_CASES,
  ...READ_CASES,
  ...READ_ALONGSIDE_CASES,
  ...LIST_CASES,
  ...LIST_ENTRIES_CASES,
  ...ID_CASES,
  ...DATA_CASES,
  ...CHECKPOINT_CASES,
  ...CLOSE_CASES,
  ...RECOVER_CASES,
  ...RECOVER_STATE_CASES,
  ...FORK_CASES,
  ...DELETE_CASES,
  ...DELETE_UNFLUSHED_CASES,
  ...CONC_CASES,
  ...CONC_PROCESS_CASES,
  ...CRASH_CASES,
  ...CRASH_INSIDE_CASES,
  ...CORRUPT_CASES,
  ...CORRUPT_WRITING_CASES,
  ...CORRUPT_TORN_CASES,
  ...CORRUPT_REPAIR_CASES,
  ...VERSION_CASES,
  ...SEC_CASES,
  ...ERR_CASES,
  ...CAP_CASES,
  ...CAP_LOWER_LEVEL_CASES,
  ...MODEL_CASES,
  ...MODEL_CRASH_CASES,
]
