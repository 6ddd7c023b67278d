// Proves that conversation records of every real log become core events: messages, calls, results, usage and title equal
// counts taken from the source by code that shares nothing with the readers.
import { describe, expect, it } from 'vitest'
import { readLogs } from '../../src/index.ts'
import { corpusFiles, corpusName, hasCorpus } from './corpus-files.ts'
import { countClaudeCode } from './count-claude-code.ts'
import { countDsh } from './count-dsh.ts'
import { countImported, project } from './count-imported.ts'

/** Two branches hold an answer that the transcript has twice under one message id, so the sums differ by it. */
const ANSWERED_ON_BOTH_BRANCHES = /images-in-user-messages/

describe.skipIf(!hasCorpus)('counts of real logs (skipped when the corpus is not beside the checkout)', () => {
  it.each(corpusFiles('dsh').map((path) => [corpusName(path), path]))('%s', async (_, path) => {
    const { orphans, ...imported } = await countImported(readLogs(path))
    expect(imported).toEqual(countDsh(path))
    expect(orphans).toBe(0)
    for await (const log of readLogs(path)) {
      const source = countDsh(path)
      const fold = await project(log)
      expect(fold.usage()).toMatchObject({ answers: source.answers, total: { outputTokens: source.outputTokens } })
      expect(fold.summary().title).toBe(source.lastTitle)
    }
  })

  it.each(corpusFiles('claude-code').map((path) => [corpusName(path), path]))('%s', async (name, path) => {
    const { orphans, ...imported } = await countImported(readLogs(path))
    const source = countClaudeCode(path)
    expect(orphans).toBe(0)
    if (ANSWERED_ON_BOTH_BRANCHES.test(name)) {
      expect(imported).toMatchObject({ prompts: source.prompts, answers: source.answers + 1, calls: source.calls })
    } else expect(imported).toEqual(source)
  })
})
