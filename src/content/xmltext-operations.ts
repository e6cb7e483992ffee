import type { Formats } from './delta-state.ts'
import type { Hunk } from './diff.ts'
import type { JsonObject } from './json.ts'
import type { Root } from './kind.ts'
import { runIndexAt } from './xml-text.ts'
import type { XmlRun } from './xml-tree.ts'
import { type ChildNode, isChild, type StreamNode, type TextNode } from './xmltext-nodes.ts'
import { type Unfilled, unfilledOf } from './xmltext-unfilled.ts'

/** An operation as `Y.Text.applyDelta` takes it. */
type Operation =
  | { retain: number; attributes: Record<string, unknown> }
  | { insert: string | JsonObject | Root; attributes: Record<string, unknown> }
  | { delete: number }

/** Writes the operations for one shared text; keeps its place in it and in the target, in nodes. */
export class StreamWriter {
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
    const unfilled = unfilledOf(node)
    const insert = unfilled?.type ?? (node.shared.kind === 'embed' ? node.shared.value : '')
    this.operations.push({ insert, attributes: this.#attributes(node.format) })
    this.insertions += 1
    if (unfilled !== null) this.unfilled.push(unfilled)
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

function runAt(runs: readonly XmlRun[], at: number): { format: number; end: number } {
  const index = runIndexAt(runs, at)
  return { format: runs[index]?.marks ?? 0, end: runs[index + 1]?.start ?? Number.POSITIVE_INFINITY }
}
