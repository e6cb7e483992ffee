const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d
const colon = 0x3a
const comma = 0x2c

/**
 * Estimated memory in V8, in bytes, of a parsed object or array (`container`), of a member, and of an array
 * element or each further member (`element`).
 */
const parsedBytes = { container: 72, member: 32, element: 16 } as const

/** Properties of JSON text that can be determined before it is parsed. */
export interface JsonMeasure {
  readonly isTooDeep: boolean
  /** Upper estimate of the memory of the parsed values, in bytes. Has no meaning if the text is too deep. */
  readonly valueBytes: number
}

/**
 * Returns whether arrays and objects in JSON text are nested deeper than `depthMax`, and an estimate of the
 * memory of the parsed values. Reads the text once, without recursion. If the text is not JSON, the result
 * has no meaning.
 */
export function measureJson(text: string, depthMax: number): JsonMeasure {
  let depth = 0
  let [containers, members, elements] = [0, 0, 0]
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index + 1)
        break
      case openBracket:
      case openBrace:
        if (++depth > depthMax) return { isTooDeep: true, valueBytes: 0 }
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
  const { container, member, element } = parsedBytes
  const valueBytes = text.length + containers * container + members * member + elements * element
  return { isTooDeep: false, valueBytes }
}

/** Returns whether arrays and objects in JSON text are nested deeper than `depthMax`. See `measureJson`. */
export const jsonDepthExceeds = (text: string, depthMax: number): boolean =>
  measureJson(text, depthMax).isTooDeep

/**
 * Returns the index of the quote that ends a string. The content of the string starts at `from`. Searches
 * from quote to quote, which is fast.
 */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = at
    while (escapes > from && text.charCodeAt(escapes - 1) === backslash) escapes -= 1
    if ((at - escapes) % 2 === 0) return at
  }
  return text.length
}
