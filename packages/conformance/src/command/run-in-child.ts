/**
 * The process that loads a harness and runs the cases, watched by the command. A process of its own, because a harness
 * may block, exit or crash whatever process it is in, and the command must still say so.
 */

import type { Harness } from '../harness.ts'
import type { ConformanceReport } from '../report/conformance-report.ts'
import { startRun } from '../run-conformance.ts'
import { sentenceOf } from '../short-value.ts'
import { waitUntil } from '../wait-until.ts'
import type { RunCommand } from './command-options.ts'
import { loadExtensions, loadModule } from './load-module.ts'
import type { RunMessage } from './run-message.ts'

const HEARTBEAT_MS = 200

function tell(message: RunMessage): void {
  process.send?.(message)
}

/** Sends the last message, and ends when it is out. */
function end(message: RunMessage): void {
  process.send?.(message, () => process.exit(0))
}

async function perform(command: RunCommand): Promise<void> {
  tell({ kind: 'now', doing: `while ${command.harnessPath} was loaded` })
  const module = await loadModule(command.harnessPath, '`harness`')
  const harness = (module.harness ?? module.default) as Harness | undefined
  if (harness === undefined) {
    throw new Error(
      `${command.harnessPath} exports no \`harness\`: write \`export const harness = defineHarness({ ... })\`.`,
    )
  }
  const extensions = await loadExtensions(command.extensionPaths)
  // Made when first used, and then there for good: not what a backend leaves.
  void [process.stdout, process.stderr]
  const before = process.getActiveResourcesInfo()
  const run = startRun(harness, { ...command.options, extensions, watchRejections: true })
  tell({ kind: 'now', doing: 'while the first medium was made and opened' })
  const problem = await run.prepare()
  for (const [index, conformanceCase] of (problem === undefined ? run.cases : []).entries()) {
    tell({ kind: 'now', doing: `in ${conformanceCase.id}` })
    const result = await run.runCase(conformanceCase)
    if (result === 'harness-error') break
    tell({ kind: 'result', result, done: index + 1, of: run.cases.length })
  }
  const report = run.report()
  end({ kind: 'report', report: report.outcome === 'conforms' ? await withoutLeftovers(report, before) : report })
}

/** A backend that conforms, but keeps its process alive after everything was closed, has leaked something. */
async function withoutLeftovers(report: ConformanceReport, before: readonly string[]): Promise<ConformanceReport> {
  const left = (): readonly string[] => leftOver(before, process.getActiveResourcesInfo())
  if (await waitUntil(async () => left().length === 0)) return report
  const sentence = `${report.harness} leaks: after everything was closed, ${left().join(', ')} still keeps the process alive. \`close\` must end timers, watchers, sockets and threads.`
  return { ...report, outcome: 'harness-error', reached: 'none', harnessError: sentence }
}

/** What is there now and was not before, timers of this kit's own waiting left out. */
function leftOver(before: readonly string[], now: readonly string[]): readonly string[] {
  const known = [...before]
  return now.filter((resource) => {
    const index = known.indexOf(resource)
    if (index >= 0) known.splice(index, 1)
    return index < 0 && resource !== 'Immediate' && resource !== 'TickObject'
  })
}

setInterval(() => tell({ kind: 'alive' }), HEARTBEAT_MS).unref()
process.on('uncaughtException', (error) => {
  end({ kind: 'harness-error', sentence: `Something was thrown outside of every call: ${sentenceOf(error)}` })
})
// Between two cases; while one runs, it is blamed on that one.
process.on('unhandledRejection', (reason) => {
  end({ kind: 'harness-error', sentence: `A rejection was left unhandled: ${sentenceOf(reason)}` })
})
process.on('disconnect', () => process.exit(2))
process.once('message', (command) => {
  perform(command as RunCommand).catch((error: unknown) => {
    end({ kind: 'harness-error', sentence: sentenceOf(error) })
  })
})
