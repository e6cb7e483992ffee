/**
 * Splits a range of text into tokens. Returns the exclusive end of each token; the tokens cover the whole
 * range.
 */
export type Tokenizer = (text: string, start: number, end: number) => number[]

const newline = 10

/** Class of a character for the word tokenizer. */
type CharacterClass = typeof space | typeof word | typeof single
const space = 0
const word = 1
/** The character is a separate token: punctuation, symbols, and scripts that are written without spaces. */
const single = 2

/** Ranges above ASCII whose characters are separate tokens, as pairs of first and last character. */
const singleRanges: readonly (readonly [number, number])[] = [
  [0x0080, 0x00bf], // Latin-1 signs
  [0x0e00, 0x0eff], // Thai, Lao
  [0x1000, 0x109f], // Myanmar
  [0x1780, 0x17ff], // Khmer
  [0x2000, 0x2bff], // punctuation, symbols, arrows
  [0x2e80, 0x9fff], // CJK and kana
  [0xf900, 0xfaff], // CJK compatibility
  [0xfe30, 0xffef], // full and half width
]

const asciiClasses = Uint8Array.from({ length: 0x80 }, (_, unit) => {
  if (unit === 32 || unit === 9) return space
  return /\w/.test(String.fromCharCode(unit)) ? word : single
})

/**
 * Returns the class of a UTF-16 unit. Surrogates count as single, because almost all of them belong to
 * ideographs or emoji.
 */
function classOf(unit: number): CharacterClass {
  if (unit < 0x80) return asciiClasses[unit] as CharacterClass
  if (unit >= 0xd800 && unit <= 0xdfff) return single
  return singleRanges.some(([from, to]) => unit >= from && unit <= to) ? single : word
}

export const startsWord = (text: string, at: number): boolean =>
  at < text.length &&
  classOf(text.charCodeAt(at)) === word &&
  (at === 0 || classOf(text.charCodeAt(at - 1)) !== word)

export const startsLine = (text: string, at: number): boolean =>
  at === 0 || text.charCodeAt(at - 1) === newline

/** Returns whether `at` is not between the halves of a surrogate pair. */
export const betweenCodePoints = (text: string, at: number): boolean =>
  (text.charCodeAt(at) & 0xfc00) !== 0xdc00 || (text.charCodeAt(at - 1) & 0xfc00) !== 0xd800

/** A range of a text as tokens. */
export interface TokenizedText {
  readonly text: string
  /** Offset of the first token. */
  readonly start: number
  /** Exclusive end of each token. */
  readonly ends: readonly number[]
  readonly tokens: Int32Array
}

/** Returns the offset at which a token starts. */
export const tokenStart = ({ start, ends }: TokenizedText, index: number): number => ends[index - 1] ?? start

/** Returns whether a token that starts at `at` is neither white space nor punctuation. */
export function isWord(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  const kind = classOf(unit)
  return kind === word || (kind === single && unit >= 0x80 && !/[\p{P}\s]/u.test(text.charAt(at)))
}

/** Splits text into lines. Each line includes its line break. */
export const lines: Tokenizer = (text, start, end) => {
  const ends: number[] = []
  for (let at = start; at < end; ) {
    const found = text.indexOf('\n', at)
    at = found === -1 || found >= end ? end : found + 1
    ends.push(at)
  }
  return ends
}

/** Splits text into words, runs of spaces, and single characters for everything else. */
export const words: Tokenizer = (text, start, end) => {
  const ends: number[] = []
  for (let at = start; at < end; ) {
    const kind = classOf(text.charCodeAt(at))
    at = kind === single ? nextCodePoint(text, at) : at + 1
    if (kind !== single) while (at < end && classOf(text.charCodeAt(at)) === kind) at += 1
    ends.push(at)
  }
  return ends
}

/** Splits text into code points. An unpaired surrogate counts as a code point. */
export const codePoints: Tokenizer = (text, start, end) => {
  const ends: number[] = []
  for (let at = start; at < end; ) {
    at = nextCodePoint(text, at)
    ends.push(at)
  }
  return ends
}

function nextCodePoint(text: string, at: number): number {
  const pair = (text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00
  return at + (pair ? 2 : 1)
}

/**
 * Assigns numbers to tokens. Equal texts have equal numbers. One interner is used for both sides of a
 * comparison, and for all its levels.
 */
export class TokenInterner {
  readonly #numbers = new Map<string, number>()
  /**
   * The next number for a token of several UTF-16 units. The number of a token of one unit is the code of
   * this unit, so that texts with many small tokens do not need the map.
   */
  #next = 0x1_0000

  number(text: string, start: number, ends: readonly number[]): Int32Array {
    const numbers = new Int32Array(ends.length)
    let from = start
    for (let index = 0; index < ends.length; index++) {
      const end = ends[index] as number
      numbers[index] = end - from === 1 ? text.charCodeAt(from) : this.#numberOf(text.slice(from, end))
      from = end
    }
    return numbers
  }

  #numberOf(token: string): number {
    const known = this.#numbers.get(token)
    if (known !== undefined) return known
    this.#numbers.set(token, this.#next)
    return this.#next++
  }
}
