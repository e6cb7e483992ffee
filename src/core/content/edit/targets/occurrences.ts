/** Maximum length of a pattern for which the search of the engine is used. Its worst case is quadratic. */
const shortMax = 64

/** Returns the offsets at which `pattern` occurs in `text`, in order, overlapping ones included. Linear time. */
export function* occurrences(text: string, pattern: string): Generator<number, void> {
  if (pattern === '') return
  if (pattern.length > shortMax) {
    yield* occurrencesOfLong(text, pattern)
    return
  }
  for (let at = text.indexOf(pattern); at !== -1; at = text.indexOf(pattern, at + 1)) yield at
}

/** Knuth, Morris and Pratt (1977). */
function* occurrencesOfLong(text: string, pattern: string): Generator<number, void> {
  const borders = bordersOf(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = borders[matched - 1] as number
    if (pattern.charCodeAt(matched) === unit) matched += 1
    if (matched < pattern.length) continue
    yield at + 1 - pattern.length
    matched = borders[matched - 1] as number
  }
}

/** Returns for each prefix of the pattern the length of its longest proper border. */
function bordersOf(pattern: string): Int32Array {
  const borders = new Int32Array(pattern.length)
  let length = 0
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern.charCodeAt(length) !== pattern.charCodeAt(at))
      length = borders[length - 1] as number
    if (pattern.charCodeAt(length) === pattern.charCodeAt(at)) length += 1
    borders[at] = length
  }
  return borders
}
