import { seededRandom } from './random.ts'

const random = seededRandom(5)
/** Five letters, more or less, that are nowhere else. */
export const word = (): string => random(36 ** 5).toString(36)
export const words = (count: number): string => Array.from({ length: count }, word).join(' ')

export type ContentType = 'text' | 'map' | 'array' | 'xml'

/** Content of lines, as a call of each type has it. */
const forms: Readonly<Record<ContentType, (lines: readonly string[]) => unknown>> = {
  text: (lines) => lines.join('\n'),
  map: (lines) => Object.fromEntries(lines.map((line, index) => [`key-${index}`, line])),
  array: (lines) => lines.map((text, index) => ({ id: `item-${index}`, text, done: false })),
  xml: (lines) => lines.map((line) => `<p>${line}</p>`).join(''),
}

const wordsInLine = 10
/** What calls go through, there and back. */
const steps = 8

/** What a document is replaced by, one call after the other. */
export interface Sequence {
  readonly name: 'nothing' | 'a line' | 'everything'
  /** As JSON; after the last one come those before it, in reverse, and so on. */
  readonly contents: readonly string[]
}

/** Content of about so many bytes as JSON: with nothing new in a call, one line in another place, or everything. */
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

/** Which content the call of that number has. */
export function contentAt({ contents }: Sequence, call: number): string {
  const last = contents.length - 1
  const at = last === 0 ? 0 : call % (2 * last)
  return contents[Math.min(at, 2 * last - at)] as string
}
