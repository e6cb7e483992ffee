const quote = 0x22
const backslash = 0x5c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/**
 * Whether arrays and objects in JSON text are nested deeper than `depthMax`. Reads the text once, without recursion,
 * so that it can be asked before anything parses the text. Text that isn't JSON gets some answer.
 */
export function jsonDepthExceeds(text: string, depthMax: number): boolean {
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    switch (text.charCodeAt(index)) {
      case quote:
        index = endOfString(text, index + 1)
        break
      case openBracket:
      case openBrace:
        if (++depth > depthMax) return true
        break
      case closeBracket:
      case closeBrace:
        depth -= 1
    }
  }
  return false
}

/** Index of the quote that ends the string whose content starts at `from`. It goes from quote to quote, which is fast. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 1)) {
    let escapes = at
    while (escapes > from && text.charCodeAt(escapes - 1) === backslash) escapes -= 1
    if ((at - escapes) % 2 === 0) return at
  }
  return text.length
}
