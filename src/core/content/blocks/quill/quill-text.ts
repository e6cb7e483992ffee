import {
  type FormatTable,
  type FormattedTarget,
  type FormattedText,
  FormattedTextBuilder,
} from '../../delta/formatted-text.ts'
import type { QuillPiece } from './quill-target.ts'

/** Returns whether the last line of a text has no line break. Quill shows one at the end of every text. */
export const isOpen = ({ text }: FormattedText): boolean => !text.endsWith('\n')

/** Removes the line break at the end, unless it has attributes. */
export function withoutLastBreak(pieces: readonly QuillPiece[]): readonly QuillPiece[] {
  const last = pieces.at(-1)
  return last?.insert === '\n' && last.format === 0 ? pieces.slice(0, -1) : pieces
}

/**
 * Returns the text that consists of these pieces. Text that stays keeps the formatting that Markdown cannot
 * represent, unless it becomes code.
 */
export function targetFrom(pieces: readonly QuillPiece[], formats: FormatTable): FormattedTarget {
  const content = new FormattedTextBuilder(formats)
  /** Offsets at which code starts and ends, in turn. */
  const code: number[] = []
  for (const { insert, format, isCode } of pieces) {
    if (isCode !== (code.length % 2 === 1)) code.push(content.length)
    content.add(insert, format)
  }
  const { text, runs, embeds } = content
  const kept = new Map<string, number>()
  let next = 0
  const keptFormat = (from: number, to: number, targetAt: number): number => {
    while ((code[next] ?? Number.POSITIVE_INFINITY) <= targetAt) next += 1
    if (from === to || next % 2 === 1) return to
    const key = `${from} ${to}`
    const format = kept.get(key) ?? withUnstated(formats, from, to)
    kept.set(key, format)
    return format
  }
  return { text, runs, embeds, keptFormat }
}

/** Attributes that Markdown states, on texts, embeds and line breaks. */
const statedNames: ReadonlySet<string> = new Set(
  'bold italic strike code link alt blockquote code-block header indent list table'.split(' '),
)

/** Adds the attributes of stored text that Markdown cannot represent. */
function withUnstated(formats: FormatTable, from: number, to: number): number {
  const [stored, wanted] = [formats.get(from).attributes, formats.get(to).attributes]
  const unstated = Object.entries(stored).filter(([name]) => !statedNames.has(name))
  return formats.of(Object.fromEntries([...unstated, ...Object.entries(wanted)]))
}
