import { equalityDeep } from 'lib0/function'
import type * as Y from 'yjs'
import { diffText } from '../../diff/text-diff.ts'
import type { Json } from '../../json/json.ts'
import { entryIn, readStoredValue } from '../../stored/shared-values.ts'
import { stepsMax } from '../../text/plan.ts'
import { newValueOf } from '../../values/new-values.ts'
import { type MapEdit, writeEdits } from '../../values/write-edits.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { Edit, EditOutcome, EditTarget, InsertedContent, InsertPlace, MatchedPlace } from '../edit.ts'
import { editNotSupported } from '../edit-errors.ts'
import {
  blockAt,
  type FlowView,
  type TextBlock,
  type TextFlow,
  type TextRange,
  textIn,
} from '../targets/flow-view.ts'
import { placeOfTarget, type ResolvedTarget, resolveTarget, type TargetRoot } from '../targets/resolve.ts'
import { FlowWriter } from './flow-writer.ts'

/**
 * One edit of a root with text. The kinds of roots differ in their views, and in the way in which they insert,
 * format and delete.
 */
export abstract class RootEdits<Root extends TargetRoot> {
  protected readonly transaction: Y.Transaction
  protected readonly root: Root
  protected readonly place: string
  protected readonly writer: FlowWriter
  #matched: MatchedPlace = {}
  /** The kind of the root, as the end of a sentence. */
  protected abstract readonly kind: string

  /** @param place how messages name the edit */
  constructor(transaction: Y.Transaction, root: Root, place: string) {
    this.transaction = transaction
    this.root = root
    this.place = place
    this.writer = new FlowWriter(transaction, root.view)
  }

  /** The place of the target, before the edit; empty if the edit has no target. */
  get matched(): MatchedPlace {
    return this.#matched
  }

  apply(edit: Edit): EditOutcome {
    switch (edit.is) {
      case 'replace':
        return this.replace(edit.target, edit.content)
      case 'insert':
        return this.insert(edit.place, edit.content)
      case 'remove':
        return this.remove(this.resolve(edit.target))
      case 'mark':
        return this.mark(this.resolve(edit.target), edit)
      case 'attributes':
        return this.setAttributes(this.resolve(edit.target), edit.set)
      case 'text':
        return this.textAt(edit)
      default:
        throw this.unsupported(
          `a patch needs a map or an array, and the root is ${this.kind}; send another edit`,
        )
    }
  }

  protected abstract replace(edited: EditTarget, content: InsertedContent): EditOutcome

  protected abstract insert(place: InsertPlace, content: InsertedContent): EditOutcome

  protected remove(target: ResolvedTarget): EditOutcome {
    return target.is === 'text' ? this.removeText(target) : this.removeWhole(target)
  }

  /** Removes a block or a node. */
  protected abstract removeWhole(target: Exclude<ResolvedTarget, { is: 'text' }>): EditOutcome

  protected abstract mark(target: ResolvedTarget, mark: Extract<Edit, { is: 'mark' }>): EditOutcome

  protected setAttributes(target: ResolvedTarget, set: ReadonlyMap<string, Json>): EditOutcome {
    const node = this.nodeOf(target)
    let [insertions, deletions] = [0, 0]
    const changes: MapEdit[] = []
    // Nothing is written before all stored values are read, because one may be too large to read.
    for (const [name, value] of set) {
      const type = target.is === 'node' ? node : this.ownerOfAttribute(node, name)
      if (equalityDeep(readStoredValue(entryIn(type, name))?.json ?? null, value)) continue
      const change: Pick<MapEdit, 'set' | 'removed'> =
        value === null ? { set: [], removed: [name] } : { set: [[name, newValueOf(value)]], removed: [] }
      changes.push({ in: 'map', type, ...change })
      if (value === null) deletions += 1
      else insertions += 1
    }
    writeEdits(this.transaction, changes)
    return this.outcome(insertions, deletions)
  }

  /** Returns the node whose attribute an edit of a block sets. */
  protected ownerOfAttribute(block: SharedRoot, _name: string): SharedRoot {
    return block
  }

  /**
   * Returns the text of a target: a quote, a block, or the only block of a node.
   * @throws ApiError INVALID_ARGUMENT if it has none of its own
   */
  protected rangesOf(target: ResolvedTarget): readonly TextRange[] {
    if (target.is === 'text') return target.ranges
    if (target.is === 'node' && target.node.inline !== null) return [target.node.inline]
    const block = this.textblockOf(target)
    if (block === null)
      throw this.unsupported('the target has no text of its own; use one of the blocks in it')
    return [{ flow: block.flow, start: block.start, end: block.end }]
  }

  /** Returns the block that a target is as a whole, or the only block in it, if it can have text. Otherwise null. */
  protected textblockOf(target: ResolvedTarget): TextBlock | null {
    if (target.is === 'text') return null
    const isOne = target.is === 'block' || target.node.endBlock === target.node.firstBlock + 1
    const block = isOne ? this.block(target.block) : undefined
    return block !== undefined && this.isTextblock(block) ? block : null
  }

  /** Returns whether text can be inserted into a block. */
  protected isTextblock(_block: TextBlock): boolean {
    return true
  }

  protected textAt(_edit: Extract<Edit, { is: 'text' }>): EditOutcome {
    throw this.unsupported(
      `a position needs a text, and the root is ${this.kind}; use a quote or a block as the target`,
    )
  }

  protected resolve(edited: EditTarget, content?: InsertedContent): ResolvedTarget {
    return this.match(resolveTarget(this.root, edited, this.place, content))
  }

