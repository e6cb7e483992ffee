import * as Y from 'yjs'
import type { Formats } from './delta-state.ts'
import type { Hunk } from './diff.ts'
import type { Json, JsonObject } from './json.ts'
import { asRoot, type Root } from './kind.ts'
import { readMap } from './shared-values.ts'
import { planEdits } from './text-plan.ts'
import { tidyFormatting } from './tidy-formatting.ts'
import { ValuePlan } from './value-plan.ts'
import { writeEdits } from './value-write.ts'
import { Aligner } from './xml-align.ts'
import type { Effort } from './xml-effort.ts'
import type { XmlRun } from './xml-tree.ts'
import type { SharedNode } from './xmltext-data.ts'
import { type ChildNode, isChild, type StreamNode, type StreamReader, type TextNode } from './xmltext-tree.ts'

/** An operation as `Y.Text.applyDelta` takes it. */
type Operation =
  | { retain: number; attributes: Record<string, unknown> }
  | { insert: string | JsonObject | Root; attributes: Record<string, unknown> }
  | { delete: number }

/** A shared type that has been inserted empty, and what is to be in it. */
interface Unfilled {
  readonly type: Root
  readonly target: ChildNode
}

/** Makes shared texts, elements and maps equal to targets; inside one transaction. */
export class SharedUpdater {
  insertions = 0
  deletions = 0
  readonly #transaction: Y.Transaction
  readonly #formats: Formats
  readonly #reader: StreamReader
  readonly #effort: Effort
  readonly #aligner: Aligner

  constructor(transaction: Y.Transaction, formats: Formats, reader: StreamReader, effort: Effort) {
    this.#transaction = transaction
    this.#formats = formats
    this.#reader = reader
    this.#effort = effort
    this.#aligner = new Aligner(effort.budget)
  }

  /** Two of the same kind, elements also of the same name. */
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

