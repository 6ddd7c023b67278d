// Proves that docs/grammar.md says what the table says. `npx vitest run -u` on this file writes it anew.
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { GRAMMAR_RULES } from '../../src/event/grammar-rules.ts'

const DOCUMENT = fileURLToPath(new URL('../../../../docs/grammar.md', import.meta.url))

function grammarDocument(): string {
  const rows = GRAMMAR_RULES.map(({ id, types, refuses }) => `| \`${id}\` | ${typesOf(types)} | ${refuses} |`)
  return `# The grammar of a log

What may come next in a log. \`append\` refuses exactly what \`resume\` would refuse: both ask the same function, which goes
through this table from top to bottom, and the first rule that is broken is named in the \`INVALID_EVENT\` error. Whatever
no row refuses is accepted.

This file is made from the table in \`packages/core/src/event/grammar-rules.ts\`.

| rule | binds | refused |
|---|---|---|
${rows.join('\n')}

A *call* is open from the answer that asks for it to its result. Inside a step all answers share one scope of call ids;
outside a step each answer is its own. A message with a \`surface\` option replaces live messages and is no answer and no
result: it neither opens nor closes calls. *Appended* means without that option.
`
}

function typesOf(types: (typeof GRAMMAR_RULES)[number]['types']): string {
  if (types === 'any') return 'every type'
  const all = new Set(GRAMMAR_RULES.flatMap((rule) => (rule.types === 'any' ? [] : rule.types)))
  return types.length === all.size ? 'every core type' : types.map((type) => `\`${type}\``).join(', ')
}

it('docs/grammar.md is current', async () => {
  await expect(grammarDocument()).toMatchFileSnapshot(DOCUMENT)
})
