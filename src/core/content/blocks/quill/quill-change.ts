import { planFormattedText } from '../../delta/delta.ts'
import {
  type FormatTable,
  type FormattedTarget,
  type FormattedText,
  type FormattedTextState,
  piecesOf,
} from '../../delta/formatted-text.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { PlannedUpdate } from '../../yjs/root-replacement.ts'
import type { Inline, NeutralBlock } from '../block.ts'
import { blockEmbeds } from './quill-dialect.ts'
import { QuillRoot } from './quill-root.ts'
import { isOpen, type QuillPiece, targetFrom, withoutLastBreak } from './quill-target.ts'

/** A change of a part of a text of Quill. Positions are indexes in the shared text. */
export type QuillChange =
  /** An insertion of blocks before the line that starts at an index, or at the end. */
  | { readonly is: 'insertion'; readonly index: number }
  /** A replacement of whole lines by blocks. */
  | { readonly is: 'lines'; readonly start: number; readonly end: number }
  /** A replacement of a part of a line by the only paragraph, with white space around it. */
  | {
      readonly is: 'text'
      readonly start: number
      readonly end: number
      readonly around: { readonly start: string; readonly end: string }
    }

/** Plans a change that inserts new blocks. Formatting that the blocks cannot represent stays on text that stays. */
export const planQuillChange = (
  root: SharedRoot,
  blocks: readonly NeutralBlock[],
  change: QuillChange,
): PlannedUpdate | null =>
  planFormattedText(root, (formats, stored) => targetOfChange(blocks, change, formats, stored))

/** Returns the text of the only paragraph or image; null if the blocks have another form. */
export function onlyLine([block, ...others]: readonly NeutralBlock[]): readonly Inline[] | null {
  if (block === undefined || others.length > 0) return null
  if (block.kind === 'image') return [block]
  if (block.kind !== 'paragraph' || block.content.some(({ kind }) => kind === 'hardBreak')) return null
  return block.content
}

function targetOfChange(
  blocks: readonly NeutralBlock[],
  change: QuillChange,
  formats: FormatTable,
  stored: FormattedTextState,
): FormattedTarget {
  const { content } = stored
  const [first, end] =
    change.is === 'insertion'
      ? [offsetOf(stored, change.index), offsetOf(stored, change.index)]
      : [offsetOf(stored, change.start), offsetOf(stored, change.end)]
  const start = change.is === 'lines' ? afterBlockEmbeds(content, first, end) : first
  const isAtEnd = end === content.text.length
  const replaced = { ...stored, content: targetFrom(piecesOf(content, start, end), formats) }
  const lines = new QuillRoot(undefined, 'simple', formats, replaced).linesOf(blocks)
  const inserted = insertedPieces(content, change, lines, isAtEnd)
  const suffix = content.text.length - end
  const whole = [...piecesOf(content, 0, start), ...inserted, ...piecesOf(content, end, content.text.length)]
  const target = targetFrom(whole, formats)
  return { ...target, changed: { start, end, targetEnd: target.text.length - suffix } }
}

function insertedPieces(
  content: FormattedText,
  change: QuillChange,
  lines: readonly QuillPiece[],
  isAtEnd: boolean,
): readonly QuillPiece[] {
  if (change.is === 'text')
    return [plain(change.around.start), ...lines.slice(0, -1), plain(change.around.end)]
  const own = isAtEnd && isOpen(content) ? withoutLastBreak(lines) : lines
  // The last line gets its line break, so that another line can follow it.
  const needsBreak = change.is === 'insertion' && isAtEnd && content.text !== '' && !endsLine(content)
  return needsBreak ? [plain('\n'), ...own] : own
}

const plain = (insert: string): QuillPiece => ({ insert, format: 0 })

/** Returns the offset in the formatted text for an index in the shared text. */
function offsetOf({ hidden }: FormattedTextState, index: number): number {
  let passed = 0
  for (const { at, length } of hidden) {
    if (at + passed >= index) break
    passed += length
  }
  return index - passed
}

/** Returns whether the text ends with a line break or with an embed that is a block. */
const endsLine = (content: FormattedText): boolean =>
  !isOpen(content) || isBlockEmbed(content, content.text.length - 1)

function isBlockEmbed({ embeds }: FormattedText, at: number): boolean {
  const [name] = Object.keys(embeds.get(at) ?? {})
  return name !== undefined && blockEmbeds.has(name)
}

function afterBlockEmbeds(content: FormattedText, start: number, end: number): number {
  let at = start
  while (at < end && isBlockEmbed(content, at)) at += 1
  return at
}