  #updateMap(type: Root, target: JsonObject): void {
    const plan = new ValuePlan(this.#effort)
    plan.map(readMap(type), target)
    writeEdits(this.#transaction, plan.edits)
    this.insertions += plan.insertions
    this.deletions += plan.deletions
  }

  #updateAttributes(type: Root, current: JsonObject, target: JsonObject): void {
    for (const [name, value] of Object.entries(target)) {
      if (Object.hasOwn(current, name) && this.#formats.same(current[name] as Json, value)) continue
      this.#setAttribute(type, name, value)
      this.insertions += 1
    }
    for (const name of Object.keys(current)) {
      if (Object.hasOwn(target, name)) continue
      type._map.get(name)?.delete(this.#transaction)
      this.deletions += 1
    }
  }

  /** Not by `setAttribute`: that looks at `value.constructor`, which a key of that name hides. */
  #setAttribute(type: Root, name: string, value: Json): void {
    const { clientID, store } = this.#transaction.doc
    const id = Y.createID(clientID, Y.getState(store, clientID))
    const left = type._map.get(name) ?? null
    const content = new Y.ContentAny([value])
    new Y.Item(id, left, left?.lastId ?? null, null, null, type, name, content).integrate(
      this.#transaction,
      0,
    )
  }

  #updateStream(type: Root, live: ChildNode, target: ChildNode): void {
    const stream = new StreamWriter(this.#formats, live, target)
    const pairs: (readonly [ChildNode, ChildNode])[] = []
    for (const { hunk, pairs: found } of this.#aligner.differences(live.children, target.children)) {
      stream.keepTo(hunk.aStart)
      for (const [a, b] of found) {
        const [node, wanted] = [live.children[a] as StreamNode, target.children[b] as StreamNode]
        stream.insertTo(b)
        stream.deleteTo(a)
        if (!isChild(node) && !isChild(wanted)) stream.edit(node, wanted, this.#hunks(node, wanted))
        else if (isChild(node) && isChild(wanted) && node.type !== null) {
          stream.reformat(node, wanted)
          pairs.push([node, wanted])
        } else stream.replace(node.number === wanted.number)
      }
      stream.insertTo(hunk.bEnd)
      stream.deleteTo(hunk.aEnd)
    }
    if (stream.operations.length > 0) {
      Y.Text.prototype.applyDelta.call(type, stream.operations)
      tidyFormatting(type, this.#effort)
    }
    this.insertions += stream.insertions
    this.deletions += stream.deletions
    for (const [node, wanted] of pairs) this.update(node, wanted)
    for (const unfilled of stream.unfilled) this.#fill(unfilled)
  }

  /** Few and fine while effort is left, then the whole text anew. */
  #hunks(node: TextNode, target: TextNode): Hunk[] {
    const { budget, graphemes, editsLeft } = this.#effort
    if (node.text === target.text) return []
    if (editsLeft <= 0) return [{ aStart: 0, aEnd: node.text.length, bStart: 0, bEnd: target.text.length }]
    const state = { text: node.text, runs: [], embeds: [], items: 0 }
    const hunks = planEdits(state, target.text, budget, graphemes, editsLeft)
    this.#effort.editsLeft -= hunks.length
    return hunks
  }

  #updateChildren(type: Root, live: ChildNode, target: ChildNode): void {
    let previous: Y.Item | null = null
    let at = 0
    const insert = (nodes: readonly StreamNode[]): void => {
      const unfilled = nodes.filter(isChild).map((node) => ({ type: emptyType(node.shared), target: node }))
      if (unfilled.length === 0) return
      const types = unfilled.map((made) => made.type as object as Y.XmlText)
      Y.XmlFragment.prototype.insertAfter.call(type, previous, types)
      previous = unfilled.at(-1)?.type._item ?? null
      this.insertions += unfilled.length
      for (const made of unfilled) this.#fill(made)
    }
    const deleteTo = (end: number): void => {
      for (; at < end; at++) {
        const node = live.children[at]
        this.deletions += node?.size ?? 0
        if (node !== undefined && isChild(node)) node.type?._item?.delete(this.#transaction)
      }
    }
    const skipTo = (end: number): void => {
      const node = live.children[end - 1]
      if (end > at && node !== undefined && isChild(node)) previous = node.type?._item ?? previous
      at = end
    }
    for (const { hunk, pairs } of this.#aligner.differences(live.children, target.children)) {
      skipTo(hunk.aStart)
      let from = hunk.bStart
      for (const [a, b] of pairs) {
        insert(target.children.slice(from, b))
        deleteTo(a)
        this.update(live.children[a] as ChildNode, target.children[b] as ChildNode)
        skipTo(a + 1)
        from = b + 1
      }
      insert(target.children.slice(from, hunk.bEnd))
      deleteTo(hunk.aEnd)
    }
  }

  #fill({ type, target }: Unfilled): void {
    const { shared, format } = target
    const empty = this.#reader.empty(shared, format, type)
    this.update(empty, target)
  }
}

const attributesOf = (shared: SharedNode): JsonObject =>
  shared.kind === 'text' || shared.kind === 'element' ? shared.attributes : {}

function emptyType(shared: SharedNode): Root {
  if (shared.kind === 'element') return asRoot(new Y.XmlElement(shared.name))
  return asRoot(shared.kind === 'map' ? new Y.Map() : new Y.XmlText())
}

/** Writes the operations for one shared text; keeps its place in it and in the target, in nodes. */
class StreamWriter {
  readonly operations: Operation[] = []
  readonly unfilled: Unfilled[] = []
  insertions = 0
  deletions = 0
  readonly #formats: Formats
  readonly #live: ChildNode
  readonly #target: ChildNode
  #at = 0
  #targetAt = 0

  constructor(formats: Formats, live: ChildNode, target: ChildNode) {
    this.#formats = formats
    this.#live = live
    this.#target = target
  }

  /** Nodes that are equal on both sides. */
  keepTo(at: number): void {
    while (this.#at < at) {
      this.#passHidden()
      this.#retain(lengthOf(this.#live.children[this.#at] as StreamNode), {})
      this.#at += 1
      this.#targetAt += 1
    }
  }

  insertTo(targetAt: number): void {
    for (; this.#targetAt < targetAt; this.#targetAt++) {
      const node = this.#target.children[this.#targetAt] as StreamNode
      if (isChild(node)) this.#insertChild(node)
      else this.#insertText(node, 0, node.text.length)
    }
  }

  deleteTo(at: number): void {
    for (; this.#at < at; this.#at++) {
      this.#passHidden()
      const node = this.#live.children[this.#at] as StreamNode
      this.#delete(lengthOf(node))
      this.deletions += node.size
    }
  }

