import type { PartialBlock } from './message-format.ts'

/** Text blocks with something to read. Providers refuse blocks that are empty or white space only. */
export function textBlocks(blocks: readonly PartialBlock[]): readonly PartialBlock[] {
  return blocks.filter(({ kind, text }) => kind === 'text' && text.trim() !== '')
}

/** All text of an unfinished answer as one string; undefined when there is none. */
export function joinedText(blocks: readonly PartialBlock[]): string | undefined {
  const texts = textBlocks(blocks)
  return texts.length === 0 ? undefined : texts.map(({ text }) => text).join('')
}
