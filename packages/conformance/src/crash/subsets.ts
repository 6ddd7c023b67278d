/** Which of some parts reached the medium. */

/** Subsets of more parts than this are sampled: none, all, each alone, each missing, each prefix, each suffix. */
const EXHAUSTIVE_PARTS_MAX = 6

/** Choices among `count` parts; all of them first, then none. */
export function subsets(count: number): ((index: number) => boolean)[] {
  const found: ((index: number) => boolean)[] = [() => true]
  if (count === 0) return found
  if (count <= EXHAUSTIVE_PARTS_MAX) {
    for (let bits = 0; bits < 2 ** count - 1; bits++) found.push((index) => (bits & (1 << index)) !== 0)
    return found
  }
  found.push(() => false)
  for (let at = 0; at < count; at++) {
    found.push(
      (index) => index === at,
      (index) => index !== at,
      (index) => index < at,
      (index) => index >= at,
    )
  }
  return found
}
