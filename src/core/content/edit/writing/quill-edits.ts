import type * as Y from 'yjs'
import type { NeutralBlock } from '../../blocks/block.ts'
import { newBlocksFor } from '../../blocks/block-format.ts'
import { onlyLine, planQuillChange, type QuillChange } from '../../blocks/quill/quill-change.ts'
import { isQuill, quillFeatures, structureOf } from '../../blocks/quill/quill-dialect.ts'
import { structsIn } from '../../values/replace-values.ts'
import type { KnownKind } from '../../yjs/root-kind.ts'
import type { EditOutcome, InsertedContent, InsertPlace, MatchedPlace } from '../edit.ts'
import { editNotSupported } from '../edit-errors.ts'
import { indexAtOffset, sectionEnd } from '../targets/flow-view.ts'
import type { LineFlowView } from '../targets/line-view.ts'
import { isHeading, placeOfTarget, type ResolvedTarget, type TargetRoot } from '../targets/resolve.ts'

/** A text root, and the content of an edit. */
export interface LineEditRoot extends TargetRoot {
  readonly view: LineFlowView
  /** The kind of root that the schema describes; undefined without a schema. */
  readonly schemaKind: KnownKind | undefined
}

/** Steps of reading and planning a text, for each struct of the document and each UTF-16 unit. */
const [stepsPerStruct, stepsPerUnit] = [100, 10]

type Range = readonly [start: number, end: number]

/** Returns the blocks of content in Markdown or HTML for a text of Quill; null for other content or texts. */
export function blocksOfContent(
  root: LineEditRoot,
  content: InsertedContent,
): readonly NeutralBlock[] | null {
  if (content.format !== 'nodes' || content.source === null) return null
  if (!isQuill(root.view.source.type, root.contentKey, root.schemaKind)) return null
  return newBlocksFor(content.source, { features: quillFeatures })
}

/** Inserts blocks of Markdown or HTML into a text of Quill. */
export class QuillEdits {
  readonly #transaction: Y.Transaction
  readonly #root: LineEditRoot
  readonly #place: string
  readonly #blocks: readonly NeutralBlock[]
  readonly #around: { readonly start: string; readonly end: string }

  constructor(
    transaction: Y.Transaction,
    root: LineEditRoot,
    place: string,
    blocks: readonly NeutralBlock[],
    around: { readonly start: string; readonly end: string } | null,
  ) {
    this.#transaction = transaction
    this.#root = root
    this.#place = place
    this.#blocks = blocks
    this.#around = around ?? { start: '', end: '' }
  }

  /** @param range the text of the target */
  replace(target: ResolvedTarget, [start, end]: Range): EditOutcome {
    const matched = placeOfTarget(this.#view, target)
    const isLine = this.#lineStart(start) === start && this.#lineEnd(end) === end
    if (onlyLine(this.#blocks) !== null && (target.is === 'text' || this.#isPart(end)))
      return this.#writeText(matched, [start, end], true)
    if (!isLine)
      throw editNotSupported(
        `${this.#place}: content with blocks can only replace whole lines; use the whole text of a line as the target`,
      )
    const after = Math.min(end + 1, this.#text.length)
    return this.#write(matched, { is: 'lines', ...this.#indexes([start, after], after === end) })
  }

  /** @param resolved the target and its text; null: an end of the root */
  insert(
    place: InsertPlace,
    resolved: { readonly target: ResolvedTarget; readonly range: Range } | null,
  ): EditOutcome {
    if (resolved === null) {
      const offset = place.at === 'start' ? 0 : this.#text.length
      return this.#write(
        {},
        { is: 'insertion', index: indexAtOffset(this.#state, offset, place.at === 'end') },
      )
    }
    const { target, range } = resolved
    const matched = placeOfTarget(this.#view, target)
    const isBefore = place.at === 'before'
    const isInText = target.is === 'text' || (place.at === 'into' && !isHeading(target))
    if (isInText && onlyLine(this.#blocks) !== null) {
      const at = isBefore ? range[0] : range[1]
      return this.#writeText(matched, [at, at], !isBefore)
    }
    if (isInText && place.at === 'into')
      throw editNotSupported(`${this.#place}: a line cannot contain blocks; insert them before or after it`)
    const offset = this.#offsetNextTo(target, range, place.at)
    const isAtEnd = offset === this.#text.length && !this.#text.endsWith('\n')
    return this.#write(matched, { is: 'insertion', index: indexAtOffset(this.#state, offset, isAtEnd) })
  }

  /** Returns the start of the line before which new lines are inserted. */
  #offsetNextTo(target: ResolvedTarget, [start, end]: Range, at: InsertPlace['at']): number {
    if (at === 'before') return this.#lineStart(start)
    if (!isHeading(target)) return Math.min(this.#lineEnd(end) + 1, this.#text.length)
    const next = this.#view.blocks[sectionEnd(this.#view, target.block)]
    return next?.start ?? this.#text.length
  }

  /** Returns whether the line that ends here is an item or a part of a quote, which a paragraph does not replace. */
  #isPart(end: number): boolean {
    const line = this.#view.blocks.find((block) => block.end >= end)
    const { kind } = structureOf(line === undefined ? {} : this.#view.attributesOf(line))
    return kind === 'item' || kind === 'blockquote'
  }

  #writeText(matched: MatchedPlace, [start, end]: Range, afterEmbeds: boolean): EditOutcome {
    const isEmpty = start === end
    const from = indexAtOffset(this.#state, start, isEmpty ? afterEmbeds : true)
    const to = isEmpty ? from : indexAtOffset(this.#state, end, false)
    return this.#write(matched, { is: 'text', start: from, end: Math.max(from, to), around: this.#around })
  }

  #write(place: MatchedPlace, edit: QuillChange): EditOutcome {
    const { type } = this.#view.source
    const structs = structsIn(this.#root.doc)
    this.#view.work.spend(structs * stepsPerStruct + this.#text.length * stepsPerUnit)
    const plan = planQuillChange(type, this.#blocks, edit)
    if (plan === null) return { place, insertions: 0, deletions: 0, changed: false }
    const { insertions, deletions } = plan(this.#transaction, type)
    return { place, insertions, deletions, changed: true }
  }

  #indexes([start, end]: Range, isAtEnd: boolean): { readonly start: number; readonly end: number } {
    return {
      start: indexAtOffset(this.#state, start, false),
      end: indexAtOffset(this.#state, end, isAtEnd),
    }
  }

  get #view(): LineFlowView {
    return this.#root.view
  }

  get #state(): LineFlowView['source']['state'] {
    return this.#view.source.state
  }

  get #text(): string {
    return this.#state.text
  }

  #lineStart = (offset: number): number => this.#text.lastIndexOf('\n', offset - 1) + 1

  #lineEnd(offset: number): number {
    const found = this.#text.indexOf('\n', offset)
    return found === -1 ? this.#text.length : found
  }
}
