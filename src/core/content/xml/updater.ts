import * as Y from 'yjs'
import type { Hunk } from '../diff/diff.ts'
import { planWithin } from '../text/plan.ts'
import { plainState } from '../text/text-state.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import { NodeAligner, type NodeDifference } from './align.ts'
import type { XmlBudget } from './budget.ts'
import { XmlBuilder } from './builder.ts'
import { storedName, xmlName } from './names.ts'
import type { XmlScope } from './read-tree.ts'
import { emptyText, insertsOf, type MarkedText, sliceText, textChange } from './text-plan.ts'
import type { LiveElement, LiveNode, LiveText, XmlElement, XmlNode } from './tree.ts'

/** Position in the children of an element. All children before `at` are done. */
interface NodePosition {
  readonly live: LiveElement
  /** The item after which new children are inserted; null: at the start. */
  previous: Y.Item | null
  at: number
}

const itemsOf = (node: LiveNode): Y.Item[] => {
  const types = node.kind === 'text' ? node.parts.map(({ type }) => type) : [node.type]
  return types.flatMap(({ _item }) => (_item === null ? [] : [_item]))
}

const lastItem = (node: LiveNode): Y.Item | null => itemsOf(node).at(-1) ?? null

/** Makes live elements equal to target elements, inside one transaction. */
export class XmlUpdater {
  insertions = 0
  deletions = 0
  readonly #transaction: Y.Transaction
  readonly #scope: XmlScope
  readonly #effort: XmlBudget
  readonly #aligner: NodeAligner
  readonly #builder: XmlBuilder
  readonly #filled = new Set<Y.XmlText>()

  constructor(transaction: Y.Transaction, scope: XmlScope, effort: XmlBudget) {
    this.#transaction = transaction
    this.#scope = scope
    this.#effort = effort
    this.#aligner = new NodeAligner(effort.budget)
    this.#builder = new XmlBuilder(scope)
  }

  /** Makes an element equal to a target element of the same name. */
  update(live: LiveElement, target: XmlElement): void {
    if (live.number !== target.number) this.#change(live, target, this.#differences(live, target))
  }

  #differences = (live: LiveElement, target: XmlElement): readonly NodeDifference[] =>
    this.#aligner.differences(live.children, target.children)

