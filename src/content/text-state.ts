import { equalityDeep } from 'lib0/function'
import * as Y from 'yjs'
import type { Root } from './kind.ts'

export type Attributes = Readonly<Record<string, unknown>>

/** Something in a text that counts in positions but is not part of its string. */
export interface Embed {
  /** Offset in the string; several embeds may share one. */
  readonly at: number
  /** Positions it takes. */
  readonly length: number
  /** True for content that a text cannot delete (it got there by misuse of the root as another type). */
  readonly fixed: boolean
}

/** A stretch of the string with the same attributes; it ends where the next one starts. */
export interface Run {
  readonly start: number
  readonly attributes: Attributes
}

/** A text root taken apart, without touching it. */
export interface TextState {
  /** The string; each unpaired surrogate is U+D800, which no well-formed text contains as a code point. */
  readonly text: string
  readonly runs: readonly Run[]
  readonly embeds: readonly Embed[]
  /** Items of the root, the deleted ones too: what Yjs walks along. */
  readonly items: number
}

/** Without a prototype: attribute names come from documents. */
export const noAttributes: Attributes = Object.freeze(Object.create(null) as Attributes)

/**
 * Reads the live items of a text root. A surrogate is unpaired when its partner is not in the same item: items are
 * encoded one by one, so other replicas read U+FFFD there whatever the neighbouring item holds.
 */
export function readState(root: Root | undefined): TextState {
  const parts: string[] = []
  const runs: Run[] = []
  const embeds: Embed[] = []
  const current = new Map<string, unknown>()
  let [at, items, formatted] = [0, 0, true]
  for (let item = root?._start ?? null; item !== null; item = item.right) {
    items += 1
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentString) {
      if (formatted) startRun(runs, at, current)
      formatted = false
      parts.push(markUnpaired(content.str))
      at += content.str.length
    } else if (content instanceof Y.ContentFormat) {
      if (content.value === null) current.delete(content.key)
      else current.set(content.key, content.value)
      formatted = true
    } else if (item.countable) {
      const fixed = !(content instanceof Y.ContentEmbed || content instanceof Y.ContentType)
      embeds.push({ at, length: item.length, fixed })
    }
  }
  return { text: parts.join(''), runs, embeds, items }
}

function startRun(runs: Run[], start: number, current: ReadonlyMap<string, unknown>): void {
  const last = runs.at(-1)
  if (last !== undefined && Object.keys(last.attributes).length === current.size) {
    const same = [...current].every(([key, value]) => equalityDeep(last.attributes[key], value))
    if (same) return
  }
  runs.push({ start, attributes: current.size === 0 ? noAttributes : attributesFrom(current) })
}

export function attributesFrom(entries: Iterable<readonly [string, unknown]>): Attributes {
  const attributes = Object.create(null) as Record<string, unknown>
  for (const [key, value] of entries) attributes[key] = value
  return attributes
}

/** What two characters have in common. */
export const sharedAttributes = (left: Attributes, right: Attributes): Attributes =>
  attributesFrom(
    Object.entries(left).filter(([key, value]) => key in right && equalityDeep(right[key], value)),
  )

const unpaired = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const markUnpaired = (text: string): string => (text.isWellFormed() ? text : text.replace(unpaired, '\ud800'))

/** Index of the run that the character at `at` belongs to; 0 in a text without characters. */
export function runAt(runs: readonly Run[], at: number): number {
  let [low, high] = [0, runs.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((runs[middle] as Run).start <= at) low = middle
    else high = middle - 1
  }
  return low
}

export const attributesAt = (runs: readonly Run[], at: number): Attributes =>
  runs[runAt(runs, at)]?.attributes ?? noAttributes

/** The string as every replica reads it: well-formed. */
export const plainText = (state: TextState): string => state.text.toWellFormed()
