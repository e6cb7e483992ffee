import type { Hunk } from './diff.ts'
import type { Attributes, Embed, TextState } from './text-state.ts'
import { attributesAt, noAttributes, sharedAttributes } from './text-state.ts'

/** An operation as `Y.Text.applyDelta` takes it. Attributes are copies: Yjs writes into them. */
export type Operation =
  | { retain: number; attributes: Record<string, unknown> }
  | { insert: string; attributes: Record<string, unknown> }
  | { delete: number }

export interface TextDelta {
  readonly operations: Operation[]
  readonly insertions: number
  readonly deletions: number
}

/** The edits as one delta over the positions of the text, embeds included; at each place inserts before deletes. */
export function deltaOf(state: TextState, target: string, hunks: readonly Hunk[]): TextDelta {
  const writer = new DeltaWriter(state)
  for (const hunk of hunks) {
    const inserted = target.slice(hunk.bStart, hunk.bEnd)
    const wholeLines = hunk.aStart === hunk.aEnd && inserted.endsWith('\n')
    writer.retainTo(hunk.aStart, wholeLines)
    for (const piece of attributed(state, hunk, inserted)) writer.insert(piece)
    writer.deleteTo(hunk.aEnd, target === '')
  }
  return { operations: writer.operations, insertions: writer.insertions, deletions: writer.deletions }
}

interface Piece {
  readonly text: string
  readonly attributes: Attributes
}

/** Keeps the place in the string and among the embeds. */
class DeltaWriter {
  readonly operations: Operation[] = []
  insertions = 0
  deletions = 0
  readonly #embeds: readonly Embed[]
  #at = 0
  #embed = 0

  constructor(state: TextState) {
    this.#embeds = state.embeds
  }

  /** Keeps everything up to `offset`; embeds right there only unless `beforeEmbeds`. */
  retainTo(offset: number, beforeEmbeds: boolean): void {
    let length = offset - this.#at
    for (let embed = this.#next(); embed !== undefined; embed = this.#next()) {
      if (embed.at > offset || (embed.at === offset && beforeEmbeds)) break
      length += embed.length
      this.#embed += 1
    }
    this.#at = offset
    // Without a prototype: Yjs looks names of the document up in it.
    if (length > 0) this.operations.push({ retain: length, attributes: copyOf(noAttributes) })
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
      if (embed.fixed) this.operations.push({ retain: embed.length, attributes: copyOf(noAttributes) })
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

const copyOf = (attributes: Attributes): Record<string, unknown> =>
  Object.assign(Object.create(null) as Record<string, unknown>, attributes)

/**
 * The inserted text cut where its attributes change. Replaced text takes those of the first replaced character that is
 * no line break; a pure insertion those that its two neighbours on the line share, at a line end those of the left one,
 * at a line start none. Line breaks take none: their attributes are about a whole line.
 */
function attributed(state: TextState, hunk: Hunk, inserted: string): Piece[] {
  if (inserted === '') return []
  const replaced = firstReplaced(state.text, hunk)
  const lines = inserted.split('\n')
  return lines.flatMap((line, index) => {
    const last = index === lines.length - 1
    const attributes =
      replaced === null
        ? neighbourly(state, hunk.aStart, index === 0, last)
        : attributesAt(state.runs, replaced)
    const pieces: Piece[] = line === '' ? [] : [{ text: line, attributes }]
    return last ? pieces : [...pieces, { text: '\n', attributes: noAttributes }]
  })
}

function firstReplaced(text: string, { aStart, aEnd }: Hunk): number | null {
  for (let at = aStart; at < aEnd; at++) if (text[at] !== '\n') return at
  return null
}

/** Attributes for a line of a pure insertion at `at`; only its first line has a left neighbour on the line. */
function neighbourly({ text, runs }: TextState, at: number, first: boolean, last: boolean): Attributes {
  const hasLeft = first && at > 0 && text[at - 1] !== '\n'
  if (!hasLeft) return noAttributes
  const left = attributesAt(runs, at - 1)
  const hasRight = last && at < text.length && text[at] !== '\n'
  return hasRight ? sharedAttributes(left, attributesAt(runs, at)) : left
}
