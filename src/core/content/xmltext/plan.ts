import * as Y from 'yjs'
import type { FormatTable } from '../delta/formatted-text.ts'
import type { JsonObject } from '../json/json.ts'
import { readMap } from '../stored/shared-values.ts'
import { planWithin } from '../text/plan.ts'
import { plainState } from '../text/text-state.ts'
import { JsonPlan } from '../values/plan.ts'
import { type EditCounts, writeEdits } from '../values/write-edits.ts'
import { NodeAligner } from '../xml/align.ts'
import type { XmlBudget } from '../xml/budget.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import {
  type ChildNode,
  type EmptyType,
  emptyTypeFor,
  isChild,
  type NestedNode,
  type SharedNode,
} from './nodes.ts'
import { changedAttributes, type NestedTextReader } from './reader.ts'
import { NestedTextWriter } from './writer.ts'

/** A shared value that stays, and the value that it must become. */
type NodePair = readonly [live: ChildNode, target: ChildNode]

/** The changes of one shared value, and the empty types that they insert. */
type Found = EditCounts & { readonly unfilled: readonly EmptyType[] }

/**
 * Plans the changes that make shared texts, elements and maps equal to their targets. Changes nothing before
 * `write`, so that an impossible target is rejected before the first change.
 */
export class NestedPlan {
  insertions = 0
  deletions = 0
  /** Functions that write the changes. Outer changes precede inner changes. */
  readonly #writes: ((transaction: Y.Transaction) => void)[] = []
  readonly #formats: FormatTable
  readonly #reader: NestedTextReader
  readonly #effort: XmlBudget
  readonly #aligner: NodeAligner

  constructor(formats: FormatTable, reader: NestedTextReader, effort: XmlBudget) {
    this.#formats = formats
    this.#reader = reader
    this.#effort = effort
    this.#aligner = new NodeAligner(effort.budget)
  }

  write(transaction: Y.Transaction): void {
    for (const write of this.#writes) write(transaction)
  }

  /**
   * Plans the change of a value to a target of the same kind; elements must also have the same name.
   * @throws ApiError INVALID_ARGUMENT as for `JsonPlan`
   */
  update(live: ChildNode, target: ChildNode): void {
    const { type } = live
    if (live.number === target.number || type === null) return
    const { shared } = target
    if (shared.kind === 'map') this.#updateMap(type, shared.value)
    if (shared.kind === 'text' || shared.kind === 'element') {
      this.#updateAttributes(type, attributesOf(live.shared), shared.attributes)
    }
    if (shared.kind === 'text') this.#updateStream(type, live, target)
    if (shared.kind === 'element') this.#updateChildren(type, live, target)
  }

  #updateMap(type: SharedRoot, target: JsonObject): void {
    const plan = new JsonPlan(this.#effort)
    plan.map(readMap(type), target)
    this.#count(plan)
    this.#writes.push((transaction) => this.#count(writeEdits(transaction, plan.edits)))
  }

  #updateAttributes(type: SharedRoot, current: JsonObject, target: JsonObject): void {
    const { set, removed } = changedAttributes(current, target, this.#formats)
    this.#count({ insertions: set.length, deletions: removed.length })
    this.#writes.push((transaction) => writeEdits(transaction, [{ in: 'map', type, set, removed }]))
  }

  #updateStream(type: SharedRoot, live: ChildNode, target: ChildNode): void {
    const stream = new NestedTextWriter(this.#formats, live, target)
    const pairs: NodePair[] = []
    this.#passOver(live, target, stream, (node, wanted) => {
      if (!isChild(node) && !isChild(wanted))
        stream.edit(node, wanted, planWithin(plainState(node.text), wanted.text, this.#effort))
      else if (isChild(node) && isChild(wanted) && node.type !== null) {
        stream.reformat(node, wanted)
        pairs.push([node, wanted])
      } else stream.replace(node.number === wanted.number)
    })
    if (stream.operations.length > 0) this.#writes.push(() => this.#writeStream(type, stream))
    this.#goInside(stream, pairs)
  }

  #writeStream(type: SharedRoot, { operations }: NestedTextWriter): void {
    Y.Text.prototype.applyDelta.call(type, operations)
    cleanupFormatting(type, this.#effort)
  }

  #updateChildren(type: SharedRoot, live: ChildNode, target: ChildNode): void {
    const children = new ChildrenWriter(live, target)
    const pairs: NodePair[] = []
    this.#passOver(live, target, children, (node, wanted) => {
      children.keepNext()
      pairs.push([node as ChildNode, wanted as ChildNode])
    })
    this.#writes.push((transaction) => children.write(transaction, type))
    this.#goInside(children, pairs)
  }

  /** @param pair writes a node that becomes another one */
  #passOver(
    live: ChildNode,
    target: ChildNode,
    writer: Pick<ChildrenWriter, 'keepTo' | 'insertTo' | 'deleteTo'>,
    pair: (node: NestedNode, wanted: NestedNode) => void,
  ): void {
    for (const { hunk, pairs } of this.#aligner.differences(live.children, target.children)) {
      writer.keepTo(hunk.aStart)
      for (const [a, b] of pairs) {
        writer.insertTo(b)
        writer.deleteTo(a)
        pair(live.children[a] as NestedNode, target.children[b] as NestedNode)
      }
      writer.insertTo(hunk.bEnd)
      writer.deleteTo(hunk.aEnd)
    }
  }

  /** Counts the changes of one shared value, then plans the changes of the values in it. */
  #goInside({ insertions, deletions, unfilled }: Found, pairs: readonly NodePair[]): void {
    this.#count({ insertions, deletions })
    for (const [node, wanted] of pairs) this.update(node, wanted)
    for (const made of unfilled) this.#fill(made)
  }

  #count({ insertions, deletions }: EditCounts): void {
    this.insertions += insertions
    this.deletions += deletions
  }

  #fill({ type, target }: EmptyType): void {
    const { shared, format } = target
    const empty = this.#reader.empty(shared, format, type)
    this.update(empty, target)
  }
}

