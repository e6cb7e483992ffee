import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { diffTokens } from '../diff/diff.ts'
import { hasEntries, type SharedRoot } from '../yjs/root-kind.ts'
import { readSequence, type SequenceContent } from '../yjs/sequence-content.ts'
import { withoutBigInts } from './value-codec.ts'

/** A text in the live document, and the corresponding text in the past document; null if there is none. */
type TextPair =
  | { readonly live: SharedRoot; readonly past: SharedRoot | null }
  | { readonly live: null; readonly past: SharedRoot }

/**
 * Maximum steps of a comparison. The sequences that editors create need fewer steps. If a sequence needs more
 * steps, its texts are paired by position.
 */
const stepsMax = 1_000_000

/**
 * Pairs the texts of two sequences. Texts correspond if they are equal except for the content of their shared
 * values. The texts between corresponding texts are paired by position, and the remaining texts have no
 * counterpart.
 */
export function matchTexts(live: readonly SharedRoot[], past: readonly SharedRoot[]): readonly TextPair[] {
  const pairs: TextPair[] = []
  const pair = (liveEnd: number, pastEnd: number): void => {
    const [olds, pasts] = [live.slice(at, liveEnd), past.slice(pastAt, pastEnd)]
    olds.forEach((old, index) => void pairs.push({ live: old, past: pasts[index] ?? null }))
    for (const text of pasts.slice(olds.length)) pairs.push({ live: null, past: text })
    ;[at, pastAt] = [liveEnd, pastEnd]
  }
  let [at, pastAt] = [0, 0]
  const tokens = new TokenSequence()
  for (const hunk of diffTokens(tokens.of(live), tokens.of(past), { steps: stepsMax })) {
    pair(hunk.aStart, hunk.bStart)
    pair(hunk.aEnd, hunk.bEnd)
  }
  pair(live.length, past.length)
  return pairs
}

/** Assigns numbers to texts. Texts with equal cells have equal numbers. */
class TokenSequence {
  readonly #known = new Map<string, { readonly cells: SequenceContent['cells']; readonly token: number }[]>()
  #next = 0

  of(texts: readonly SharedRoot[]): Int32Array {
    return Int32Array.from(texts, (text) => this.#tokenOf(readSequence(text).cells))
  }

  #tokenOf(cells: SequenceContent['cells']): number {
    // Different texts may have the same JSON, so texts with the same JSON are also compared completely.
    const likeness = JSON.stringify(cells, withoutBigInts)
    const alike = this.#known.get(likeness) ?? []
    const same = alike.find((other) => isDeepStrictEqual(other.cells, cells))
    if (same !== undefined) return same.token
    alike.push({ cells, token: this.#next })
    this.#known.set(likeness, alike)
    return this.#next++
  }
}

/** The children of an element or a fragment. */
interface XmlChildren {
  /** Child elements, hooks, and texts that have attributes. */
  readonly nodes: readonly SharedRoot[]
  /**
   * All other texts in groups: before the first node, between two nodes, and after the last node. There is
   * one group more than nodes.
   */
  readonly texts: readonly (readonly SharedRoot[])[]
}

/** Returns the live children; null if an item cannot be a child of an element. */
export function childrenOf(parent: SharedRoot): XmlChildren | null {
  const nodes: SharedRoot[] = []
  const texts: SharedRoot[][] = [[]]
  for (let item = parent._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    if (!(item.content instanceof Y.ContentType)) return null
    const type = item.content.type
    if (isPlainText(type)) texts.at(-1)?.push(type)
    else {
      nodes.push(type)
      texts.push([])
    }
  }
  return { nodes, texts }
}

/** Returns whether the type is a text without attributes. A text with attributes counts as a node. */
const isPlainText = (type: SharedRoot): boolean => type instanceof Y.XmlText && !hasEntries(type)
