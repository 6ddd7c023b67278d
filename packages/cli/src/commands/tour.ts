import { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import type { Runtime } from '../runtime.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { runAgentProcess } from '../tour/agent-process.ts'
import { runTour } from '../tour/run-tour.ts'

export function tourCommand(runtime: Runtime): Command {
  return new Command('tour')
    .description('watch a harness being killed and its session carry on, then compare the backends')
    .argument('[file]', 'a log of any format that import reads, to be stored in every backend')
    .option('--keep <directory>', 'leave the stored sessions there instead of removing them')
    .option('--json', 'one JSON document')
    .addHelpText(
      'after',
      `
Examples:
  session-persistence tour
  session-persistence tour ~/.claude/projects/my-project/0197c3f2.jsonl
  session-persistence tour --keep ./tour && session-persistence list --root ./tour/sessions`,
    )
    .action(async (file: string | undefined, options: { readonly keep?: string; readonly json?: true }) => {
      const { document, proven } = await runTour(runtime, {
        ...(file === undefined ? {} : { file }),
        ...(options.keep === undefined ? {} : { keep: options.keep }),
        json: options.json === true,
      })
      if (!proven) runtime.exitCode = EXIT.negative
      if (options.json) await runtime.out.write(`${safeJson(document, 2)}\n`)
    })
}

/** Process A of the tour. Not for people, hence not in the help. */
export function tourAgentCommand(): Command {
  return new Command('tour-agent')
    .argument('<options>')
    .action((options: string) => runAgentProcess(JSON.parse(options)))
}
