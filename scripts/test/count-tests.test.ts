// Proves that the last line of `npm test` cannot hide a test that failed or did not run.
import { expect, test } from 'vitest'
import { countTests } from '../checks/count-tests.mjs'

const file = (status: string, ...tests: string[]) => ({
  name: '/checkout/packages/core/test/a.test.ts',
  status,
  message: status === 'failed' ? 'cannot load' : '',
  assertionResults: tests.map((testStatus, index) => ({ status: testStatus, fullName: `test ${index}` })),
})

const count = (...testResults: ReturnType<typeof file>[]) => countTests({ testResults }, '/checkout')

test('passed, failed, skipped, pending and todo tests are counted one by one', () => {
  const result = count(
    file('passed', 'passed', 'passed', 'skipped', 'todo'),
    file('failed', 'failed', 'passed', 'pending'),
  )
  expect(result).toMatchObject({ passed: 3, failed: 1, skipped: 3 })
  expect(result.output).toContain('failed: packages/core/test/a.test.ts > test 0')
})

test('a file that does not load counts as one failure', () => {
  expect(count(file('failed'))).toMatchObject({ passed: 0, failed: 1, skipped: 0 })
})

test('a file that fails outside of its tests counts as one failure beside them', () => {
  expect(count(file('failed', 'passed', 'passed'))).toMatchObject({ passed: 2, failed: 1, skipped: 0 })
})
