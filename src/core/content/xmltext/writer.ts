import type { FormatTable } from '../delta/formatted-text.ts'
import type { Hunk } from '../diff/diff.ts'
import type { JsonObject } from '../json/json.ts'
import { TextChange } from '../text/operations.ts'
import { RunCursor } from '../text/text-state.ts'
import type { XmlRun } from '../xml/tree.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import {
  type ChildNode,
  type EmptyType,
  emptyTypeFor,
  isChild,
  type NestedNode,
  type TextNode,
} from './nodes.ts'

/**
 * Writes the operations for one shared text. Tracks the position in the shared text and in the target,
 * counted in nodes.
 */
export class NestedTextWriter extends TextChange<string | JsonObject | SharedRoot> {
  readonly unfilled: EmptyType[] = []
  readonly #formats: FormatTable
  readonly #live: ChildNode
  readonly #target: ChildNode
  #at = 0
  #targetAt = 0

  constructor(formats: FormatTable, live: ChildNode, target: ChildNode) {
    super()
    this.#formats = formats
    this.#live = live
    this.#target = target
  }

  /** Keeps the nodes up to `at`, which are equal on both sides. */
  keepTo(at: number): void {
    while (this.#at < at) {
      this.#passHidden()
      this.retain(lengthOf(this.#live.children[this.#at] as NestedNode))
      this.#at += 1
      this.#targetAt += 1
    }
  }

  insertTo(targetAt: number): void {
    for (; this.#targetAt < targetAt; this.#targetAt++) {
      const node = this.#target.children[this.#targetAt] as NestedNode
      if (isChild(node)) this.#insertChild(node)
      else this.#insertText(node.text, new RunCursor(node.runs), 0, node.text.length)
    }
  }

  deleteTo(at: number): void {
    for (; this.#at < at; this.#at++) {
      this.#passHidden()
      const node = this.#live.children[this.#at] as NestedNode
      this.delete(lengthOf(node))
      if (isChild(node)) this.deletions += node.size - 1
    }
  }

  /** Changes a text node to the target text. */
  edit(node: TextNode, target: TextNode, hunks: readonly Hunk[]): void {
    this.#passHidden()
    const [storedRuns, wantedRuns] = [new RunCursor(node.runs), new RunCursor(target.runs)]
    let [at, targetAt] = [0, 0]
    for (const { aStart, aEnd, bStart, bEnd } of [...hunks, endOf(node, target)]) {
      while (at < aStart) {
        const [stored, wanted] = [storedRuns.at(at), wantedRuns.at(targetAt)]
        const end = Math.min(aStart, stored.end, at + wanted.end - targetAt)
        this.retain(end - at, this.#formats.change(stored.run?.marks ?? 0, wanted.run?.marks ?? 0))
        targetAt += end - at
        at = end
      }
      this.#insertText(target.text, wantedRuns, bStart, bEnd)
      this.delete(aEnd - aStart)
      at = aEnd
      targetAt = bEnd
    }
    this.#at += 1
    this.#targetAt += 1
  }

  /** Keeps a shared value, and changes its formatting. Its content is updated later. */
  reformat(node: ChildNode, target: ChildNode): void {
    this.#passHidden()
    this.retain(1, this.#formats.change(node.format, target.format))
    this.#at += 1
    this.#targetAt += 1
  }

  /** Keeps an embed if it is the same as in the target; otherwise replaces it. */
  replace(isSame: boolean): void {
    if (isSame) this.keepTo(this.#at + 1)
    else {
      this.insertTo(this.#targetAt + 1)
      this.deleteTo(this.#at + 1)
    }
  }

  #insertChild(node: ChildNode): void {
    const unfilled = emptyTypeFor(node)
    const insert = unfilled?.type ?? (node.shared.kind === 'embed' ? node.shared.value : '')
    this.insert(insert, this.#formats.attributesOf(node.format))
    if (unfilled !== null) this.unfilled.push(unfilled)
  }

  #insertText(text: string, runs: RunCursor<XmlRun>, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const { run, end: runEnd } = runs.at(at)
      const until = Math.min(end, runEnd)
      this.insert(text.slice(at, until), this.#formats.attributesOf(run?.marks ?? 0))
      at = until
    }
  }

  #passHidden(): void {
    this.retain(this.#live.hidden.get(this.#at) ?? 0)
  }
}

const lengthOf = (node: NestedNode): number => (isChild(node) ? 1 : node.text.length)

const endOf = (node: TextNode, target: TextNode): Hunk => ({
  aStart: node.text.length,
  aEnd: node.text.length,
  bStart: target.text.length,
  bEnd: target.text.length,
})
