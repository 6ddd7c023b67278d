/** The code that the committed baseline was taken of, out of the history of this repository, built where it disturbs nothing. */
import { execFile } from 'node:child_process'
import fs from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../backend/temporary-directory.ts'

const run = promisify(execFile)

export class BaselineCode implements AsyncDisposable {
  readonly #baseline: string
  #directory: string | undefined

  /** @param baseline the committed file; its last commit is that of the code. */
  constructor(baseline: string) {
    this.#baseline = baseline
  }

  /** Returns the bench program of that code, ready to run. Fails where there is no such history, or it cannot be built. */
  async prepare(): Promise<string> {
    const directory = await this.extract()
    // As a fresh clone is made ready; what this one has downloaded already is taken from the stores of npm and pnpm.
    await run(process.execPath, [path.join('scripts', 'setup.mjs')], { cwd: directory })
    return path.join(directory, 'bench', 'dist', 'main.js')
  }

  /** Lays its files into a directory of their own. */
  async extract(): Promise<string> {
    const git = async (...args: readonly string[]): Promise<string> => {
      const { stdout } = await run('git', ['-C', path.dirname(this.#baseline), ...args])
      return stdout.trim()
    }
    const root = await git('rev-parse', '--show-toplevel')
    // The oldest commit of a shallow clone seems to have written everything.
    if ((await git('rev-parse', '--is-shallow-repository')) === 'true') throw new Error('the clone is shallow')
    if ((await git('status', '--porcelain', '--', this.#baseline)) !== '')
      throw new Error('the baseline is not committed')
    const commit = await git('log', '-1', '--format=%H', '--', this.#baseline)
    this.#directory = temporaryDirectory()
    const archive = path.join(this.#directory, 'code.tar')
    const code = path.join(this.#directory, 'code')
    await fs.mkdir(code)
    await git('-C', root, 'archive', '--format=tar', `--output=${archive}`, commit)
    await run('tar', ['-xf', archive, '-C', code])
    return code
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#directory !== undefined) await fs.rm(this.#directory, { recursive: true, force: true })
  }
}
