import MiniSearch, { type SearchOptions } from 'minisearch'
import type { Judgment } from './judgment-keys.ts'
import { memoryLimits } from './limits.ts'

/** Estimated memory of a judgment in addition to its texts and words, in characters. */
const overheadCharacters = 500
/** Estimated memory for each distinct word of a judgment, in characters. */
const wordCharacters = 40
/** Estimated memory of an empty index, in characters. */
const emptyCharacters = 5_000
/** Minimum relevance of a precedent, as a share of the relevance of the most relevant precedent. */
const relevanceMin = 0.3
/**
 * Number of significant digits to which a score is rounded. Further digits would depend on the order in which
 * the judgments were added.
 */
const scoreDigits = 9

/** A judgment that is similar to the query. */
export interface Precedent {
  readonly judgment: Judgment
  /** Relevance as a share of the relevance of the most relevant precedent. The value is between 0.3 and 1. */
  readonly weight: number
}

/**
 * A judgment in the form that `minisearch` indexes. `terms` contains the words of the judgment, separated by
 * spaces.
 */
interface IndexedText {
  readonly judgmentId: string
  readonly terms: string
  readonly judgedAt: number
}

/**
 * An in-memory index of judgments. It finds judgments by the words of the judged text. The scores are the
 * BM25+ scores of `minisearch`.
 */
export class JudgmentIndex {
  readonly #judgments = new Map<string, Judgment>()
  /** Number of judgments that contain each word. */
  readonly #frequencies = new Map<string, number>()
  readonly #texts = new MiniSearch<IndexedText>({
    idField: 'judgmentId',
    fields: ['terms'],
    storeFields: ['judgedAt'],
    tokenize: (terms) => terms.split(' '),
    // An empty text has one empty term. The value null removes this term.
    processTerm: (term) => branching(term) || null,
  })
  #characters = emptyCharacters

  /** Estimated memory of the index in characters. */
  get characters(): number {
    return this.#characters
  }

  has(judgmentId: string): boolean {
    return this.#judgments.has(judgmentId)
  }

  /**
   * Adds a judgment. Returns the estimated memory of the judgment in characters; 0 if the index already
   * contains the judgment.
   */
  add(judgment: Judgment): number {
    if (this.has(judgment.judgmentId)) return 0
    this.#judgments.set(judgment.judgmentId, judgment)
    const terms = termsOf(judgment.query)
    this.#texts.add(textOf(judgment, terms))
    this.#count(terms, 1)
    return this.#grow(sizeOf(judgment, terms))
  }

  /**
   * Replaces a judgment with a new record that has the same words. Does nothing if the index does not contain
   * the judgment.
   */
  replace(judgment: Judgment): void {
    if (this.has(judgment.judgmentId)) this.#judgments.set(judgment.judgmentId, judgment)
  }

  /**
   * Removes a judgment. Returns the estimated memory that this frees, in characters; 0 if the index does not
   * contain the judgment.
   */
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

  /**
   * Returns the precedents for `text`, the most relevant first. If two precedents are equally relevant, the
   * newer one comes first, so the order in which judgments were added has no effect.
   */
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
   * Returns the rarest of the given words. The number of words is limited so that a search takes bounded
   * time, but at least one word is returned. The remaining words occur in too many judgments to distinguish
   * them.
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

  /**
   * Returns a filter that matches only the newest judgments with a word. The filter is needed if the search
   * has only one word, and this word occurs in too many judgments. Otherwise returns null.
   */
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

  /**
   * Calls `see` for each judgment that contains a word. The search computes no scores, because computing them
   * would take most of the time.
   */
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

/**
 * Function that the library calls for each judgment that contains a word. If the function returns 0, the
 * library excludes the judgment.
 */
type Boost = NonNullable<SearchOptions['boostDocument']>

const boostWhere =
  (counts: (judgmentId: string, judgedAt: number) => boolean): Boost =>
  (id: string, _term, stored) =>
    Number(counts(id, stored?.judgedAt as number))

/**
 * Sorts precedents by weight, the highest first. If the weights are equal, the highest id comes first. It is
 * the newest, because ids sort by time.
 */
const byRelevance = (a: Precedent, b: Precedent): number =>
  b.weight - a.weight || Number(a.judgment.judgmentId < b.judgment.judgmentId) * 2 - 1

const sizeOf = ({ query, reason }: Judgment, terms: readonly string[]): number =>
  query.length + reason.length + overheadCharacters + new Set(terms).size * wordCharacters

const ascii = /^[\u0000-\u007f]*$/

/**
 * Encodes a term for the library. At each node of its search tree, the library tries all possible next
 * letters. A script with thousands of letters would make nodes with thousands of branches, so its terms are
 * converted to hexadecimal digits. The digits follow a character that no word contains.
 */
const branching = (term: string): string =>
  ascii.test(term) ? term : `~${Buffer.from(term, 'utf16le').swap16().toString('hex')}`

const textOf = ({ judgmentId, judgedAt }: Judgment, terms: readonly string[]): IndexedText => ({
  judgmentId,
  judgedAt,
  terms: terms.join(' '),
})

/** English words that do not describe the judged content. A search ignores them. */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by ' +
    'can could did do does doing down during each few for from further had has have having he her here hers him his how ' +
    'i if in into is it its itself just me more most my no nor not now of off on once only or other our ours out over ' +
    'own same she should so some such than that the their theirs them then there these they this those through to too ' +
    'under until up very was we were what when where which while who whom why will with would you your yours'
  ).split(' '),
)

const separators = /[\p{Z}\p{P}\p{S}\p{C}]+/u
/** Matches letters of scripts that do not put spaces between words. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Khmer}\p{sc=Lao}\p{sc=Myanmar}]/u

/** Maximum number of characters that are passed to the segmenter at a time. */
const segmentedAtOnce = 256
const segmenter = new Intl.Segmenter('und', { granularity: 'word' })

/**
 * Returns the words of a text, including repetitions. The words are in lower case and normalized by NFKC.
 * Stop words are left out.
 */
export function termsOf(text: string): string[] {
  const plain = text.normalize('NFKC').toLowerCase()
  return plain
    .split(separators)
    .flatMap((word) => (unspaced.test(word) ? segmentsOf(word) : [word]))
    .filter((word) => word !== '' && !stopWords.has(word))
    .map((word) => word.slice(0, memoryLimits.termCharacters))
}

/** Returns the distinct words of a text that a search uses, at most `queryTerms`. */
const searchTermsOf = (text: string): string[] =>
  [...new Set(termsOf(text))].slice(0, memoryLimits.queryTerms)

/**
 * Splits a text of a script without spaces into words. The segmenter gets the text in parts, because its time
 * grows with the square of the length. The last word of a part may be incomplete, so the next part starts
 * with this word.
 */
function segmentsOf(word: string): string[] {
  const all: string[] = []
  for (let at = 0; at < word.length; ) {
    const part = word.slice(at, at + segmentedAtOnce)
    const segments = [...segmenter.segment(part)].map(({ segment }) => segment)
    if (at + part.length < word.length && segments.length > 1) segments.pop()
    all.push(...segments)
    for (const { length } of segments) at += length
  }
  return all
}
