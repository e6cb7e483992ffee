import { isDeepStrictEqual } from 'node:util'
import { diffTokens } from '../diff/diff.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { readSequence, type SequenceContent } from '../yjs/sequence-content.ts'

/** A text of one run and the one that it corresponds to in another; null where there is none. */
export type TextPair =
  | { readonly live: SharedRoot; readonly past: SharedRoot | null }
  | { readonly live: null; readonly past: SharedRoot }

/** More than any run that was cut by people; beyond it texts correspond in their order. */
const stepsMax = 1_000_000

/**
 * Two runs of texts side by side. Those that are equal (but for what is in their shared values) correspond; those
 * between them do in their order, and what one side has more of stands alone.
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

/** JSON has none; who is told apart by less is compared in full. */
const withoutBigInts = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value

/** Numbers for texts: equal cells, equal number. */
class TokenSequence {
  readonly #known = new Map<string, { readonly cells: SequenceContent['cells']; readonly token: number }[]>()
  #next = 0

  of(texts: readonly SharedRoot[]): Int32Array {
    return Int32Array.from(texts, (text) => this.#tokenOf(readSequence(text).cells))
  }

  #tokenOf(cells: SequenceContent['cells']): number {
    const likeness = JSON.stringify(cells, withoutBigInts)
    const alike = this.#known.get(likeness) ?? []
    const same = alike.find((other) => isDeepStrictEqual(other.cells, cells))
    if (same !== undefined) return same.token
    alike.push({ cells, token: this.#next })
    this.#known.set(likeness, alike)
    return this.#next++
  }
}
