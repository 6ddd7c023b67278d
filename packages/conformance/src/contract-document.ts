import { type ConformanceCase, FAMILIES } from './conformance-case.ts'

/** What each family is about, for the document. */
const FAMILY_TITLES: { readonly [K in (typeof FAMILIES)[number]]: string } = {
  LIFE: 'Opening, closing and using after closing.',
  APPEND: 'What append promises about one event and about groups.',
  GRAMMAR: 'Which orders of events are accepted. One function decides, on append, resume and import alike.',
  DURABLE:
    'Three words: *accepted* (append returned), *written*, *durable* (flush resolved, at the level that the backend declares).',
  READ: 'Reading stored events back.',
  LIST: 'Finding sessions.',
  ID: 'Session ids are data, never paths.',
  DATA: 'What is read back equals what was appended.',
  CHECKPOINT: 'The two durability points before a model request and before a tool runs.',
  CLOSE: 'Closing what is open in a turn, while the session lives.',
  RECOVER: 'What a resume finds and does.',
  FORK: 'Self-contained children.',
  DELETE: 'Removal.',
  CONC: 'One writer, many readers.',
  CRASH: 'What the death of a process leaves.',
  CORRUPT: 'Damaged bytes.',
  VERSION: 'Formats and event types that this program does not know.',
  SEC: 'Hostile input, permissions and secrets.',
  ERR: 'The one error class.',
  CAP: 'What a backend declares about itself is checked against what is observed.',
  MODEL: 'Generated workloads, compared with a model and with the in-memory backend. The seed decides them.',
}

/** The text of `docs/contract.md`. The cases are the source, so that the two cannot differ. */
export function renderContract(cases: readonly ConformanceCase[]): string {
  const must = cases.filter(({ level }) => level === 'MUST').length
  const lines = [
    '# The contract',
    '',
    'Every clause that a backend keeps, by number. A number is the id of the conformance case that tries it, is never',
    'used again for another clause, and names the clause in failure messages.',
    '',
    `${cases.length} clauses: ${must} MUST, ${cases.length - must} SHOULD. The tier says what trying it takes: *logic* the interface`,
    'alone, *process* other processes that are killed, *medium* the stored bytes, cut, flipped, zeroed and swapped.',
    '',
    'This file is written from the cases of [`@session-persistence/conformance`](../packages/conformance/README.md).',
    '[conformance-kill-matrix.md](conformance-kill-matrix.md) shows for each MUST clause a wrong backend that it catches;',
    '[write-a-backend.md](write-a-backend.md) how to try a backend of your own.',
  ]
  for (const family of FAMILIES) {
    lines.push('', `## ${family}`, '', FAMILY_TITLES[family], '')
    for (const { id, level, title, why, since, needs } of cases.filter((one) => one.family === family)) {
      lines.push(`- **${id}** ${level}, ${needs.tier}, since ${since}. ${title}${applies(needs.capabilities)}`)
      lines.push(`  *Why:* ${why}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function applies(capabilities: ConformanceCase['needs']['capabilities']): string {
  if (capabilities === undefined) return ''
  const words = Object.entries(capabilities).map(([name, levels]) => `${name} ${levels.join(' or ')}`)
  return ` (Where declared: ${words.join(', ')}.)`
}
