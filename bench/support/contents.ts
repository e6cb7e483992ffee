import { seededRandom } from './random.ts'

const random = seededRandom(5)
/** Returns a word of about five letters that occurs nowhere else. */
export const word = (): string => random(36 ** 5).toString(36)
export const words = (count: number): string => Array.from({ length: count }, word).join(' ')

export type ContentType = 'text' | 'map' | 'array' | 'xml'

/** Content of these lines, in the form of each type. */
const forms: Readonly<Record<ContentType, (lines: readonly string[]) => unknown>> = {
  text: (lines) => lines.join('\n'),
  map: (lines) => Object.fromEntries(lines.map((line, index) => [`key-${index}`, line])),
  array: (lines) => lines.map((text, index) => ({ id: `item-${index}`, text, done: false })),
  xml: (lines) => lines.map((line) => `<p>${line}</p>`).join(''),
}

const wordsInLine = 10
/** Number of contents that calls go through, forwards and backwards. */
const steps = 8

/** The contents by which calls replace a document, one after the other. */
export interface Sequence {
  readonly name: 'nothing' | 'a line' | 'everything'
  /** Contents as JSON. After the last one, the sequence goes backwards, and so on. */
  readonly contents: readonly string[]
}

/**
 * Returns content of about this number of bytes as JSON, in three sequences: no changes, one line in another
 * place, or everything new.
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

/** Returns the content of the call with this number. */
export function contentAt({ contents }: Sequence, call: number): string {
  const last = contents.length - 1
  const at = last === 0 ? 0 : call % (2 * last)
  return contents[Math.min(at, 2 * last - at)] as string
}
