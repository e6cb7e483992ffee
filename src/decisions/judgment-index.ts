import MiniSearch, { type SearchOptions } from 'minisearch'
import type { Judgment } from './judgment-keys.ts'
import { memoryLimits } from './limits.ts'
import { searchTermsOf, termsOf } from './terms.ts'

/** What one judgment takes beside its text, counted as characters. */
const overheadCharacters = 500
/** What each of its different words takes. */
const wordCharacters = 40
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

/** A judgment as the library sees it: its words, with a space in between. */
interface IndexedText {
  readonly judgmentId: string
  readonly terms: string
  readonly judgedAt: number
}

/** Judgments in memory, found by the words of what was judged: BM25+ of `minisearch`. */
export class JudgmentIndex {
  readonly #judgments = new Map<string, Judgment>()
  /** In how many judgments each word is. */
  readonly #frequencies = new Map<string, number>()
  readonly #texts = new MiniSearch<IndexedText>({
    idField: 'judgmentId',
    fields: ['terms'],
    storeFields: ['judgedAt'],
    tokenize: (terms) => terms.split(' '),
    // The empty text has one empty term.
    processTerm: (term) => branching(term) || null,
  })
  #characters = emptyCharacters

  /** About what it takes, in characters. */
  get characters(): number {
    return this.#characters
  }

  has(judgmentId: string): boolean {
    return this.#judgments.has(judgmentId)
  }

  /** One that is here already stays as it is. Returns what it takes; 0 for such a one. */
  add(judgment: Judgment): number {
    if (this.has(judgment.judgmentId)) return 0
    this.#judgments.set(judgment.judgmentId, judgment)
    const terms = termsOf(judgment.query)
    this.#texts.add(textOf(judgment, terms))
    this.#count(terms, 1)
    return this.#grow(sizeOf(judgment, terms))
  }

  /** Takes over what has changed of a judgment with the same words. One that is not here stays away. */
  replace(judgment: Judgment): void {
    if (this.has(judgment.judgmentId)) this.#judgments.set(judgment.judgmentId, judgment)
  }

  /** Returns what it took; 0 when it was not here. */
  remove(judgmentId: string): number {
    const judgment = this.#judgments.get(judgmentId)
    if (judgment === undefined) return 0
    this.#judgments.delete(judgmentId)
    const terms = termsOf(judgment.query)
    this.#texts.remove(textOf(judgment, terms))
    this.#count(terms, -1)
    return -this.#grow(-sizeOf(judgment, terms))
  }

  all(): Iterable<Judgment> {
    return this.#judgments.values()
  }

  /** Precedents of `text`, the most relevant first; of equal ones the newest, whatever the order in which they came. */
  search(text: string): readonly Precedent[] {
    const terms = this.#rarest(searchTermsOf(text))
    const boostDocument = this.#newestWith(terms)
    const found = this.#texts.search(terms.join(' '), {
      ...(boostDocument !== null && { boostDocument }),
    })
    const best = found[0]?.score ?? 0
    const precedents = found.flatMap(({ id, score }) => {
      const judgment = this.#judgments.get(id as string)
      const weight = Number((score / best).toPrecision(scoreDigits))
      return judgment === undefined || weight < relevanceMin ? [] : [{ judgment, weight }]
    })
    return precedents.sort(byRelevance)
  }

  /**
   * The rarest words, as many as are looked up in bounded time, one at least. Those that are left out are in so many
   * judgments that they hardly tell these apart.
   */
  #rarest(terms: readonly string[]): readonly string[] {
    const known = terms
      .map((term) => ({ term, frequency: this.#frequencies.get(term) ?? 0 }))
      .filter(({ frequency }) => frequency > 0)
      .sort((a, b) => a.frequency - b.frequency || Number(a.term > b.term) - Number(a.term < b.term))
    let matches = 0
    const end = known.findIndex(({ frequency }, index) => {
      matches += frequency
      return index > 0 && matches > memoryLimits.matches
    })
    return known.slice(0, end === -1 ? known.length : end).map(({ term }) => term)
  }

  /** A word that alone is in too many judgments counts in the newest of them. Null: it counts wherever it is. */
  #newestWith([term = '', ...others]: readonly string[]): Boost | null {
    if (others.length > 0 || (this.#frequencies.get(term) ?? 0) <= memoryLimits.matches) return null
    const times: number[] = []
    this.#look(term, (_id, judgedAt) => times.push(judgedAt))
    const sorted = Float64Array.from(times).sort()
    const since = sorted.at(-memoryLimits.matches) ?? 0
    if (sorted.at(-memoryLimits.matches - 1) !== since)
      return boostWhere((_id, judgedAt) => judgedAt >= since)
    const same: string[] = []
    this.#look(term, (id, judgedAt) => judgedAt === since && same.push(id))
    const later = times.filter((judgedAt) => judgedAt > since).length
    const counting = new Set(same.sort().slice(later - memoryLimits.matches))
    return boostWhere((id, judgedAt) => judgedAt > since || (judgedAt === since && counting.has(id)))
  }

  /** Shows all judgments with a word, without scoring them, which is most of the work. */
  #look(term: string, see: (judgmentId: string, judgedAt: number) => unknown): void {
    this.#texts.search(term, {
      boostDocument: boostWhere((id, judgedAt) => {
        see(id, judgedAt)
        return false
      }),
    })
  }

  #grow(by: number): number {
    this.#characters += by
    return by
  }

  #count(terms: readonly string[], by: 1 | -1): void {
    for (const term of new Set(terms)) {
      const frequency = (this.#frequencies.get(term) ?? 0) + by
      if (frequency === 0) this.#frequencies.delete(term)
      else this.#frequencies.set(term, frequency)
    }
  }
}

/** What the library asks of each judgment with a word: it takes 0 as not found. */
type Boost = NonNullable<SearchOptions['boostDocument']>

const boostWhere =
  (counts: (judgmentId: string, judgedAt: number) => boolean): Boost =>
  (id: string, _term, stored) =>
    Number(counts(id, stored?.judgedAt as number))

/** Ids sort by time. */
const byRelevance = (a: Precedent, b: Precedent): number =>
  b.weight - a.weight || Number(a.judgment.judgmentId < b.judgment.judgmentId) * 2 - 1

const sizeOf = ({ query, reason }: Judgment, terms: readonly string[]): number =>
  query.length + reason.length + overheadCharacters + new Set(terms).size * wordCharacters

const ascii = /^[\u0000-\u007f]*$/

/**
 * The library goes through all letters that come next to find one. Of scripts with thousands of them it sees hexadecimal
 * digits, after a sign that is in no word.
 */
const branching = (term: string): string =>
  ascii.test(term) ? term : `~${Buffer.from(term, 'utf16le').swap16().toString('hex')}`

const textOf = ({ judgmentId, judgedAt }: Judgment, terms: readonly string[]): IndexedText => ({
  judgmentId,
  judgedAt,
  terms: terms.join(' '),
})
