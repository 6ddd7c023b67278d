import { seededRandom } from './seeded-random.ts'

/**
 * Text as models and tools produce it: words of a fixed list in a skewed order, line breaks, code, and now and then a
 * character outside ASCII, because one such character makes JavaScript hold a whole string in two bytes a character.
 */
const WORDS = (
  'the of to and a in is it that for was on are as with be this have from or one by not but what all were when we there ' +
  'can an your which their said if do will each about how up out them then she many some so these would other into has ' +
  'function return const value file path error test module import export index line read write append session event log ' +
  'check result number string object array type option default build config version update method class request'
).split(' ')

const RARE = [
  '(',
  ')',
  '{',
  '}',
  ': ',
  ';',
  '\n',
  '\n\n',
  ' = ',
  '=> ',
  '"',
  "'",
  '`',
  ' 你好',
  'é',
  ' — ',
  '0x1f',
  '42',
]

/** One delta of a streamed answer: one to eight characters mostly, 3.7 on average, as in recorded streams. */
export function deltaText(random: () => number): string {
  const roll = random()
  if (roll < 0.2) return RARE[Math.floor(random() * RARE.length)] ?? '.'
  // The square skews the choice towards the front of the list, where the common words are.
  const place = random()
  const word = WORDS[(place * place * WORDS.length) | 0] ?? 'the'
  return roll < 0.5 ? word.slice(0, 1 + Math.floor(random() * 3)) : ` ${word}`
}

/** Phrases that come again and again, as identifiers, paths and turns of speech do in real text. */
const PHRASES = makePhrases()
/** Of what a text is made of; the rest is new. Calibrated so that zstd makes a quarter of a log of messages. */
const REPEATED_SHARE = 0.82

function makePhrases(): readonly string[] {
  const random = seededRandom(7)
  return Array.from({ length: 3000 }, () => {
    let phrase = ''
    const length = 12 + random() * 60
    while (phrase.length < length) phrase += deltaText(random)
    return phrase
  })
}

/** About `length` characters. */
export function prose(random: () => number, length: number): string {
  let text = ''
  while (text.length < length) {
    if (random() < REPEATED_SHARE) text += PHRASES[(random() * PHRASES.length) | 0] ?? ''
    else for (let fresh = 0; fresh < 8; fresh++) text += deltaText(random)
  }
  return text
}
