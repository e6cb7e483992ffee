import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type EmptyType, emptyTypeFor } from './empty-type.ts'
import { type ChildNode, isChild } from './nodes.ts'

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
export class ChildrenWriter {
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