  /** Keeps the place of a target for the outcome, before the edit changes it. */
  protected match(target: ResolvedTarget): ResolvedTarget {
    this.#matched = placeOfTarget(this.view, target)
    return target
  }

  /** Changes the text of a target with small edits. */
  protected replaceText(edited: EditTarget, target: ResolvedTarget, text: string): EditOutcome {
    for (const [range, own] of textsByRange(this.view, edited, this.rangesOf(target), text))
      this.writer.replace(range, own)
    return this.textOutcome()
  }

  protected removeText(target: ResolvedTarget): EditOutcome {
    for (const range of this.rangesOf(target)) this.writer.replace(range, '')
    return this.textOutcome()
  }

  /**
   * Returns the text of an edit's content.
   * @param reason why the root has only text; '' if the message need not name it
   * @throws ApiError INVALID_ARGUMENT if the content is not text
   */
  protected textOf(content: InsertedContent, reason = ''): string {
    if (content.format === 'text') return content.text.toWellFormed()
    throw this.unsupported(
      `the content for this root or target must be text; send a string with the format "text"${reason}`,
    )
  }

  protected get view(): Root['view'] {
    return this.root.view
  }

  protected flow(index: number): TextFlow {
    return this.view.flows[index] as TextFlow
  }

  protected block(index: number): TextBlock {
    return this.view.blocks[index] as TextBlock
  }

  /** Returns the index of the block that contains the start of a target. */
  protected blockOf(target: ResolvedTarget): number {
    if (target.is !== 'text') return target.block
    const [{ flow, start }] = target.ranges
    return blockAt(this.view, flow, start)
  }

  /** Returns the node of a target: the target itself, or the block that contains its start. */
  protected nodeOf(target: ResolvedTarget): SharedRoot {
    const type = target.is === 'node' ? target.node.type : this.block(this.blockOf(target)).type
    if (type === null)
      throw this.unsupported('the target is text at the top of the root, without a block; use another target')
    return type
  }

  protected outcome(
    insertions: number,
    deletions: number,
    changed = insertions + deletions > 0,
  ): EditOutcome {
    return { place: this.#matched, insertions, deletions, changed }
  }

  /** Returns the effect of an edit that only the writer has carried out. */
  protected textOutcome(): EditOutcome {
    const { insertions, deletions, changed } = this.writer
    return this.outcome(insertions, deletions, changed)
  }

  protected unsupported = (problem: string): Error => editNotSupported(`${this.place}: ${problem}`)
}

/** Returns the lines of a text, each of which becomes a block. A line break at the end adds no line. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/)
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

/** Maximum number of differences between a quote and its replacement that are compared by words. */
const editsMax = 10_000

/**
 * Returns the replacement of a quote, adapted to the stored text that the quote matches. White space that the
 * quote and its replacement have in common is written as it is stored, because a quote may state one space
 * for a line break or for several spaces.
 */
function withStoredSpaces(stored: string, quote: string, text: string): string {
  if (stored === quote) return text
  const walk = new ParallelWalk(stored, quote)
  const parts: string[] = []
  for (const { aStart, aEnd, bStart, bEnd } of diffText(quote, text, { steps: stepsMax }, editsMax)) {
    parts.push(walk.to(aStart), text.slice(bStart, bEnd))
    walk.to(aEnd)
  }
  parts.push(walk.to(quote.length))
  return walk.isAligned ? parts.join('') : text
}

/** Passes over a stored text and a quote that are equal except for the length and kind of their white space. */
class ParallelWalk {
  /** False if the texts differ, or if a step ended inside white space. */
  isAligned = true
  readonly #stored: string
  readonly #quote: string
  #at = 0
  #quoteAt = 0

  constructor(stored: string, quote: string) {
    this.#stored = stored
    this.#quote = quote
  }

  /** Advances to an offset of the quote. Returns the stored text that was passed. */
  to(end: number): string {
    const start = this.#at
    while (this.#quoteAt < end && this.isAligned) {
      const [length, quoteLength] = [runAt(this.#stored, this.#at), runAt(this.#quote, this.#quoteAt)]
      const isSame = this.#stored.charCodeAt(this.#at) === this.#quote.charCodeAt(this.#quoteAt)
      if (length > 0 && quoteLength > 0) {
        this.#at += length
        this.#quoteAt += quoteLength
      } else if (isSame) {
        this.#at += 1
        this.#quoteAt += 1
      } else this.isAligned = false
    }
    if (this.#quoteAt !== end) this.isAligned = false
    return this.#stored.slice(start, this.#at)
  }
}

/** Returns the length of the white space at an offset. */
function runAt(text: string, offset: number): number {
  let end = offset
  while (/^\s/.test(text.charAt(end))) end += 1
  return end - offset
}

/**
 * Returns the new text of each range of a target. A text with as many lines as there are ranges is divided
 * among them; otherwise the first range gets all of it.
 */
function textsByRange(
  view: FlowView,
  target: EditTarget,
  ranges: readonly TextRange[],
  text: string,
): readonly (readonly [range: TextRange, text: string])[] {
  const lines = text.split('\n')
  const texts = lines.length === ranges.length ? lines : [text]
  return ranges.map((range, index) => {
    const own = texts[index] ?? ''
    const isQuote = target.is === 'quote' && ranges.length === 1
    return [range, isQuote ? withStoredSpaces(textIn(view, range), target.quote, own) : own]
  })
}
