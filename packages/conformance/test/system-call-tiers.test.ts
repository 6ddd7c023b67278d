// Proves that the tiers io and power see what is wrong with a backend that nothing but its own module knows of, by the
// clause that is about it; that a sound one passes; and that where strace or a part of the harness is missing nothing
// is said to be tried.
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Harness, Medium } from '../src/harness.ts'
import { formatReport } from '../src/report/text-report.ts'
import { runConformance } from '../src/run-conformance.ts'
import { systemCallTiers } from '../src/tiers/system-call-tiers.ts'
import { straceProblem } from '../src/trace/strace.ts'
import { memoryHarness } from './memory-harness.ts'
import { runConformanceCommand, runNode } from './run-conformance-command.ts'

const problem = straceProblem()
const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const OPTIONS = { families: ['IO', 'POWER'], effort: 'quick', extensions: systemCallTiers } as const

/** Its processes have the fault; whoever looks at what they leave has none. */
async function twin(fault: string): Promise<Harness> {
  const module = new URL('./harnesses/whole-file-store.mjs', import.meta.url).href
  const { harness } = (await import(/* @vite-ignore */ module)) as { readonly harness: Harness }
  return { ...harness, module: `${module}?fault=${fault}` }
}

describe.skipIf(problem !== undefined)('a store of whole files', { timeout: 300_000 }, () => {
  it('that is sound passes, and the report says how much was tried', async () => {
    const report = await runConformance(await twin('none'), OPTIONS)
    expect(report.results.map(({ id, status, message }) => [id, status, message])).toEqual(
      ['IO-1', 'IO-2', 'IO-3', 'IO-4', 'POWER-1', 'POWER-2', 'POWER-3'].map((id) => [id, 'passed', undefined]),
    )
    const tried = Object.fromEntries(report.results.map(({ id, tried: counts }) => [id, counts]))
    expect(tried['IO-1']?.['failing calls']).toBeGreaterThan(5)
    expect(tried['IO-4']?.['failing syncs']).toBeGreaterThan(10)
    expect(tried['POWER-1']?.['crash states']).toBeGreaterThan(50)
    const text = formatReport(report)
    expect(text).toMatch(/^tried POWER-2: \d recoveries, \d+ crash states$/m)
    for (const [line] of text.matchAll(/^tried .*$/gm)) process.stdout.write(`evidence: whole-file, ${line}, seed 1\n`)
  })

  it.each([
    ['sync-forgotten', ['POWER-1', 'POWER-2']],
    ['directory-forgotten', ['POWER-1', 'POWER-2', 'POWER-3']],
    ['sync-repeated', ['IO-4']],
    ['failure-hidden', ['IO-1', 'IO-2']],
    ['failure-called-missing', ['IO-1']],
    ['error-untyped', ['IO-1']],
  ] as const)('with the fault %s fails %j', async (fault, ids) => {
    const report = await runConformance(await twin(fault), { ...OPTIONS, ids })
    expect(report.harnessError).toBeUndefined()
    expect(report.results.map(({ id, status }) => [id, status])).toEqual(ids.map((id) => [id, 'failed']))
    for (const { failure } of report.results) {
      expect(failure?.message).not.toContain('unexpected')
      expect(failure?.repeat).toContain(
        ` --with ${failure?.repeat.includes('--id IO') === true ? 'io' : 'power'} --id `,
      )
    }
  })
})

describe('where it cannot be tried', () => {
  const beside = { ...OPTIONS, ids: ['IO-1', 'POWER-1'] }

  it('because the harness lets no other process in, nothing is exercised', async () => {
    const { module: _, ...alone } = memoryHarness
    const report = await runConformance(alone, beside)
    expect(report.counts).toMatchObject({ passed: 0, failed: 0, skipped: 2 })
    expect(formatReport(report)).toContain('tier power: NOT EXERCISED, the harness has no `module` and `openAt`')
  })

  it.skipIf(problem !== undefined).each([
    ['the medium has no `location` that is an absolute path', (count: number) => ({ location: `memory-${count}` })],
    ['the medium has no `files`', () => ({ files: undefined })],
    ['is in no directory of its own', (count: number) => ({ location: join(tmpdir(), `nowhere-yet-${count}`) })],
  ])('because %s, the clause is skipped', async (reason, part) => {
    const sound = await twin('none')
    let count = 0
    const createMedium = async (): Promise<Medium> => {
      count += 1
      return { ...(await sound.createMedium()), ...part(count) } as Medium
    }
    const report = await runConformance({ ...sound, createMedium }, beside)
    expect(report.results.map(({ status }) => status)).toEqual(['skipped', 'skipped'])
    for (const { message } of report.results) expect(message).toContain(reason)
    expect(report.reached).toBe('none')
  })

  it.skipIf(problem !== undefined)('because the directory holds files of others, nothing is done to them', async () => {
    const sound = await twin('none')
    const home = await mkdtemp(join(tmpdir(), 'session-persistence-home-'))
    await mkdir(join(home, 'documents'))
    const letter = join(home, 'documents', 'letter.txt')
    await writeFile(letter, 'mine', { mode: 0o644 })
    const before = await stat(letter, { bigint: true })
    let count = 0
    const createMedium = async (): Promise<Medium> => {
      count += 1
      return { ...(await sound.createMedium()), location: join(home, `store-${count}`) }
    }
    const report = await runConformance({ ...sound, createMedium }, beside)
    expect(report.results.map(({ status }) => status)).toEqual(['skipped', 'skipped'])
    for (const { message } of report.results) expect(message).toContain('holds files that the medium does not list')
    const { ino, mode, mtimeNs, ctimeNs } = await stat(letter, { bigint: true })
    expect({ ino, mode, mtimeNs, ctimeNs }).toEqual({
      ino: before.ino,
      mode: before.mode,
      mtimeNs: before.mtimeNs,
      ctimeNs: before.ctimeNs,
    })
    await rm(home, { recursive: true })
  })

  it('because strace is missing, the command says so and counts nothing as passed', async () => {
    const module = fileURLToPath(new URL('./harnesses/whole-file-store.mjs', import.meta.url))
    const args = [main, module, '--with', 'io,power', '--tier', 'io,power']
    const { code, output } = await runNode(args, { env: { PATH: '/nowhere' } })
    expect(output).toContain('tier io: NOT EXERCISED, strace is not installed')
    expect(output).toMatch(/^0 passed, 0 failed, 7 skipped$/m)
    expect(code).toBe(3)
  })
})

describe('the command', () => {
  it('lists the clauses of the tiers that it is given by name', async () => {
    const { output } = await runConformanceCommand(['--list', '--with', 'power'])
    expect(output).toMatch(/^POWER-1 +MUST +power /m)
    expect(output).not.toMatch(/^IO-1/m)
  })

  it.skipIf(problem !== undefined)('tries them, and repeats a failure by the command that it prints', async () => {
    const module = fileURLToPath(new URL('./harnesses/whole-file-store.mjs', import.meta.url))
    const { code, output } = await runNode([main, module, '--with', 'io,power', '--id', 'POWER-3', '--effort', 'quick'])
    expect(output).toMatch(/^tried POWER-3: \d+ crash states$/m)
    expect(output).toMatch(/^1 passed, 0 failed, 0 skipped$/m)
    expect(code).toBe(0)
  })
})

it.skipIf(problem === undefined)('tiers io and power: not exercised, strace cannot trace here', () => {})
