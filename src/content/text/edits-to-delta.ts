import type { Hunk } from '../diff/diff.ts'
import { InsertedAttributes, type Piece } from './inserted-attributes.ts'
import type { Embed, PlainTextState, TextAttributes } from './text-state.ts'
import { emptyAttributes } from './text-state.ts'

/** An operation for `Y.Text.applyDelta`. Attributes are copies, because Yjs writes into them. */
export type TextDeltaOperation =
  | { retain: number; attributes: Record<string, unknown> }
  | { insert: string; attributes: Record<string, unknown> }
  | { delete: number }

export interface TextDelta {
  readonly operations: TextDeltaOperation[]
  readonly insertions: number
  readonly deletions: number
}

/**
 * Returns the edits as one delta over the positions of the text, including embeds; at each position inserts
 * precede deletes.
 */
export function editsToDelta(state: PlainTextState, target: string, hunks: readonly Hunk[]): TextDelta {
  const writer = new DeltaWriter(state)
  const formatter = new InsertedAttributes(state)
  for (const hunk of hunks) {
    const inserted = target.slice(hunk.bStart, hunk.bEnd)
    const wholeLines = hunk.aStart === hunk.aEnd && inserted.endsWith('\n')
    writer.retainTo(hunk.aStart, wholeLines || target === '')
    for (const piece of formatter.pieces(hunk, inserted)) writer.insert(piece)
    writer.deleteTo(hunk.aEnd, target === '')
  }
  return { operations: writer.operations, insertions: writer.insertions, deletions: writer.deletions }
}

/** Tracks the position in the string and among the embeds. */
class DeltaWriter {
  readonly operations: TextDeltaOperation[] = []
  insertions = 0
  deletions = 0
  readonly #embeds: readonly Embed[]
  #at = 0
  #embed = 0

  constructor(state: PlainTextState) {
    this.#embeds = state.embeds
  }

  /** Keeps everything up to `offset`; embeds at `offset` only unless `beforeEmbeds`. */
  retainTo(offset: number, beforeEmbeds: boolean): void {
    let length = offset - this.#at
    for (let embed = this.#next(); embed !== undefined; embed = this.#next()) {
      if (embed.at > offset || (embed.at === offset && beforeEmbeds)) break
      length += embed.length
      this.#embed += 1
    }
    this.#at = offset
    // Without a prototype: Yjs looks up names of the document in it.
    if (length > 0) this.operations.push({ retain: length, attributes: copyOf(emptyAttributes) })
  }

  insert({ text, attributes }: Piece): void {
    this.operations.push({ insert: text, attributes: copyOf(attributes) })
    this.insertions += text.length
  }

  /** Deletes up to `offset` and the embeds strictly inside; with `everything` also those at both ends. */
  deleteTo(offset: number, everything: boolean): void {
    if (offset === this.#at && !everything) return
    for (let embed = this.#next(); embed !== undefined; embed = this.#next()) {
      if (everything ? embed.at > offset : embed.at >= offset) break
      this.#delete(embed.at - this.#at + (embed.fixed ? 0 : embed.length))
      if (embed.fixed) this.operations.push({ retain: embed.length, attributes: copyOf(emptyAttributes) })
      this.#at = embed.at
      this.#embed += 1
    }
    this.#delete(offset - this.#at)
    this.#at = offset
  }

  #next(): Embed | undefined {
    return this.#embeds[this.#embed]
  }

  #delete(length: number): void {
    if (length === 0) return
    const last = this.operations.at(-1)
    if (last !== undefined && 'delete' in last) last.delete += length
    else this.operations.push({ delete: length })
    this.deletions += length
  }
}

const copyOf = (attributes: TextAttributes): Record<string, unknown> =>
  Object.assign(Object.create(null) as Record<string, unknown>, attributes)