  /** A text that becomes another. */
  edit(node: TextNode, target: TextNode, hunks: readonly Hunk[]): void {
    this.#passHidden()
    let [at, targetAt] = [0, 0]
    for (const { aStart, aEnd, bStart, bEnd } of [...hunks, endOf(node, target)]) {
      while (at < aStart) {
        const [run, wanted] = [runAt(node.runs, at), runAt(target.runs, targetAt)]
        const end = Math.min(aStart, run.end, at + wanted.end - targetAt)
        this.#retain(end - at, this.#change(run.format, wanted.format))
        targetAt += end - at
        at = end
      }
      this.#insertText(target, bStart, bEnd)
      this.#delete(aEnd - aStart)
      this.deletions += aEnd - aStart
      at = aEnd
      targetAt = bEnd
    }
    this.#at += 1
    this.#targetAt += 1
  }

  /** A shared value that stays; what is in it is updated later. */
  reformat(node: ChildNode, target: ChildNode): void {
    this.#passHidden()
    this.#retain(1, this.#change(node.format, target.format))
    this.#at += 1
    this.#targetAt += 1
  }

  /** An embed: it stays if it is the same, else another one comes. */
  replace(isSame: boolean): void {
    if (isSame) this.keepTo(this.#at + 1)
    else {
      this.insertTo(this.#targetAt + 1)
      this.deleteTo(this.#at + 1)
    }
  }

  #insertChild(node: ChildNode): void {
    const { shared, format } = node
    const type = shared.kind === 'embed' ? null : emptyType(shared)
    const insert = type ?? (shared.kind === 'embed' ? shared.value : '')
    this.operations.push({ insert, attributes: this.#attributes(format) })
    this.insertions += 1
    if (type !== null) this.unfilled.push({ type, target: node })
  }

  #insertText({ text, runs }: TextNode, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const run = runAt(runs, at)
      const until = Math.min(end, run.end)
      this.operations.push({ insert: text.slice(at, until), attributes: this.#attributes(run.format) })
      at = until
    }
    this.insertions += end - start
  }

  #attributes(format: number): Record<string, unknown> {
    const { stored } = this.#formats.get(format)
    return Object.assign(Object.create(null), Object.fromEntries(stored)) as Record<string, unknown>
  }

  #change(from: number, to: number): Record<string, unknown> {
    const change = Object.create(null) as Record<string, unknown>
    if (from === to) return change
    const [before, after] = [this.#formats.get(from), this.#formats.get(to)]
    for (const name of before.stored.keys()) if (!after.stored.has(name)) change[name] = null
    for (const [name, value] of after.stored) {
      const json = before.attributes[name] ?? null
      if (!this.#formats.same(json, after.attributes[name] ?? null)) change[name] = value
    }
    return change
  }

  #passHidden(): void {
    this.#retain(this.#live.hidden.get(this.#at) ?? 0, {})
  }

  #retain(length: number, change: Record<string, unknown>): void {
    if (length === 0) return
    const last = this.operations.at(-1)
    const isIdle = Object.keys(change).length === 0
    if (isIdle && last !== undefined && 'retain' in last && Object.keys(last.attributes).length === 0) {
      last.retain += length
    } else {
      this.operations.push({ retain: length, attributes: Object.assign(Object.create(null), change) })
    }
  }

  #delete(length: number): void {
    if (length === 0) return
    const last = this.operations.at(-1)
    if (last !== undefined && 'delete' in last) last.delete += length
    else this.operations.push({ delete: length })
  }
}

const lengthOf = (node: StreamNode): number => (isChild(node) ? 1 : node.text.length)

const endOf = (node: TextNode, target: TextNode): Hunk => ({
  aStart: node.text.length,
  aEnd: node.text.length,
  bStart: target.text.length,
  bEnd: target.text.length,
})

/** The run that the character at `at` belongs to. */
function runAt(runs: readonly XmlRun[], at: number): { format: number; end: number } {
  let [low, high] = [0, runs.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((runs[middle] as XmlRun).start <= at) low = middle
    else high = middle - 1
  }
  return { format: runs[low]?.marks ?? 0, end: runs[low + 1]?.start ?? Number.POSITIVE_INFINITY }
}
