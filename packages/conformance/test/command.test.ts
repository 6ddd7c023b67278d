// The command: one exit code for each outcome, the counts last, reports where they are wanted, and sentences for mistakes.
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { ALL_CASES } from '../src/cases/all-cases.ts'
import type { ConformanceReport } from '../src/report/conformance-report.ts'
import { runConformanceCommand } from './run-conformance-command.ts'

const harness = (name: string): string => fileURLToPath(new URL(`./harnesses/${name}.mjs`, import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'session-persistence-conformance-command-'))
afterAll(() => rmSync(directory, { recursive: true }))

const lastLine = (output: string): string | undefined => output.trimEnd().split('\n').at(-1)

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

/** What a shell makes of the command in front of a pipe or a redirection; the last line is the command's exit code. */
const inShell = (args: string, behind: string): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)('bash', ['-c', `"${process.execPath}" "${main}" ${args} ${behind}; echo "\${PIPESTATUS[0]}"`])

describe('a reader that goes away', () => {
  // `true` is gone before the command has started: every write finds the pipe closed.
  it.each([
    ['--list', '0'],
    [`"${harness('memory')}" --id READ-1 --report json --out "${directory}/seen"`, '0'],
    [`"${harness('broken')}" --id READ-3`, '1'],
  ])('leaves exit code and silence as they are: %s', async (args, code) => {
    const { stdout, stderr } = await inShell(args, '| true')
    expect([stdout, stderr]).toEqual([`${code}\n`, ''])
  })

  it('has seen the first lines of a list', async () => {
    const { stdout, stderr } = await inShell('--list', '| head -1')
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^LIFE-1 [^\n]+\n0\n$/), ''])
  })

  it('is not a full disk, which is told', async () => {
    const { stdout, stderr } = await inShell('--list', '> /dev/full')
    expect([stdout, stderr]).toEqual(['2\n', 'The output could not be written: ENOSPC\n'])
  })
})

