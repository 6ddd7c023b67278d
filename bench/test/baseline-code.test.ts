// Proves that the code of the baseline comes out of the history as it was, and that what is no history is refused.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BaselineCode } from '../src/gate/baseline-code.ts'

let directory: string
let repository: string
let baseline: string

beforeEach(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'baseline-code-'))
  repository = path.join(directory, 'repository')
  baseline = path.join(repository, 'bench', 'baseline.json')
  fs.mkdirSync(path.dirname(baseline), { recursive: true })
  git('init', '--quiet')
  commit('then', '1')
  fs.writeFileSync(path.join(repository, 'code.txt'), 'now')
  git('commit', '--quiet', '--all', '--message=later')
})

afterEach(() => fs.rmSync(directory, { recursive: true, force: true }))

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false']
  execFileSync('git', ['-C', repository, ...identity, ...args])
}

function commit(code: string, figures: string): void {
  fs.writeFileSync(path.join(repository, 'code.txt'), code)
  fs.writeFileSync(baseline, figures)
  git('add', '.')
  git('commit', '--quiet', `--message=${code}`)
}

it('is what the repository held when the baseline was committed last, and is gone afterwards', async () => {
  let extracted: string
  {
    await using code = new BaselineCode(baseline)
    extracted = await code.extract()
    expect(fs.readFileSync(path.join(extracted, 'code.txt'), 'utf8')).toBe('then')
  }
  expect(fs.existsSync(extracted)).toBe(false)
  commit('new', '2')
  await using code = new BaselineCode(baseline)
  expect(fs.readFileSync(path.join(await code.extract(), 'code.txt'), 'utf8')).toBe('new')
})

it('is refused where the baseline on disk is not the committed one', async () => {
  fs.writeFileSync(baseline, '3')
  await using code = new BaselineCode(baseline)
  await expect(code.extract()).rejects.toThrow('not committed')
})

it('is refused in a shallow clone, whose oldest commit seems to have written everything', async () => {
  const clone = path.join(directory, 'clone')
  execFileSync('git', ['clone', '--quiet', '--depth=1', pathToFileURL(repository).href, clone])
  await using code = new BaselineCode(path.join(clone, 'bench', 'baseline.json'))
  await expect(code.extract()).rejects.toThrow('shallow')
})

it('is refused outside of a repository', async () => {
  const outside = path.join(directory, 'outside')
  fs.mkdirSync(outside)
  await using code = new BaselineCode(path.join(outside, 'baseline.json'))
  await expect(code.extract()).rejects.toThrow('not a git repository')
})
