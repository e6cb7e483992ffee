const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const colon = 0x3a
const comma = 0x2c

/**
 * Estimated memory in V8 in bytes. `container`: a parsed object or array. `member`: a member of an object.
 * `element`: an array element, or each member of an object after the first one (in addition to `member`).
 */
const parsedBytes = { container: 72, member: 32, element: 16 } as const

/** Properties of a JSON text that can be determined without parsing it. */
interface JsonMeasure {
  readonly isTooDeep: boolean
  /** Number of arrays, objects and commas: about the number of nested values. Not valid if the text is too deep. */
  readonly values: number
  /**
   * Upper estimate of the memory that the parsed values take, in bytes. Not valid if the text is too deep.
   */
  readonly valueBytes: number
}

/** Measures a JSON text in parts, between which other work can run. */
export class JsonMeter {
  readonly #text: string
  readonly #depthMax: number
  #at = 0
  #depth = 0
  #isTooDeep = false
  #containers = 0
  #members = 0
  #elements = 0

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  /** The measure of the text that was read. */
  get measure(): JsonMeasure {
    const { container, member, element } = parsedBytes
    return {
      isTooDeep: this.#isTooDeep,
      values: this.#containers + this.#elements,
      valueBytes:
        this.#text.length + this.#containers * container + this.#members * member + this.#elements * element,
    }
  }

  /**
   * Reads the next `length` characters, and the rest of a string in which they end. Returns true if nothing is left to
   * read, or if the text is too deep.
   */
  read(length: number): boolean {
    const text = this.#text
    const end = Math.min(text.length, this.#at + length)
    let [index, depth] = [this.#at, this.#depth]
    let [containers, members, elements] = [0, 0, 0]
    for (; index < end && !this.#isTooDeep; index++) {
      switch (text.charCodeAt(index)) {
        case quote:
          index = endOfString(text, index + 1)
          break
        case openBracket:
        case openBrace:
          if (++depth > this.#depthMax) this.#isTooDeep = true
          containers += 1
          break
        case colon:
          members += 1
          break
        case comma:
          elements += 1
          break
        case closeBracket:
        case closeBrace:
          depth -= 1
      }
    }
    this.#at = index
    this.#depth = depth
    this.#containers += containers
    this.#members += members
    this.#elements += elements
    return this.#isTooDeep || index >= text.length
  }
}

/**
 * Returns whether arrays and objects in a JSON text are nested deeper than `depthMax`, and an estimate of the
 * memory of the parsed values. Reads the text once, without recursion. If the text is not JSON, the result is
 * not valid.
 */
export function measureJson(text: string, depthMax: number): JsonMeasure {
  const meter = new JsonMeter(text, depthMax)
  meter.read(text.length)
  return meter.measure
}

/**
 * Returns whether arrays and objects in a JSON text are nested deeper than `depthMax`, as `measureJson` does.
 */
export const jsonDepthExceeds = (text: string, depthMax: number): boolean =>
  measureJson(text, depthMax).isTooDeep

/**
 * Returns the index of the quote that ends a string; the length of the text if there is none. The content of
 * the string starts at `from`. The search goes from quote to quote, which is fast.
 */
export function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = at
    while (escapes > from && text.charCodeAt(escapes - 1) === backslash) escapes -= 1
    if ((at - escapes) % 2 === 0) return at
  }
  return text.length
}
