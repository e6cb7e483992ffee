import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { JudgmentIndex } from '../../../src/capabilities/decisions/judgment-index.ts'

const words = ['late', 'parcel', 'refund', 'bicycle', 'broken', 'constructor', '__proto__', 'straße', 'the']
const text = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 7 })
  .map((chosen) => chosen.join(' '))
const texts = fc.array(text, { minLength: 1, maxLength: 20 })

const termsOf = (of: string): string[] => of.split(' ').filter((word) => word !== 'the')
/** Underscores separate words like other punctuation. */
const plain = (of: string): string => of.replaceAll('__proto__', 'proto')
/** Number of different words; a text without words counts as one. */
const lengthOf = (terms: readonly string[]): number => Math.max(1, new Set(terms).size)

/** Scores by the formula of the documentation: BM25+ over the shared words, times their number. */
function scoresOf(all: readonly string[], query: string): number[] {
  const documents = all.map((each) => termsOf(plain(each)))
  const average = documents.reduce((sum, terms) => sum + lengthOf(terms), 0) / documents.length
  const asked = new Set(termsOf(plain(query)))
  return documents.map((terms) => {
    const shared = [...asked].filter((word) => terms.includes(word))
    const sum = shared.reduce((score, word) => {
      const having = documents.filter((other) => other.includes(word)).length
      const rarity = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
      const frequency = terms.filter((term) => term === word).length
      const norm = 1.2 * (1 - 0.7 + (0.7 * lengthOf(terms)) / average)
      return score + rarity * (0.5 + (frequency * 2.2) / (frequency + norm))
    }, 0)
    return sum * shared.length
  })
}

it('[MEM-5] computes the weight of a precedent by the formula, as its share of the best score', () => {
  fc.assert(
    fc.property(texts, texts, text, (kept, gone, query) => {
      const index = new JudgmentIndex()
      const add = (judgmentId: string, of: string): number =>
        index.add({
          judgmentId,
          query: of,
          decision: 'approve',
          reason: '',
          reviewerId: 'ann',
          organizationId: null,
          documentId: null,
          judgedAt: 1,
        })
      for (const [at, each] of gone.entries()) add(`gone ${at}`, each)
      for (const [at, each] of kept.entries()) add(`kept ${at}`, each)
      for (const at of gone.keys()) index.remove(`gone ${at}`)
      const scores = scoresOf(kept, query)
      const best = Math.max(...scores)
      const weights = new Map(
        index.search(query).map(({ judgment, weight }) => [judgment.judgmentId, weight]),
      )
      for (const [at, score] of scores.entries()) {
        const wanted = score / best
        const weight = weights.get(`kept ${at}`)
        if (best === 0 || wanted < 0.3 - 1e-6) expect(weight).toBeUndefined()
        else if (wanted > 0.3 + 1e-6) expect(weight).toBeCloseTo(wanted, 6)
      }
    }),
    { numRuns: 500 },
  )
})
