// The kit under a runner that is shaped like jest: tests get no context, what is skipped is known beforehand, and a
// test that declares a parameter is taken to wait for a callback. Prints how many passed, failed and were skipped.
import { describeConformance, prepareConformance } from '@session-persistence/conformance'
import { harness, onReport, options } from './runner-options.mjs'

/** @type {(() => Promise<void>)[]} */
const tests = []
const counts = { passed: 0, failed: 0, skipped: 0 }
const it = Object.assign(
  /** @param {string} _name @param {() => Promise<void>} body */
  (_name, body) => {
    if (body.length > 0) throw new Error('this test waits for a callback')
    tests.push(body)
  },
  {
    skip: () => {
      counts.skipped += 1
    },
  },
)
const run = await prepareConformance(harness, options)
describeConformance(run, { describe: (_name, body) => body(), it }, { onReport })
for (const test of tests) {
  try {
    await test()
    counts.passed += 1
  } catch {
    counts.failed += 1
  }
}
process.stdout.write(`\n${JSON.stringify(counts)}\n`)
process.exit(counts.failed === 0 ? 0 : 1)
