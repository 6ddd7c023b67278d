// Proves that the documentation checks see the code and the prose of a Markdown file for what they are.
import { expect, test } from 'vitest'
import { codeBlocks, withoutCode } from '../markdown.mjs'

const text = [
  '# Title',
  '',
  'See [a](a.md) and `[b](b.md)`.',
  '',
  '```ts runnable',
  'const link = "[c](c.md)"',
  '```',
  '',
  '````',
  '```ts runnable',
  '```',
  '````',
  '',
].join('\n')

test('a fenced block has its info string, its code and the line where the code starts', () => {
  expect(codeBlocks(text)[0]).toEqual({ info: 'ts runnable', code: 'const link = "[c](c.md)"\n', line: 6 })
})

test('a fence inside a longer fence is text of the outer block', () => {
  expect(codeBlocks(text).map(({ info }) => info)).toEqual(['ts runnable', ''])
})

test('prose is left without blocks and spans', () => {
  expect(withoutCode(text)).toContain('[a](a.md)')
  expect(withoutCode(text)).not.toMatch(/b\.md|c\.md/)
})
