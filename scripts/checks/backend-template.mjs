// The way of a stranger: core and the conformance kit are packed, installed outside the workspace, and the backend
// template and the backend of docs/write-a-backend.md are tried there, under every runner, as their readers would.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { codeBlocks } from '../markdown.mjs'
import { runCommand } from '../run-command.mjs'
import { readManifest, root } from '../workspace.mjs'
import { countedSteps, installed, installOutside, must, pack } from './packed-tarballs.mjs'

/** Everything at the scale of CI; on every machine a sample. */
const whole = Number(process.env.SESSION_PERSISTENCE_TEST_SCALE ?? 1) >= 5
const effort = whole ? 'full' : 'quick'
const PACKED = ['@session-persistence/core', '@session-persistence/conformance']
const kit = join('node_modules', '.bin', 'session-persistence-conformance')

/**
 * The template, installed; the backend of the documentation stands beside it.
 *
 * @param {string} directory
 */
async function install(directory) {
  const project = join(directory, 'acme-sessions')
  cpSync(join(root, 'templates', 'backend'), project, { recursive: true })
  const manifest = { ...readManifest(project), ...installed(await pack(directory, PACKED)) }
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest, null, 2))
  await installOutside(project)
  // The kit brings no runner, and neither does the template; this one is the workspace's.
  symlinkSync(join(root, 'node_modules', 'vitest'), join(project, 'node_modules', 'vitest'))
  mkdirSync(join(project, 'documented'))
  for (const { info, code } of codeBlocks(readFileSync(join(root, 'docs', 'write-a-backend.md'), 'utf8'))) {
    const name = /^js (\S+\.js)$/.exec(info)?.[1]
    if (name !== undefined) writeFileSync(join(project, 'documented', name), code)
  }
  return project
}

/**
 * Every clause with its verdict, as one runner saw it.
 *
 * @param {string} project
 * @param {string} runner
 */
function verdicts(project, runner) {
  /** @type {{ results: { id: string, status: string }[] }} */
  const { results } = JSON.parse(readFileSync(join(project, runner, 'conformance.json'), 'utf8'))
  return results.map(({ id, status }) => `${id} ${status}`).join('\n')
}

/**
 * A test file as a reader would write it, but for the report that it keeps.
 *
 * @param {string} project
 * @param {string} runner
 */
function writeTest(project, runner) {
  const file = join('conformance', `${runner.replace(':', '-')}.test.js`)
  const report = join(project, runner, 'conformance.json')
  mkdirSync(join(project, runner))
  writeFileSync(
    join(project, file),
    `import { writeFileSync } from 'node:fs'
import { describe, it } from '${runner}'
import { describeConformance } from '@session-persistence/conformance'
import { harness } from './harness.js'

describeConformance(harness, { describe, it }, {
  effort: '${effort}',
  ${whole ? '' : "tiers: ['logic', 'medium'],"}
  onReport: (report) => writeFileSync(${JSON.stringify(report)}, JSON.stringify(report)),
})
`,
  )
  return file
}

/**
 * The runner of the kit's own tests that is shaped like jest, as if it were installed here.
 *
 * @param {string} project
 */
function jestShaped(project) {
  const harnesses = join(root, 'packages', 'conformance', 'test', 'harnesses')
  for (const name of ['jest-shaped-run.mjs', 'runner-options.mjs']) {
    cpSync(join(harnesses, name), join(project, 'conformance', name))
  }
  mkdirSync(join(project, 'jest'))
  return must(process.execPath, [join('conformance', 'jest-shaped-run.mjs')], {
    cwd: project,
    env: {
      CONFORMANCE_HARNESS: pathToFileURL(join(project, 'conformance', 'harness.js')).href,
      CONFORMANCE_OPTIONS: JSON.stringify({ effort, ...(whole ? {} : { tiers: ['logic', 'medium'] }) }),
      CONFORMANCE_REPORT: join(project, 'jest', 'conformance.json'),
    },
  })
}

