import type * as Y from 'yjs'
import type { NeutralBlock } from '../../blocks/block.ts'
import { newBlocksFor } from '../../blocks/block-format.ts'
import { onlyLine, planQuillChange, type QuillChange } from '../../blocks/quill/quill-change.ts'
import { isQuill, quillFeatures, structureOf } from '../../blocks/quill/quill-dialect.ts'
import { structsIn } from '../../values/replace-values.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace } from '../edit.ts'
import { indexAtOffset, sectionEnd } from '../targets/flow-view.ts'
import type { LineFlowView } from '../targets/line-view.ts'
import { isHeading, type ResolvedTarget } from '../targets/resolve.ts'
import { type LineEditRoot, LineEdits, rangeOfTarget } from './line-edits.ts'

/** Steps of reading and planning a text, for each struct of the document and each UTF-16 unit. */
const [stepsPerStruct, stepsPerUnit] = [100, 10]

type Range = readonly [start: number, end: number]

/** Returns the writer of an edit of a text root. Content in Markdown or HTML becomes blocks in a text of Quill. */
export function lineEditsFor(
  transaction: Y.Transaction,
  root: LineEditRoot,
  place: string,
  edit: Edit,
): LineEdits {
  const content = 'content' in edit && edit.content.format === 'nodes' ? edit.content : null
  const isOfBlocks = content?.source && isQuill(root.view.source.type, root.contentKey, root.schemaKind)
  return isOfBlocks
    ? new QuillEdits(
        transaction,
        root,
        place,
        newBlocksFor(content.source, { features: quillFeatures }),
        content.around,
      )
    : new LineEdits(transaction, root, place)
}

/** One edit that writes blocks of Markdown or HTML into a text of Quill. */
class QuillEdits extends LineEdits {
  readonly #blocks: readonly NeutralBlock[]
  readonly #around: { readonly start: string; readonly end: string }

  constructor(
    transaction: Y.Transaction,
    root: LineEditRoot,
    place: string,
    blocks: readonly NeutralBlock[],
    around: { readonly start: string; readonly end: string } | null,
  ) {
    super(transaction, root, place)
    this.#blocks = blocks
    this.#around = around ?? { start: '', end: '' }
  }

  protected override replace(edited: EditTarget, content: InsertedContent): EditOutcome {
    const target = this.resolve(edited, content)
    const [start, end] = rangeOfTarget(this.view, target)
    const isLine = this.#lineStart(start) === start && this.#lineEnd(end) === end
    if (onlyLine(this.#blocks) !== null && (target.is === 'text' || this.#isPart(end)))
      return this.#writeText([start, end], true)
    if (!isLine)
      throw this.unsupported(
        'content with blocks can only replace whole lines; use the whole text of a line as the target',
      )
    const after = Math.min(end + 1, this.text.length)
    return this.#write({ is: 'lines', ...this.#indexes([start, after], after === end) })
  }

  protected override insert(place: InsertPlace): EditOutcome {
    if (!('target' in place)) {
      const offset = place.at === 'start' ? 0 : this.text.length
      return this.#insertAt(offset, place.at === 'end')
    }
    const target = this.resolve(place.target)
    const range = rangeOfTarget(this.view, target)
    const isBefore = place.at === 'before'
    const isInText = target.is === 'text' || (place.at === 'into' && !isHeading(target))
    if (isInText && onlyLine(this.#blocks) !== null) {
      const at = isBefore ? range[0] : range[1]
      return this.#writeText([at, at], !isBefore)
    }
    if (isInText && place.at === 'into')
      throw this.unsupported('a line cannot contain blocks; insert them before or after it')
    const offset = this.#offsetNextTo(target, range, place.at)
    return this.#insertAt(offset, offset === this.text.length && !this.text.endsWith('\n'))
  }

  #insertAt(offset: number, afterEmbeds: boolean): EditOutcome {
    return this.#write({ is: 'insertion', index: indexAtOffset(this.#state, offset, afterEmbeds) })
  }

  /** Returns the start of the line before which new lines are inserted. */
  #offsetNextTo(target: ResolvedTarget, [start, end]: Range, at: InsertPlace['at']): number {
    if (at === 'before') return this.#lineStart(start)
    if (!isHeading(target)) return Math.min(this.#lineEnd(end) + 1, this.text.length)
    const next = this.view.blocks[sectionEnd(this.view, target.block)]
    return next?.start ?? this.text.length
  }

  /** Returns whether the line that ends here is an item or a part of a quote, which a paragraph does not replace. */
  #isPart(end: number): boolean {
    const line = this.view.blocks.find((block) => block.end >= end)
    const { kind } = structureOf(line === undefined ? {} : this.view.attributesOf(line))
    return kind === 'item' || kind === 'blockquote'
  }

  #writeText([start, end]: Range, afterEmbeds: boolean): EditOutcome {
    const isEmpty = start === end
    const from = indexAtOffset(this.#state, start, isEmpty ? afterEmbeds : true)
    const to = isEmpty ? from : indexAtOffset(this.#state, end, false)
    return this.#write({ is: 'text', start: from, end: Math.max(from, to), around: this.#around })
  }

  #write(edit: QuillChange): EditOutcome {
    const { type } = this.view.source
    const structs = structsIn(this.root.doc)
    this.view.work.spend(structs * stepsPerStruct + this.text.length * stepsPerUnit)
    const written = planQuillChange(type, this.#blocks, edit)?.(this.transaction, type)
    return this.outcome(written?.insertions ?? 0, written?.deletions ?? 0, written !== undefined)
  }

  #indexes([start, end]: Range, isAtEnd: boolean): { readonly start: number; readonly end: number } {
    return {
      start: indexAtOffset(this.#state, start, false),
      end: indexAtOffset(this.#state, end, isAtEnd),
    }
  }

  get #state(): LineFlowView['source']['state'] {
    return this.view.source.state
  }

  #lineStart = (offset: number): number => this.text.lastIndexOf('\n', offset - 1) + 1

  #lineEnd(offset: number): number {
    const found = this.text.indexOf('\n', offset)
    return found === -1 ? this.text.length : found
  }
}
