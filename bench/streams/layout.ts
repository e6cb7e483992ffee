import { type Random, seededRandom } from '../support/random.ts'

/** The place of a stream in the document, as the opening names it. */
export interface StreamTarget {
  readonly name: string
  readonly edit: object
}

/** The text of a document, the places where streams write into it, and the places where users type. */
export interface Layout {
  readonly text: string
  readonly targets: readonly StreamTarget[]
  /** Offsets at which users type. The first ones are at the place of a stream, or in the text that one replaces. */
  readonly typingAt: readonly number[]
  /** Ranges of the text that stay. Users type, and streams write, only at their ends. */
  readonly quiet: readonly QuietRange[]
  /** Returns the text after all streams, without the characters that users have typed. */
  readonly expected: (contents: readonly string[]) => string
}

export interface QuietRange {
  readonly start: number
  readonly end: number
}

/** A stream inserts its content with `before` and `after` around it, and deletes the text from `start` to `end`. */
interface Place extends StreamTarget {
  readonly start: number
  readonly end: number
  readonly before: '' | '\n'
  readonly after: '' | '\n'
}

const linesPerPlace = 24
const wordsInLine = 9

/**
 * Returns the layout of a document.
 * @param count number of streams, and number of typists
 */
export function layoutOf(count: number, seed: number): Layout {
  const random = seededRandom(seed)
  const word = (): string => random(36 ** 5).toString(36)
  const lines = Array.from({ length: count * linesPerPlace }, (_, index) =>
    [`line-${index}`, ...Array.from({ length: wordsInLine }, word)].join(' '),
  )
  const text = lines.join('\n')
  const places = Array.from({ length: count }, (_, index) => placeIn(lines, index, count))
  // Half of the users type at the place of a stream.
  const typingAt = places.map(({ start, end }, index) =>
    index % 2 === 0
      ? Math.floor((start + end) / 2)
      : offsetOf(lines, index * linesPerPlace + 2) + (lines[index * linesPerPlace + 2] as string).length - 5,
  )
  const edges = [...places.flatMap(({ start, end }) => [start, end]), ...typingAt, 0, text.length].toSorted(
    (one, other) => one - other,
  )
  const isReplaced = (at: number): boolean => places.some(({ start, end }) => start <= at && at < end)
  const quiet = edges
    .map((start, index) => ({ start, end: edges[index + 1] ?? start }))
    .filter(({ start, end }) => end - start > 1 && !isReplaced(start))
  return {
    text,
    targets: places,
    typingAt,
    quiet,
    expected: (contents) => {
      let result = ''
      let at = 0
      const inOrder = places.map((place, index) => ({ ...place, content: contents[index] as string }))
      for (const { start, end, before, after, content } of inOrder.toSorted((a, b) => a.start - b.start)) {
        result += text.slice(at, start) + before + content + after
        at = end
      }
      return result + text.slice(at)
    },
  }
}

/** Returns the place of a stream in the middle of its lines. */
function placeIn(lines: readonly string[], index: number, count: number): Place {
  const block = index * linesPerPlace + linesPerPlace / 2
  const line = lines[block] as string
  const start = offsetOf(lines, block)
  const end = start + line.length
  const quote = line.slice(0, Math.floor(line.length / 2))
  const middle = start + quote.length
  const places: readonly Place[] = [
    inserted('after a quote', { after: quote }, middle),
    inserted('after a line', { after: { block } }, end, '\n'),
    { name: 'instead of a quote', edit: { replace: { find: line } }, start, end, before: '', after: '' },
    inserted('before a line', { before: { block } }, start, '', '\n'),
    inserted('into a line', { into: { block } }, end),
    inserted('before a quote', { before: line.slice(quote.length) }, middle),
  ]
  if (index === count - 1) return inserted('at the end', { at: 'end' }, lines.join('\n').length)
  return places[index % places.length] as Place
}

function inserted(
  name: string,
  insert: object,
  at: number,
  before: '' | '\n' = '',
  after: '' | '\n' = '',
): Place {
  return { name, edit: { insert }, start: at, end: at, before, after }
}

const offsetOf = (lines: readonly string[], block: number): number =>
  lines.slice(0, block).reduce((sum, { length }) => sum + length + 1, 0)

/** Units that neither JSON nor UTF-16 encodes as one simple character, and line breaks. */
const special = ['\n', '😀', '漢字', 'Ö', '"\\', '\t', '👩‍👩‍👧'] as const

/** Returns the content of a stream: words and special characters after a mark that is in no other stream. */
export function contentFor(stream: number, length: number, random: Random): string {
  let content = markOf(stream)
  while (content.length < length)
    content += random(12) === 0 ? special[random(special.length)] : `${random(36 ** 4).toString(36)} `
  return content
}

const markOf = (stream: number): string => `⟦${stream}⟧`

/** Returns the stream whose mark is in a text, and the offset of the mark; null if the text has no mark. */
export function streamMarkedIn(text: string): { readonly stream: number; readonly start: number } | null {
  const found = /⟦(\d+)⟧/.exec(text)
  return found === null ? null : { stream: Number(found[1]), start: found.index }
}
