/** Returns the text without any `character` at its end, in one pass, unlike a regular expression with `+$`. */
export function withoutTrailing(character: string, text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

/** The text with at most `lengthMax` UTF-16 units, and an ellipsis if it is longer. */
export const shortened = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).toWellFormed()}…` : text

/** Longer names are not compared: no known name is near to them. */
const comparedLengthMax = 100

/** Letters that a misspelled name of `length` letters may have wrong. */
const wrongLettersMax = (length: number): number => (length < 3 ? 0 : length < 6 ? 1 : 2)

/** Names that differ in case or separators only are the same here. */
export const foldedName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/**
 * The known name that `name` most likely misspells, or null: they differ in case or separators only, or by one or two
 * letters. The cost is bounded for each known name.
 */
export function misspelledName(name: string, known: Iterable<string>): string | null {
  if (name.length > comparedLengthMax) return null
  const text = foldedName(name)
  let nearest: string | null = null
  let distanceMin = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const other = foldedName(candidate)
    const allowed = wrongLettersMax(Math.max(text.length, other.length))
    if (Math.abs(text.length - other.length) > allowed) continue
    const distance = editDistance(text, other)
    if (distance > allowed || distance >= distanceMin) continue
    nearest = candidate
    distanceMin = distance
  }
  return nearest
}

/** The known name that a caller most likely means: one that `name` misspells, else one with the same first words. */
function intendedName(name: string, known: readonly string[]): string | null {
  const misspelled = misspelledName(name, known)
  if (misspelled !== null || name.length > comparedLengthMax) return misspelled
  const words = wordsOf(name)
  let [nearest, sharedMax]: [string | null, number] = [null, 0]
  for (const candidate of known) {
    const shared = sharedWords(words, wordsOf(candidate))
    if (shared < sharedMax || shared === 0) continue
    if (shared === sharedMax && nearest !== null && candidate.length >= nearest.length) continue
    nearest = candidate
    sharedMax = shared
  }
  return nearest
}

/** ` (did you mean …?)` with the intended name, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const intended = intendedName(name, known)
  return intended === null ? '' : ` (did you mean ${intended}?)`
}

/** `WEFT_MAX_BODY`, `--max-body` and `maxBody` → `max`, `body`. */
function wordsOf(name: string): readonly string[] {
  const words = name.split(/[-_]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  return words.filter((word, index) => word !== '' && !(index === 0 && word === 'weft'))
}

function sharedWords(first: readonly string[], second: readonly string[]): number {
  const different = first.findIndex((word, index) => word !== second[index])
  return different === -1 ? first.length : different
}

/**
 * Optimal string alignment distance: letters that are wrong, missing or additional, and neighbors that are exchanged, count
 * one each. The cost is the product of the lengths.
 */
function editDistance(first: string, second: string): number {
  let before: number[] = []
  let last = Array.from({ length: second.length + 1 }, (_, column) => column)
  for (let row = 1; row <= first.length; row++) {
    const next = [row]
    for (let column = 1; column <= second.length; column++) {
      const isSame = first[row - 1] === second[column - 1]
      const isExchanged =
        row > 1 &&
        column > 1 &&
        first[row - 1] === second[column - 2] &&
        first[row - 2] === second[column - 1]
      next[column] = Math.min(
        at(last, column) + 1,
        at(next, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isExchanged ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = last
    last = next
  }
  return at(last, second.length)
}

const at = (numbers: readonly number[], index: number): number => numbers[index] ?? Number.POSITIVE_INFINITY

/**
 * Replaces characters that control a terminal or reverse a line by their codes: clients choose the names that are
 * printed.
 */
export const escapeControls = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
