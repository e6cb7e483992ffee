/**
 * Removes all occurrences of `character` from the end of a text in linear time. A regular expression that
 * ends in `+$` can take quadratic time.
 */
export function withoutTrailing(character: string, text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end -= 1
  return text.slice(0, end)
}

/** Truncates a text to `lengthMax` UTF-16 units. Appends an ellipsis if the text was longer. */
export const shortened = (text: string, lengthMax: number): string =>
  text.length > lengthMax ? `${text.slice(0, lengthMax).toWellFormed()}…` : text

/**
 * Maximum length of a name that is compared with the known names. A longer name is not similar to any known
 * name.
 */
const comparedLengthMax = 100

/**
 * Returns the maximum edit distance at which a name of `length` letters counts as a misspelling of another
 * name.
 */
const wrongLettersMax = (length: number): number => (length < 3 ? 0 : length < 6 ? 1 : 2)

/** Returns the name in the form in which names are compared: case and separators make no difference. */
export const foldedName = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

/**
 * Returns the known name of which `name` is most likely a misspelling; null if there is none. The two names
 * differ only in case or separators, or by an edit distance of at most 2. The time for each known name is
 * limited.
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

/** Numbers, and words of one letter. Ids that differ in them are ids of a series, such as `page-1` and `page-2`. */
const seriesParts = /\d+|(?<![a-z])[a-z](?![a-z])/gi

/**
 * Returns the known id of which `id` is most likely a misspelling; null if there is none, or if `known` has `id`.
 * Ids of a series are no misspellings of each other.
 */
export function nearMiss(id: string, known: Iterable<string>): string | null {
  const partsOf = (name: string): string => (name.match(seriesParts) ?? []).join(' ').toLowerCase()
  const candidates = [...known]
  if (candidates.includes(id)) return null
  const parts = partsOf(id)
  return misspelledName(
    id,
    candidates.filter((each) => partsOf(each) === parts),
  )
}

/**
 * Returns the known name that a caller most likely means. This is the name that `name` misspells, otherwise
 * the name that starts with the same word and has the most words in common. Returns null if there is none.
 */
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

/** Returns ` (did you mean …?)` with the intended name; '' if there is none. */
export function didYouMean(name: string, known: readonly string[]): string {
  const intended = intendedName(name, known)
  return intended === null ? '' : ` (did you mean ${intended}?)`
}

/** Splits a name into its words: `WEFT_MAX_BODY`, `--max-body` and `maxBody` → `max`, `body`. */
function wordsOf(name: string): readonly string[] {
  const words = name.split(/[-_]+|(?<=[a-z])(?=[A-Z])/).map((word) => word.toLowerCase())
  return words.filter((word, index) => word !== '' && !(index === 0 && word === 'weft'))
}

/** Returns how many words two names share at their starts and ends; 0 if the first words differ. */
function sharedWords(first: readonly string[], second: readonly string[]): number {
  const start = sharedStart(first, second)
  if (start === 0) return 0
  return start + sharedStart(first.slice(start).reverse(), second.slice(start).reverse())
}

function sharedStart(first: readonly string[], second: readonly string[]): number {
  const different = first.findIndex((word, index) => word !== second[index])
  return different === -1 ? first.length : different
}

/**
 * Returns the optimal string alignment distance of two texts. Each letter that is wrong, missing or
 * additional counts one, and so does each exchange of neighboring letters. The running time is proportional
 * to the product of the two lengths.
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
 * Replaces the characters that a pattern matches by their codes, such as `\u{202e}`.
 * @param pattern with the flags `g` and `u`; each match must be one character
 */
export const escapeCharacters = (text: string, pattern: RegExp): string =>
  text.replaceAll(pattern, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/**
 * Replaces characters that control a terminal or reverse the direction of a line by their codes. This is
 * necessary because clients choose the names that are printed.
 */
export const escapeControls = (text: string): string => escapeCharacters(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu)
