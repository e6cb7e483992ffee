import fastDiff from 'fast-diff'
import { commonEnd, commonStart } from '../../../core/content/diff/common-ends.ts'
import type { DiffPart } from './diff-part.ts'

/**
 * Maximum number of words or lines of each text. The common start and end of the texts do not count. Longer
 * texts are not compared.
 */
const tokensMax = 6_000

const words = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu
const lines = /[^\n]*\n|[^\n]+/g

/**
 * Returns the parts of `before` to remove and the parts to add, in order to get `after`. Compares the texts
 * by words. If there are too many words, compares them by lines.
 */
export function diffByWords(before: string, after: string): readonly DiffPart[] {
  return compared(before, after, words) ?? compared(before, after, lines) ?? replaced(before, after)
}

/** Compares texts in the same way as `diffByWords`, but always by lines. */
export const diffByLines = (before: string, after: string): readonly DiffPart[] =>
  compared(before, after, lines) ?? replaced(before, after)

function replaced(before: string, after: string): readonly DiffPart[] {
  return partsOf([
    ['removed', before],
    ['added', after],
  ])
}

const kindOf = { [-1]: 'removed', 0: 'same', 1: 'added' } as const

/** Compares texts by the tokens that `token` matches. Returns null if there are too many tokens. */
function compared(before: string, after: string, token: RegExp): readonly DiffPart[] | null {
  const [old, now] = [before.match(token) ?? [], after.match(token) ?? []]
  const start = commonStart(old, now)
  const end = commonEnd(old, now, start)
  const [oldMiddle, nowMiddle] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  if (Math.max(oldMiddle.length, nowMiddle.length) > tokensMax) return null
  const alphabet = new Alphabet()
  const found = fastDiff(alphabet.write(oldMiddle), alphabet.write(nowMiddle))
  return partsOf([
    ['same', old.slice(0, start).join('')],
    ...found.map(([kind, text]) => [kindOf[kind], alphabet.read(text)] as const),
    ['same', old.slice(old.length - end).join('')],
  ])
}

/** Joins adjacent parts of the same kind, and omits empty parts. */
function partsOf(given: readonly (readonly [DiffPart['kind'], string])[]): readonly DiffPart[] {
  const parts: DiffPart[] = []
  for (const [kind, text] of given) {
    const last = parts.at(-1)
    if (text === '') continue
    if (last?.kind === kind) parts.splice(-1, 1, { kind, text: last.text + text })
    else parts.push({ kind, text })
  }
  return parts
}

/** Maps each distinct token to one character. A comparison of characters can then compare tokens. */
class Alphabet {
  readonly #codes = new Map<string, string>()
  readonly #tokens = new Map<string, string>()

  write(tokens: readonly string[]): string {
    return tokens.map((token) => this.#codeOf(token)).join('')
  }

  read(text: string): string {
    return Array.from(text, (code) => this.#tokens.get(code)).join('')
  }

  /**
   * Returns the character that stands for a token. The character is never a surrogate, because there are at
   * most `2 * tokensMax` tokens.
   */
  #codeOf(token: string): string {
    const known = this.#codes.get(token)
    if (known !== undefined) return known
    const code = String.fromCharCode(this.#codes.size + 1)
    this.#codes.set(token, code)
    this.#tokens.set(code, token)
    return code
  }
}
