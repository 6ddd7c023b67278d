import type { SessionHeader, SessionPersistence } from '@session-persistence/core'
import { type ImportReport, importFile, logReaders, readLogs } from '@session-persistence/interchange'
import { Command, Option } from 'commander'
import { logFilesOf } from '../log-files.ts'
import { rememberFailure } from '../remember-failure.ts'
import type { Runtime } from '../runtime.ts'
import { addStoreOptions, openStore, type StoreOptions } from '../store.ts'
import { Progress } from '../terminal/progress.ts'
import { byteSize, count, plural } from '../terminal/quantity.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { zstdFiles } from '../zstd-files.ts'

interface ImportCommandOptions extends StoreOptions {
  readonly format?: string
  readonly dryRun?: true
  readonly json?: true
}

/** One session of a file, and what became of it. */
interface Imported {
  readonly id: string
  readonly outcome: 'imported' | 'unchanged' | 'continued' | 'readable'
  readonly header: SessionHeader
  readonly events: number
  readonly report: ImportReport
}

export function importCommand(runtime: Runtime): Command {
  return addStoreOptions(
    new Command('import').description(
      'store sessions from logs of other harnesses, or from an export; files stay as they are',
    ),
  )
    .argument('<path...>', 'log files, or directories: every .jsonl, .jsonl.zst and .jsonl.zstd file below them')
    .addOption(
      new Option('--format <name>', 'format of the files (default: told by how they begin)').choices(
        logReaders.map(({ name }) => name),
      ),
    )
    .option('--dry-run', 'read everything and report, but store nothing')
    .option('--json', 'JSON lines: one session each, { file, id, outcome, parent?, events, report }')
    .addHelpText(
      'after',
      `
A log that is stored already is left as it is. Damaged lines are kept as text and reported; a file that is no log is
refused, and the other files are imported all the same.

Examples:
  session-persistence import ~/.claude/projects
  session-persistence import old.jsonl --dry-run --json | jq .report`,
    )
    .action(async (paths: readonly string[], options: ImportCommandOptions) => {
      await using persistence = options.dryRun ? undefined : await openStore(options, { mayBeNew: true })
      const onFailure = (error: unknown): Promise<void> => rememberFailure(runtime, error)
      for (const path of paths) {
        for await (const file of logFilesOf(path, onFailure)) await importOne(runtime, persistence, file, options)
      }
    })
}

/** Imports one file. A failure is reported and remembered, and does not keep the next file out. */
async function importOne(
  runtime: Runtime,
  persistence: SessionPersistence | undefined,
  file: string,
  options: ImportCommandOptions,
): Promise<void> {
  const { out } = runtime
  try {
    const sessions = await readOrStore(runtime, persistence, file, options)
    for (const session of sessions) {
      await (options.json ? out.write(`${safeJson(sessionJson(file, session))}\n`) : out.lines(sessionLines(session)))
    }
  } catch (error) {
    await rememberFailure(runtime, error)
  }
}

async function readOrStore(
  { err, signal }: Runtime,
  persistence: SessionPersistence | undefined,
  file: string,
  { format }: ImportCommandOptions,
): Promise<readonly Imported[]> {
  using progress = new Progress(err)
  const options = {
    signal,
    unpackers: [zstdFiles],
    ...(format === undefined ? {} : { format }),
    onProgress: (bytes: number, total: number) =>
      progress.show(() => `reading ${safeLine(file)}, ${byteSize(bytes)} of ${byteSize(total)} …`),
  }
  if (persistence !== undefined) return (await importFile(persistence, file, options)).sessions
  const found: Imported[] = []
  for await (const { header, report } of readLogs(file, options)) {
    found.push({ id: header.id, outcome: 'readable', header, events: report.events, report })
  }
  return found
}

function sessionJson(file: string, { id, outcome, header, events, report }: Imported): object {
  return { file, id, outcome, ...(header.parent === undefined ? {} : { parent: header.parent }), events, report }
}

function sessionLines({ id, outcome, header, events, report }: Imported): string[] {
  const { format, records, mapped, kept, damagedCount, seqGapCount, missingTimes, duplicates } = report
  const parent = header.parent === undefined ? '' : `, child of ${safeLine(header.parent)}`
  const oddities = [
    [damagedCount, 'damaged line'],
    [seqGapCount, 'gap in the numbering', 'gaps in the numbering'],
    [duplicates, 'repeated record'],
    [missingTimes, 'record without a time', 'records without a time'],
    [
      Object.values(report.repairs).reduce((sum, each) => sum + each, 0),
      'change to obey the grammar',
      'changes to obey the grammar',
    ],
  ] as const
  const seen = oddities.flatMap(([number, one, many]) => (number === 0 ? [] : [plural(number, one, many)]))
  return [
    `${outcome.padEnd(9)}  ${safeLine(id)}${parent}`,
    `           ${format}: ${plural(records, 'record')}, ${count(mapped)} mapped and ${count(kept)} kept; ${plural(events, 'event')}`,
    ...(seen.length === 0 ? [] : [`           ${seen.join(', ')}`]),
    // The format was named by --format, or the file holds nothing of the conversation.
    ...(mapped > 0 || records === 0
      ? []
      : ['           no record of a conversation was found in it: all are kept as they are']),
  ]
}