const attributesOf = (shared: SharedNode): JsonObject =>
  shared.kind === 'text' || shared.kind === 'element' ? shared.attributes : {}

/** Adjacent children that are inserted. */
interface Insertion {
  /** The child after which these children are inserted; null if they become the first children. */
  readonly after: SharedRoot | null
  readonly types: readonly SharedRoot[]
}

/**
 * Determines which children of one shared element are inserted and deleted. Tracks the position in the live
 * children and in the target children.
 */
class ChildrenWriter {
  readonly unfilled: EmptyType[] = []
  insertions = 0
  deletions = 0
  readonly #inserted: Insertion[] = []
  readonly #deleted: ChildNode[] = []
  readonly #live: readonly ChildNode[]
  readonly #target: readonly ChildNode[]
  #previous: SharedRoot | null = null
  #at = 0
  #targetAt = 0

  constructor(live: ChildNode, target: ChildNode) {
    this.#live = live.children.filter(isChild)
    this.#target = target.children.filter(isChild)
  }

  /** Keeps the children up to `at`, which are also children of the target. */
  keepTo(at: number): void {
    if (at > this.#at) this.#previous = this.#live[at - 1]?.type ?? this.#previous
    this.#targetAt += at - this.#at
    this.#at = at
  }

  keepNext = (): void => this.keepTo(this.#at + 1)

  insertTo(targetAt: number): void {
    const made = this.#target.slice(this.#targetAt, targetAt).map(emptyTypeFor)
    const unfilled = made.filter((one) => one !== null)
    this.#targetAt = targetAt
    if (unfilled.length === 0) return
    const types = unfilled.map(({ type }) => type)
    this.#inserted.push({ after: this.#previous, types })
    this.#previous = types.at(-1) ?? null
    this.insertions += unfilled.length
    for (const one of unfilled) this.unfilled.push(one)
  }

  deleteTo(at: number): void {
    for (const node of this.#live.slice(this.#at, at)) {
      this.#deleted.push(node)
      this.deletions += node.size
    }
    this.#at = Math.max(at, this.#at)
  }

  write(transaction: Y.Transaction, type: SharedRoot): void {
    for (const { after, types } of this.#inserted) {
      // The types of Yjs do not allow other shared values here, but Yjs does.
      Y.XmlFragment.prototype.insertAfter.call(type, after?._item ?? null, types as Y.XmlText[])
    }
    for (const node of this.#deleted) node.type?._item?.delete(transaction)
  }
}