/** @param {string} project */
async function sameVerdicts(project) {
  // Processes that are killed take most of the time, and no runner sees them otherwise than another.
  const tiers = whole ? [] : ['--tier', 'logic,medium']
  const command = ['./conformance/harness.js', '--effort', effort, ...tiers, '--out', 'command']
  const runs = [
    must(process.execPath, ['--test', writeTest(project, 'node:test')], { cwd: project }),
    must('vitest', ['run', '--root', project, writeTest(project, 'vitest')], { cwd: project }),
    jestShaped(project),
    must(kit, command, { cwd: project }),
  ]
  await Promise.all(runs)
  const expected = verdicts(project, 'command')
  for (const runner of ['node:test', 'vitest', 'jest']) {
    if (verdicts(project, runner) !== expected) throw new Error(`${runner} and the command differ in their verdicts`)
  }
}

/** @param {string} project */
async function reachesTheHighestLevel(project) {
  const output = await must(kit, ['./conformance/harness.js', '--effort', effort], { cwd: project })
  if (!/outcome: conforms; level reached: medium\n\d+ passed, 0 failed, 0 skipped\n$/.test(output))
    throw new Error(output)
}

/** @param {string} project */
async function documentedBackend(project) {
  const tiers = whole ? [] : ['--tier', 'logic,medium']
  const args = ['--no', '@session-persistence/conformance', './documented/harness.js', '--effort', effort, ...tiers]
  const output = await must('npx', args, { cwd: project })
  if (!output.includes('outcome: conforms; level reached:')) throw new Error(output)
}

/**
 * Failing calls and power cuts, a sample: where strace is missing the kit has to say that it did not try them.
 *
 * @param {string} project
 * @param {string} harness
 */
async function survivesBadDisks(project, harness) {
  const args = [harness, '--with', 'io,power', '--tier', 'io,power', '--effort', 'quick']
  const { output } = await runCommand(kit, args, { cwd: project })
  const tried = /tier io: 4 of 4 passed\ntier power: 3 of 3 passed\n[\s\S]*\n7 passed, 0 failed, 0 skipped\n$/
  const untried = /tier io: NOT EXERCISED, [^\n]*strace[\s\S]*\n0 passed, 0 failed, 7 skipped\n$/
  if (!tried.test(output) && !untried.test(output)) throw new Error(output)
}

/** @param {string} project */
async function brokenTwin(project) {
  const { ok, output } = await runCommand(kit, ['./conformance/broken-harness.js', '--family', 'READ'], {
    cwd: project,
  })
  const said = [
    'FAILED MUST READ-1: from 0 to 0: first difference at $.length: expected 1, found 0',
    'clause       A range is exact and inclusive at both ends',
    'usual cause  `from` and `to` of `read` are both inclusive',
    'repeat       npx @session-persistence/conformance ./conformance/broken-harness.js --id READ-1 --seed 1',
  ]
  const missing = said.find((line) => !output.includes(line))
  if (ok || missing !== undefined) throw new Error(`the broken twin did not fail as it should (${missing})\n${output}`)
}

/** @returns {Promise<import('../test.mjs').CheckResult>} */
export async function backendTemplate() {
  const directory = mkdtempSync(join(tmpdir(), 'session-persistence-template-'))
  const { result, count } = countedSteps()
  try {
    const installing = install(directory)
    await count(installing)
    if (result.failed > 0) return result
    const project = await installing
    await Promise.all([count(must('tsc', ['-p', project], { cwd: project })), count(brokenTwin(project))])
    await Promise.all([count(reachesTheHighestLevel(project)), count(documentedBackend(project))])
    await count(survivesBadDisks(project, './conformance/harness.js'))
    if (whole) await count(survivesBadDisks(project, './documented/harness.js'))
    await count(sameVerdicts(project))
    return result
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
