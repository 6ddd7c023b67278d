// Proves that a reader that has seen enough (`| head`) ends a command quietly, with nothing held afterwards, and that
// output that cannot be written is an error.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { runCli } from './support/run-cli.ts'
import { store, type TemporaryRoot, temporaryRoot } from './support/temporary-root.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
let place: TemporaryRoot
beforeEach(async () => {
  place = await temporaryRoot()
  await store(place.root, 'long-one', (session) => {
    for (let index = 0; index < 4_000; index += 1) {
      session.append('user/message', { message: { role: 'user', content: `line ${index} ${'x'.repeat(200)}` } })
    }
  })
})
afterEach(() => place[Symbol.asyncDispose]())

const shell = promisify(execFile)

it.each([
  'show long-one',
  'show long-one --json',
  'export long-one',
  'follow long-one --from 0',
  'context long-one --next',
])('%s | head -1', async (command) => {
  const pipeline = `"${process.execPath}" "${main}" ${command} --root "${place.root}" | head -1; echo "\${PIPESTATUS[0]}"`
  const { stdout, stderr } = await shell('bash', ['-c', pipeline], { timeout: 60_000 })
  expect(stderr).toBe('')
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('0')
  expect(await runCli(['resume', 'long-one', '--root', place.root])).toMatchObject({ code: 0 })
})

it('a full disk behind a redirection is an error, and no quiet end', async () => {
  const command = `"${process.execPath}" "${main}" show long-one --root "${place.root}" > /dev/full`
  const failure = await shell('bash', ['-c', command]).then(undefined, (error: unknown) => error)
  expect(failure).toMatchObject({ code: 3, stderr: expect.stringMatching(/^session-persistence: NO_SPACE: [^\n]+\n$/) })
})
