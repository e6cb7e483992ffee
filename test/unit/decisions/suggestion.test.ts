import { expect, it } from 'vitest'
import { JudgmentIndex, type Precedent } from '../../../src/capabilities/decisions/judgment-index.ts'
import type { Decision, Judgment } from '../../../src/capabilities/decisions/judgment-keys.ts'
import { memoryLimits } from '../../../src/capabilities/decisions/limits.ts'
import { weighPrecedents } from '../../../src/capabilities/decisions/suggestion.ts'

const now = 1_700_000_000_000
const monthMs = 2_629_746_000

let made = 0
const judgment = (decision: Decision, others: Partial<Judgment> = {}): Judgment => ({
  judgmentId: `judgment ${made++}`,
  query: 'late parcel',
  reason: '',
  reviewerId: `reviewer ${made}`,
  organizationId: null,
  documentId: null,
  judgedAt: now,
  ...others,
  decision,
})
const precedent = (decision: Decision, weight = 1, others: Partial<Judgment> = {}): Precedent => ({
  judgment: judgment(decision, others),
  weight,
})
const approve = (weight?: number, others?: Partial<Judgment>) => precedent('approve', weight, others)
const reject = (weight?: number, others?: Partial<Judgment>) => precedent('reject', weight, others)
const weigh = (...found: Precedent[]) => weighPrecedents(found, 'apiKey', now)

it('[MEM-3] when the evidence is divided, also returns the other decision, with its recommendation and confidence', () => {
  const split = weigh(approve(1), reject(0.5), approve(0.7), reject(0.9), approve(0.4))
  expect(split?.primary).toMatchObject({ recommendation: 'approve', basedOn: 3, confidence: 0.564 })
  expect(split?.conflict).toMatchObject({ recommendation: 'reject', basedOn: 2, confidence: 0.436 })
  expect(weigh(approve(), reject(), approve())).toMatchObject({
    primary: { recommendation: 'approve', confidence: 0.6 },
    conflict: null,
  })
  expect(weigh(approve(), reject())).toBeNull()
})

it('[MEM-4] ranks decisions by weight, then number of precedents, then the newest precedent, and suggests nothing if the first has only one precedent', () => {
  const leader = (...found: Precedent[]) => weigh(...found)?.primary?.recommendation
  expect(leader(approve(0.4), approve(0.4), approve(0.4), reject(1), reject(0.5))).toBe('reject')
  expect(leader(approve(0.5), approve(0.5), reject(0.5), reject(0.25), reject(0.25))).toBe('reject')
  expect(leader(approve(0.5), approve(0.25), approve(0.25), reject(0.5), reject(0.5))).toBe('approve')
  const newer = { judgedAt: now + 1 }
  expect(leader(approve(1), approve(1, newer), reject(1), reject(1))).toBe('approve')
  expect(leader(approve(1), approve(1), reject(1), reject(1, newer))).toBe('reject')
  expect(leader(approve(1), approve(1), reject(1), reject(1))).toBe('reject')
  expect(weigh(reject(1), approve(0.4), approve(0.4))).toEqual({ primary: null, conflict: null })
})

it('[MEM-5] uses precedents that share relevant words and have at least 0.3 of the best relevance', () => {
  const index = new JudgmentIndex()
  const found = (query: string) => index.search(query).map(({ judgment: { query: text } }) => text)
  for (const query of ['late parcel refund', 'late parcel', 'the parcel is here', 'of the and', 'bicycle'])
    index.add(judgment('approve', { query }))
  expect(found('of the and is')).toEqual([])
  expect(found('the bicycle')).toEqual(['bicycle'])
  expect(found('Late PARCEL refund')).toEqual(['late parcel refund', 'late parcel'])
  expect(index.search('late parcel refund').map(({ weight }) => weight)).toEqual([
    1,
    expect.toSatisfy((weight: number) => weight >= 0.3 && weight < 1),
  ])
  expect(found('parcel')).toHaveLength(3)
})

