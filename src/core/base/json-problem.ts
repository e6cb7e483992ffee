/**
 * Position and description of the first error in a text that is not valid JSON. Lines and columns start at 1.
 * Columns are counted in code points.
 */
interface JsonProblem {
  readonly problem: string
  readonly line: number
  readonly column: number
}

/** The tokens that the scanner can expect at a position, with their descriptions for messages. */
const expectations = {
  value: 'expected a value',
  valueOrEnd: 'expected a value or "]"',
  name: 'expected a name in double quotes',
  nameOrEnd: 'expected a name in double quotes or "}"',
  colon: 'expected ":"',
  commaOrEnd: 'expected "," or the end of the array or object',
  end: 'expected nothing after the end of the value',
} as const

type Expected = keyof typeof expectations

/**
 * Finds the first place at which a text is not JSON (RFC 8259). If the whole text is valid JSON, returns the
 * position of its end. The time is proportional to the length of the text, and there is no recursion. The
 * result contains no part of the text, because the text may contain secrets.
 */
export function findJsonProblem(text: string): JsonProblem {
  const scanner = new JsonScanner(text)
  const problem = scanner.run()
  return { problem, ...placeOf(text, scanner.index) }
}

/**
 * Reads tokens character by character. This is about ten times as fast as a regular expression for each
 * token.
 */
class JsonScanner {
  index = 0
  readonly #text: string
  /** The arrays and objects that have not been closed yet. */
  readonly #open: ('{' | '[')[] = []
  #expected: Expected = 'value'

  constructor(text: string) {
    this.#text = text
  }

  /** Scans the text and returns the problem. `index` is then the position of the problem. */
  run(): string {
    for (;;) {
      this.#skipWhitespace()
      const character = this.#text[this.index]
      if (character === undefined) return `the text ends, ${expectations[this.#expected]}`
      const problem = character === '"' ? this.#string() : this.#token(character)
      if (problem !== null) return problem
    }
  }

  #skipWhitespace(): void {
    for (; ; this.index += 1) {
      const code = this.#text.charCodeAt(this.index)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return
    }
  }

  get #isValueExpected(): boolean {
    return this.#expected === 'value' || this.#expected === 'valueOrEnd'
  }

  #unexpected = (): string => expectations[this.#expected]

  #take(length: number, next: Expected): null {
    this.index += length
    this.#expected = next
    return null
  }

  #afterValue = (): Expected => (this.#open.length === 0 ? 'end' : 'commaOrEnd')

  #token(character: string): string | null {
    if (character === '{' || character === '[') {
      if (!this.#isValueExpected) return this.#unexpected()
      this.#open.push(character)
      return this.#take(1, character === '{' ? 'nameOrEnd' : 'valueOrEnd')
    }
    if (character === '}' || character === ']') return this.#close(character)
    if (character === ',' && this.#expected === 'commaOrEnd')
      return this.#take(1, this.#open.at(-1) === '{' ? 'name' : 'value')
    if (character === ':' && this.#expected === 'colon') return this.#take(1, 'value')
    const length = this.#isValueExpected ? this.#wordLength() : 0
    return length === 0 ? this.#unexpected() : this.#take(length, this.#afterValue())
  }

  #close(character: '}' | ']'): string | null {
    const isEmptyEnd = this.#expected === (character === '}' ? 'nameOrEnd' : 'valueOrEnd')
    const isOpen = this.#open.at(-1) === (character === '}' ? '{' : '[')
    if (!isOpen || !(isEmptyEnd || this.#expected === 'commaOrEnd')) return this.#unexpected()
    this.#open.pop()
    return this.#take(1, this.#afterValue())
  }

  #string(): string | null {
    const isName = this.#expected === 'name' || this.#expected === 'nameOrEnd'
    if (!isName && !this.#isValueExpected) return this.#unexpected()
    const start = this.index
    for (this.index += 1; this.index < this.#text.length; ) {
      const code = this.#text.charCodeAt(this.index)
      if (code === 0x22) return this.#take(1, isName ? 'colon' : this.#afterValue())
      if (code < 0x20) return 'a string contains a line break or another control character'
      if (code === 0x5c && !this.#isEscape())
        return 'a string contains an unknown escape; a backslash is written \\\\'
      // Skips the character after a backslash, because it may be a quote or another backslash.
      this.index += code === 0x5c ? 2 : 1
    }
    this.index = start
    return 'a string begins here and does not end'
  }

  #isEscape(): boolean {
    const character = this.#text[this.index + 1] ?? ''
    if (character !== 'u') return '"\\/bfnrt'.includes(character) && character !== ''
    return /^[\da-fA-F]{4}$/.test(this.#text.slice(this.index + 2, this.index + 6))
  }

  /** Returns the length of the number, `true`, `false` or `null` at `index`; 0 if there is none of them. */
  #wordLength(): number {
    const character = this.#text[this.index] ?? ''
    const word = literals[character]
    if (word !== undefined) return this.#text.startsWith(word, this.index) ? word.length : 0
    let end = this.index + (character === '-' ? 1 : 0)
    const first = end
    end = this.#text[end] === '0' ? end + 1 : this.#digitsEnd(end)
    if (end === first) return 0
    if (this.#text[end] === '.' && this.#digitsEnd(end + 1) > end + 1) end = this.#digitsEnd(end + 1)
    if ('eE'.includes(this.#text[end] ?? '.')) {
      const digits = end + ('+-'.includes(this.#text[end + 1] ?? '.') ? 2 : 1)
      if (this.#digitsEnd(digits) > digits) end = this.#digitsEnd(digits)
    }
    return end - this.index
  }

  #digitsEnd(from: number): number {
    let end = from
    while (isDigit(this.#text.charCodeAt(end))) end += 1
    return end
  }
}

const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

function placeOf(text: string, index: number): { readonly line: number; readonly column: number } {
  let [line, lineStart] = [1, 0]
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) {
    line += 1
    lineStart = at + 1
  }
  let column = 1
  for (let at = lineStart; at < index; at++) if (!isLowSurrogate(text.charCodeAt(at))) column += 1
  return { line, column }
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff
