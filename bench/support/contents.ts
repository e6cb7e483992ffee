import { seededRandom } from './random.ts'

const random = seededRandom(5)
/** Returns a word of about five letters. With high probability, no other word is the same. */
export const word = (): string => random(36 ** 5).toString(36)
export const words = (count: number): string => Array.from({ length: count }, word).join(' ')

export type ContentType = 'text' | 'map' | 'array' | 'xml'

/** Functions that convert lines to content of each type. */
const forms: Readonly<Record<ContentType, (lines: readonly string[]) => unknown>> = {
  text: (lines) => lines.join('\n'),
  map: (lines) => Object.fromEntries(lines.map((line, index) => [`key-${index}`, line])),
  array: (lines) => lines.map((text, index) => ({ id: `item-${index}`, text, done: false })),
  xml: (lines) => lines.map((line) => `<p>${line}</p>`).join(''),
}

const wordsInLine = 10
/** Number of contents in a sequence with one changed line per step. */
const steps = 8

/** Contents with which calls replace a document, one after the other. */
export interface Sequence {
  readonly name: 'nothing' | 'a line' | 'everything'
  /** Contents as JSON. After the last content, the calls use the sequence backwards, then forwards again. */
  readonly contents: readonly string[]
}

/**
 * Returns three sequences of contents of about the given size as JSON. In them, nothing changes, one line at
 * different places changes, or everything changes.
 */
export function sequencesOf(type: ContentType, bytes: number): readonly Sequence[] {
  const form = (lines: readonly string[]): string => JSON.stringify(forms[type](lines))
  const count = Math.max(1, Math.round(bytes / (form([words(wordsInLine)]).length - 2)))
  const linesOf = (): string[] => Array.from({ length: count }, () => words(wordsInLine))
  const [lines, others] = [linesOf(), linesOf()]
  const changed = Array.from({ length: steps }, (_, step) => {
    const at = Math.floor((step * count) / steps)
    if (step > 0) lines[at] = words(wordsInLine)
    return form(lines)
  })
  return [
    { name: 'nothing', contents: [form(lines)] },
    { name: 'a line', contents: changed },
    { name: 'everything', contents: [form(lines), form(others)] },
  ]
}

/** Returns the content that a call sends. @param call number of the call */
export function contentAt({ contents }: Sequence, call: number): string {
  const last = contents.length - 1
  const at = last === 0 ? 0 : call % (2 * last)
  return contents[Math.min(at, 2 * last - at)] as string
}