it('[MEM-5] ignores the most common words if too many judgments match', () => {
  const index = new JudgmentIndex()
  const half = memoryLimits.matches / 2
  for (let count = 0; count < half; count++) index.add(judgment('approve', { query: 'rarer' }))
  for (let count = 0; count < half + 1; count++) index.add(judgment('approve', { query: 'common' }))
  expect(index.search('common rarer')).toHaveLength(half)
  expect(index.search('common unknown')).toHaveLength(half + 1)
  for (let count = 0; count < half; count++) index.add(judgment('approve', { query: 'common' }))
  const oldest = judgment('approve', { query: 'common', judgedAt: now - 1, judgmentId: 'a' })
  const newest = judgment('reject', { query: 'common', judgedAt: now + 1, judgmentId: 'b' })
  for (const each of [oldest, newest]) index.add(each)
  const all = [...index.all()]
    .filter(({ judgedAt, query }) => judgedAt === now && query === 'common')
    .map(({ judgmentId }) => judgmentId)
    .sort()
  const found = index.search('common').map((each) => each.judgment)
  expect(found).toHaveLength(memoryLimits.matches)
  expect([found.includes(oldest), found.includes(newest)]).toEqual([false, true])
  // The ids decide the order of judgments of the same time, for any order of arrival.
  const ids = found.map(({ judgmentId }) => judgmentId).filter((id) => id !== 'b')
  expect(Math.min(...ids.map((id) => all.indexOf(id)))).toBe(all.length - ids.length)
})

it('[MEM-6] lists the three reasons with the highest weight, each once', () => {
  const found = [
    approve(1, { reason: 'alone' }),
    approve(0.9, { reason: 'Often' }),
    approve(0.8, { reason: ' often ' }),
    approve(0.7, { reason: '  ' }),
    approve(0.6, { reason: 'third' }),
    approve(0.5, { reason: 'fourth' }),
    reject(1, { reason: 'no' }),
  ]
  expect(weigh(...found)?.primary?.topReasons).toEqual(['Often', 'alone', 'third'])
  const equal = [
    approve(1, { reason: 'a', judgedAt: now - 2 }),
    approve(1, { reason: 'b', judgedAt: now }),
    approve(1, { reason: 'c', judgedAt: now - 1 }),
  ]
  expect(weigh(...equal)?.primary?.topReasons).toEqual(['b', 'c', 'a'])
})

it('[MEM-7] adds caveats for divided evidence, old evidence, and evidence from a single reviewer', () => {
  const caveats = (...found: Precedent[]) => weigh(...found)?.primary?.caveats
  const old = { judgedAt: now - 7 * monthMs }
  const fresh = { judgedAt: now - 5 * monthMs }
  const one = { reviewerId: 'ann' }
  expect(caveats(approve(1), approve(1, fresh), reject(1))).toEqual([])
  expect(caveats(approve(1), approve(1), approve(1), reject(1), reject(1))).toEqual([
    'The evidence is split: 2 of 5 similar judgments say reject.',
  ])
  expect(caveats(approve(0.8, old), approve(0.3, fresh))).toEqual([
    'Most of the weight comes from old judgments: 1 of 2 are older than 6 months.',
  ])
  expect(caveats(approve(0.7, old), approve(0.3, fresh))).toEqual([])
  expect(caveats(approve(1, one), approve(1, one), reject(1))).toEqual([
    'All supporting judgments come from a single reviewer.',
  ])
})

it('[MEM-16] finds words in scripts without spaces, in texts of any length', () => {
  const index = new JudgmentIndex()
  const long = '今日は良い天気です'.repeat(400).slice(0, 3_990)
  for (const query of [`${long}自転車`, long, 'ภาษาไทยเป็นภาษา', 'Привет, мир', '😀 late', '~30'])
    index.add(judgment('approve', { query }))
  const found = (query: string) => index.search(query).map(({ judgment: { query: text } }) => text)
  expect(found('自転車')).toEqual([`${long}自転車`])
  expect(found('天気')).toHaveLength(2)
  expect(found('ภาษาไทย')).toEqual(['ภาษาไทยเป็นภาษา'])
  expect(found('МИР')).toEqual(['Привет, мир'])
  // The index separates signs and digits from the letters of other words.
  expect([found('043c04380440'), found('~043c04380440'), found('30')]).toEqual([[], [], ['~30']])
})