  #change(live: LiveElement, target: XmlElement, differences: readonly NodeDifference[]): void {
    this.#updateAttributes(live, target)
    const [only] = live.children
    if (target.children.length === 0 && live.children.length === 1 && only?.kind === 'text') {
      this.#updateText(only, emptyText)
      return
    }
    const place: NodePosition = { live, previous: null, at: 0 }
    for (const { hunk, pairs } of differences) {
      this.#skipTo(place, hunk.aStart)
      this.#updateGap(place, target.children, hunk, pairs)
    }
  }

  /** An attribute that the target does not have gets its default. The id of a block of BlockNote stays. */
  #updateAttributes(live: LiveElement, { name, attributes: given }: XmlElement): void {
    const current = new Map(live.attributes)
    const attributes = new Map(given)
    const { editor, values } = this.#scope.vocabulary
    for (const [stored, value] of editor?.nodeDefaults(storedName(name)) ?? []) {
      const [attribute, text] = [xmlName(stored), values.toText(value)]
      if (current.has(attribute) && !attributes.has(attribute) && text !== null)
        attributes.set(attribute, text)
    }
    const id = editor?.idOf(storedName(name)) ?? null
    if (id !== null && !attributes.has(xmlName(id))) current.delete(xmlName(id))
    for (const [attribute, text] of attributes) {
      if (current.get(attribute) !== text) {
        this.insertions += 1
        const value = this.#builder.attributeValue(name, attribute, text, live.type)
        Y.XmlElement.prototype.setAttribute.call(live.type, storedName(attribute), value)
      }
      current.delete(attribute)
    }
    for (const attribute of current.keys()) {
      this.deletions += 1
      Y.XmlElement.prototype.removeAttribute.call(live.type, storedName(attribute))
    }
  }

  #skipTo(place: NodePosition, at: number): void {
    if (at > place.at) place.previous = lastItem(place.live.children[at - 1] as LiveNode)
    place.at = at
  }

  #updateGap(
    place: NodePosition,
    targets: readonly XmlNode[],
    hunk: Hunk,
    pairs: readonly (readonly [number, number])[],
  ): void {
    let inserted = hunk.bStart
    for (const [a, b] of pairs) {
      this.#insert(place, targets.slice(inserted, b))
      this.#deleteTo(place, a)
      if (this.#updated(place.live.children[a] as LiveNode, targets[b] as XmlNode)) this.#skipTo(place, a + 1)
      else this.#insert(place, targets.slice(b, b + 1))
      inserted = b + 1
    }
    this.#insert(place, targets.slice(inserted, hunk.bEnd))
    this.#deleteTo(place, hunk.aEnd)
  }

  /**
   * Makes a node equal to its target. Returns false, and changes nothing, if the individual deletion of its
   * children would exceed the budget. The caller must then create the node again.
   */
  #updated(live: LiveNode, target: XmlNode): boolean {
    if (live.number === target.number) return true
    if (live.kind === 'text' && target.kind === 'text') this.#updateText(live, target)
    else if (live.kind === 'element' && target.kind === 'element') {
      const differences = this.#differences(live, target)
      const deletions = differences.reduce(
        (sum, { hunk, pairs }) => sum + hunk.aEnd - hunk.aStart - pairs.length,
        0,
      )
      const cost = deletions * this.#effort.items
      if (cost > this.#effort.deletionsLeft) return false
      this.#effort.deletionsLeft -= cost
      this.#change(live, target, differences)
    }
    return true
  }

  #insert(place: NodePosition, nodes: readonly XmlNode[]): void {
    const waiting: XmlNode[] = []
    for (const node of nodes) {
      const blank = node.kind === 'text' ? this.#takeBlank(place) : undefined
      if (blank === undefined || node.kind !== 'text') waiting.push(node)
      else {
        this.#insertAfter(place, waiting.splice(0))
        blank.applyDelta(insertsOf(node, this.#scope.marks))
        cleanupFormatting(blank, this.#effort)
        this.insertions += node.size
        place.previous = blank._item
      }
    }
    this.#insertAfter(place, waiting)
  }

  /**
   * Returns an existing empty text at the position at which a text must be inserted; undefined if there is no
   * such text.
   */
  #takeBlank(place: NodePosition): Y.XmlText | undefined {
    const blank = place.live.blanks.get(place.at)
    if (blank === undefined || this.#filled.has(blank)) return undefined
    this.#filled.add(blank)
    return blank
  }

  #insertAfter(place: NodePosition, nodes: readonly XmlNode[]): void {
    if (nodes.length === 0) return
    const types = nodes.map((node) => this.#builder.build(node))
    Y.XmlFragment.prototype.insertAfter.call(place.live.type, place.previous, types)
    for (const node of nodes) this.insertions += node.size
    for (const text of this.#builder.takeMarked()) cleanupFormatting(text, this.#effort)
    place.previous = types.at(-1)?._item ?? place.previous
  }

  #deleteTo(place: NodePosition, end: number): void {
    for (; place.at < end; place.at++) {
      const node = place.live.children[place.at] as LiveNode
      this.deletions += node.size
      for (const item of itemsOf(node)) item.delete(this.#transaction)
    }
  }

  /**
   * Makes adjacent texts equal to the target. Each text keeps the part of the target that it already
   * contains.
   */
  #updateText({ parts }: LiveText, target: MarkedText): void {
    const ends = parts.length === 1 ? [] : this.#endsIn(parts, target)
    let start = 0
    parts.forEach((part, index) => {
      const end = index === parts.length - 1 ? target.text.length : (ends[index] as number)
      const change = textChange(part, sliceText(target, start, end), this.#scope.marks, this.#effort)
      part.type.applyDelta(change.operations)
      if (change.operations.length > 0) cleanupFormatting(part.type, this.#effort)
      this.insertions += change.insertions
      this.deletions += change.deletions
      start = end
    })
  }

  /** Returns the offsets in the target at which each of the adjacent texts ends. */
  #endsIn(parts: LiveText['parts'], target: MarkedText): number[] {
    const text = parts.map(({ state }) => state.text).join('')
    const hunks = planWithin(plainState(text), target.text, { ...this.#effort })
    const ends: number[] = []
    let [end, at, shift] = [0, 0, 0]
    for (const { state } of parts) {
      end += state.text.length
      for (let hunk = hunks[at]; hunk !== undefined && hunk.aStart <= end; hunk = hunks[++at]) {
        shift = hunk.aEnd <= end ? hunk.bEnd - hunk.aEnd : hunk.bEnd - end
        if (hunk.aEnd > end) break
      }
      ends.push(end + shift)
    }
    return ends
  }
}
