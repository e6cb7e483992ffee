import MiniSearch from 'minisearch'
import type { Judgment } from './judgment-keys.ts'
import { searchTermsOf, termsOf } from './terms.ts'

/** What one judgment takes beside its text, counted as characters. */
const overheadCharacters = 500
/** What an index takes without any, counted so. */
const emptyCharacters = 5_000
/** A precedent is at least so relevant, as a share of the most relevant one. */
const relevanceMin = 0.3
/** Digits of a score that count: the last ones depend on the order in which judgments came. */
const scoreDigits = 9

/** A judgment that is like the query. */
export interface Precedent {
  readonly judgment: Judgment
  /** Relevance as a share of that of the most relevant one: from 0.3 to 1. */
  readonly weight: number
}

/** Judgments in memory, found by the words of what was judged: BM25+ of `minisearch`. */
export class JudgmentIndex {
  readonly #judgments = new Map<string, Judgment>()
  readonly #texts = new MiniSearch<Judgment>({
    idField: 'judgmentId',
    fields: ['query'],
    tokenize: termsOf,
    processTerm: (term) => term,
    searchOptions: { tokenize: searchTermsOf },
  })
  #characters = emptyCharacters

  /** About what it takes, in characters. */
  get characters(): number {
    return this.#characters
  }

  has(judgmentId: string): boolean {
    return this.#judgments.has(judgmentId)
  }

  /** One that is here already stays as it is. */
  add(judgment: Judgment): void {
    if (this.has(judgment.judgmentId)) return
    this.#judgments.set(judgment.judgmentId, judgment)
    this.#texts.add(judgment)
    this.#characters += sizeOf(judgment)
  }

  remove(judgmentId: string): void {
    const judgment = this.#judgments.get(judgmentId)
    if (judgment === undefined) return
    this.#judgments.delete(judgmentId)
    this.#texts.remove(judgment)
    this.#characters -= sizeOf(judgment)
  }

  all(): Iterable<Judgment> {
    return this.#judgments.values()
  }

  /** Precedents of `text`, the most relevant first. */
  search(text: string): readonly Precedent[] {
    const found = this.#texts.search(text)
    const best = found[0]?.score ?? 0
    return found.flatMap(({ id, score }) => {
      const judgment = this.#judgments.get(id as string)
      const weight = Number((score / best).toPrecision(scoreDigits))
      return judgment === undefined || weight < relevanceMin ? [] : [{ judgment, weight }]
    })
  }
}

const sizeOf = ({ query, reason }: Judgment): number => query.length + reason.length + overheadCharacters