describe('the command', () => {
  it('ends with 0 where the backend conforms, and writes every report', async () => {
    const out = join(directory, 'reports')
    const { code, output, errors } = await runConformanceCommand([harness('memory'), '--effort', 'quick', '--out', out])
    expect([code, errors]).toEqual([0, ''])
    const logic = ALL_CASES.filter(({ needs }) => needs.tier === 'logic').length
    expect(lastLine(output)).toBe(`${logic} passed, 0 failed, ${ALL_CASES.length - logic} skipped`)
    expect(readdirSync(out).sort()).toEqual([
      'conformance.html',
      'conformance.json',
      'conformance.junit.xml',
      'conformance.svg',
    ])
    const report = JSON.parse(readFileSync(join(out, 'conformance.json'), 'utf8')) as ConformanceReport
    expect([report.reportVersion, report.outcome, report.reached]).toEqual([1, 'conforms', 'core'])
    expect(report.backend).toMatchObject({ name: 'memory', modes: {} })
  })

  it('ends with 1 where a clause is broken, and says how to repeat it', async () => {
    const args = [harness('broken'), '--family', 'READ,LIFE', '--seed', '7', '--effort', 'quick']
    const { code, output } = await runConformanceCommand(args)
    expect(code).toBe(1)
    expect(output).toContain(
      `repeat       npx @session-persistence/conformance ${harness('broken')} --id READ-3 --seed 7`,
    )
    expect(lastLine(output)).toMatch(/^\d+ passed, [1-9]\d* failed, \d+ skipped$/)
  })

  it('ends with 3 where not one MUST clause ran', async () => {
    for (const args of [
      ['--id', 'LIST-10'],
      ['--tier', 'process'],
    ]) {
      const { code, output } = await runConformanceCommand([harness('memory'), ...args])
      expect(code, args.join(' ')).toBe(3)
      expect(output).toContain('outcome: nothing-ran')
    }
  })

  it('takes more tiers from a module, up to the level and the badge', async () => {
    const out = join(directory, 'more-tiers')
    const jsonl = fileURLToPath(new URL('../../jsonl/test/conformance-harness.mjs', import.meta.url))
    const ids = 'LIFE-1,CONC-8,CORRUPT-6,IO-1,POWER-1'
    const args = [jsonl, '--with', harness('more-tiers'), '--id', ids, '--effort', 'quick', '--out', out]
    const { code, output } = await runConformanceCommand(args)
    expect(code, output).toBe(0)
    expect(output).toContain('tier io: 1 of 1 passed\ntier power: 1 of 1 passed\n')
    expect(output).toContain('outcome: conforms; level reached: power\n')
    expect(lastLine(output)).toBe('5 passed, 0 failed, 0 skipped')
    expect(readFileSync(join(out, 'conformance.svg'), 'utf8')).toContain('<title>session-persistence: power</title>')
    expect(readFileSync(join(out, 'conformance.html'), 'utf8')).toContain('Level reached: power.')
    expect(readFileSync(join(out, 'conformance.junit.xml'), 'utf8')).toContain('<testsuite name="POWER" tests="1"')
    const listed = await runConformanceCommand(['--list', '--with', harness('more-tiers')])
    expect(listed.output).toContain('POWER-1       MUST   power   An empty medium lists nothing.\n')
  })

  it('takes more tiers from a package that is installed where it runs', async () => {
    const project = join(directory, 'project')
    const installed = join(project, 'node_modules', 'more-tiers')
    mkdirSync(installed, { recursive: true })
    copyFileSync(harness('more-tiers'), join(installed, 'index.mjs'))
    writeFileSync(join(installed, 'package.json'), '{ "name": "more-tiers", "exports": { "default": "./index.mjs" } }')
    const args = [harness('memory'), '--with', 'more-tiers', '--id', 'IO-1']
    const { output } = await runConformanceCommand(args, project)
    expect(lastLine(output)).toBe('1 passed, 0 failed, 0 skipped')
  })

  it('lists every clause, tells its version and explains itself', async () => {
    expect((await runConformanceCommand(['--list'])).output.trimEnd().split('\n')).toHaveLength(ALL_CASES.length)
    expect((await runConformanceCommand(['--version'])).output).toMatch(/^\d+\.\d+\.\d+\n$/)
    const { code, output } = await runConformanceCommand(['--help'])
    expect([code, output]).toEqual([0, expect.stringContaining('Exit codes: 0 conforms, 1 violation')])
  })

  it.each([
    [[], 'Give one harness module'],
    [['--sed', '1'], "Unknown option '--sed'"],
    [['x.js', '--seed', '-1'], ''],
    [['x.js', '--seed', 'one'], '--seed must be a whole number'],
    [['x.js', '--effort', 'some'], '--effort is quick or full'],
    [['x.js', '--report', 'pdf'], 'There is no report pdf; there are json, junit, html, badge.'],
  ])('ends with 2 and its usage for %j', async (args, sentence) => {
    const { code, output, errors } = await runConformanceCommand(args)
    expect([code, output]).toEqual([2, ''])
    expect(errors).toContain(sentence)
    expect(errors).not.toMatch(/^ +at /m)
  })

  it.each([
    [['missing.mjs'], 'There is no file missing.mjs'],
    [[harness('memory'), '--id', 'READ-999'], 'There is no clause READ-999'],
    [[harness('memory'), '--family', 'REED'], 'There is no family REED; there are LIFE, '],
    [[harness('memory'), '--tier', 'disk'], 'There is no tier disk; there are logic, process'],
    [[harness('memory'), '--with', harness('memory')], 'exports no list `conformanceTiers`'],
  ])('ends with 2 and a sentence for %j', async (args, sentence) => {
    const { code, output, errors } = await runConformanceCommand(args)
    expect([code, errors]).toEqual([2, ''])
    expect(output).toContain(`harness error: ${sentence}`.slice(0, 15))
    expect(output).toContain(sentence)
    expect(output).not.toMatch(/^tier /m)
    expect(lastLine(output)).toBe('0 passed, 0 failed, 0 skipped')
  })

  it.each([
    [[harness('memory'), '--with', 'nope']],
    [[harness('memory'), '--with', 'io,nope']],
    [['--list', '--with', './nope.js']],
  ])('ends with 2 and one line for %j, before anything is loaded', async (args) => {
    const { code, output, errors } = await runConformanceCommand(args)
    expect([code, output]).toEqual([2, ''])
    expect(errors).toBe(
      `--with takes io,power, the path of a module, or the name of an installed package; ${args.at(-1)} is none of these.\n`,
    )
  })

  it('ends with 2 where the reports cannot be written, before anything is run', async () => {
    writeFileSync(join(directory, 'a-file'), '')
    const { code, errors } = await runConformanceCommand([harness('memory'), '--out', join(directory, 'a-file', 'x')])
    expect([code, errors]).toEqual([2, expect.stringContaining('of --out could not be made')])
  })

  it('takes a module that cannot be loaded, or exports no harness, for a wrong harness', async () => {
    const [broken, empty] = [join(directory, 'broken.mjs'), join(directory, 'empty.mjs')]
    writeFileSync(broken, 'export const harness = {')
    writeFileSync(empty, 'export const other = 1')
    const first = await runConformanceCommand([broken])
    expect([first.code, first.output]).toEqual([2, expect.stringContaining(`${broken} could not be loaded: `)])
    const second = await runConformanceCommand([empty])
    expect([second.code, second.output]).toEqual([2, expect.stringContaining('exports no `harness`')])
  })
})
