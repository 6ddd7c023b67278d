// However a harness is wrong, the command ends with 2, a sentence that says what to change, and no stack; never green.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runConformanceCommand } from './run-conformance-command.ts'

const all = new URL('./harnesses/wrong.mjs', import.meta.url).href
const directory = mkdtempSync(join(tmpdir(), 'session-persistence-wrong-harnesses-'))
afterAll(() => rmSync(directory, { recursive: true }))

const SENTENCES: Readonly<Record<string, string>> = {
  samePlaceTwice: 'createMedium of wrong returned the same place twice',
  sameMediumTwice: 'createMedium of wrong returned the same medium twice',
  throwsInCreateMedium: 'createMedium of wrong threw: no disk',
  hangsInCreateMedium: 'createMedium of wrong did not return within 5 s: it hangs.',
  hangsInOpen: '`open` of wrong did not return within 5 s: it hangs.',
  hasNoOpen: 'createMedium of wrong must return an object with a function `open(options)`.',
  blocksTheEventLoop: 'blocked the event loop for more than 10 s while the first medium was made and opened',
  exitsWithZero: 'nothing in harness and backend may call process.exit',
  throwsLater: 'Something was thrown outside of every call: thrown by a timer',
  leaksAFile: 'kept-open is still open after everything was closed. `close` of the persistence must release all',
  leaksATimer: 'still keeps the process alive. `close` must end timers, watchers, sockets and threads.',
  dropsItsOptions: 'The options given to `open` of wrong do not reach the backend',
  opensAnotherPlace: '`openAt` of wrong opens another place than `open`',
  destroysHalf: '`destroy` of wrong leaves files behind',
  listsRelativePaths: '`files` of the medium of wrong must return a list of absolute paths.',
  liesAboutRepair: "The backend declares repair 'salvage', and CAP-2 observes something else: repair was refused",
  inventsALevel: "declares capability `exclusion` as 'planet': it must be 'medium' or 'host'.",
  knowsNoSuchClause: '`knownFailures` of wrong names READ-999: there is no such clause.',
  knowsWithoutAnAddress: '`knownFailures` of harness wrong must give READ-1 the address where its failure is tracked',
}

describe('a harness that is wrong', () => {
  for (const [name, sentence] of Object.entries(SENTENCES)) {
    it.concurrent(`${name}: ${sentence}`, async () => {
      const module = join(directory, `${name}.mjs`)
      writeFileSync(module, `export { ${name} as harness } from '${all}'\n`)
      // Short only where nothing else can end it: a loaded machine is slow as well.
      const timeout = /^(?:hangs|blocks)/.test(name) ? ['--timeout', '5'] : []
      const { code, output, errors } = await runConformanceCommand([module, '--family', 'CAP', ...timeout])
      expect([code, errors]).toEqual([2, ''])
      expect(output).toContain('harness error: ')
      expect(output).toContain(sentence)
      expect(output).toContain('outcome: harness-error; level reached: none')
      expect(output).not.toMatch(/^ +at .*:\d/m)
      expect(output).toMatch(/\d+ passed, \d+ failed, \d+ skipped\n$/)
    })
  }
})
