// Proves that the built command starts, explains itself, and answers wrong usage with one line and exit code 2.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runCli } from './support/run-cli.ts'

const commands = [
  'tour',
  'import',
  'list',
  'show',
  'context',
  'resume',
  'follow',
  'fork',
  'annotate',
  'verify',
  'repair',
  'export',
  'convert',
  'seal',
  'compact',
  'backup',
  'delete',
]

describe('the command line', () => {
  it('lists every command in its help', async () => {
    const { code, stdout } = await runCli(['--help'])
    expect(code).toBe(0)
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'))
    expect(stdout).not.toContain('tour-agent')
  })

  it('has every command in its documentation', () => {
    const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
    for (const command of commands) expect(page).toMatch(new RegExp(`^\\| \`${command}[ \`]`, 'm'))
  })

  it.each(commands)('%s has a help with an example', async (command) => {
    const { code, stdout, stderr } = await runCli([command, '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: session-persistence ${command} `, 'm'))
    expect(stdout).toMatch(/^Examples?:\n {2}session-persistence /m)
  })

  it('prints its version', async () => {
    expect((await runCli(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it.each([
    [['no-such-command'], 'unknown command'],
    [['list', '--no-such-option'], 'unknown option'],
    [['list', '--limit', '0'], 'whole number from 1 to 1000'],
    [['show'], 'missing required argument'],
    [['fork', 'abc', '--at', '1', '--before', '2'], 'cannot be used with'],
    [['verify'], 'give session ids, or --all'],
    [['verify', 'abc', '--expect', 'nonsense'], 'SEQ:CRC'],
    [['annotate', 'abc'], 'give --title or --label'],
    [['seal'], 'give session ids, or --all'],
    [['convert', 'jsonl:a'], 'missing required argument'],
  ])('%j is wrong usage', async (args, why) => {
    const { code, stdout, stderr } = await runCli(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^session-persistence: INVALID_ARGUMENT: [^\n]+\n$/)
    expect(stderr).toContain(why)
  })

  it('shows its help, as wrong usage, when it is given nothing', async () => {
    const { code, stderr } = await runCli([])
    expect(code).toBe(2)
    expect(stderr).toContain('Usage: session-persistence')
  })
})
