import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DecisionMemory, type JudgmentInput } from '../../../src/capabilities/decisions/decision-memory.ts'
import { JudgmentIndexCache } from '../../../src/capabilities/decisions/judgment-index-cache.ts'
import {
  type Judgment,
  memoryPart,
  type ReviewerScope,
} from '../../../src/capabilities/decisions/judgment-keys.ts'
import { memoryLimits } from '../../../src/capabilities/decisions/limits.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'
import { turnsDuring } from '../../support/time/clock.ts'

const other = { ...tenant, apiKey: 'other' }
const judgment: JudgmentInput = { query: 'late parcel', decision: 'approve', reviewerId: 'ann-the-reviewer' }
const ann: ReviewerScope = { reviewerId: judgment.reviewerId, organizationId: null }
const goOn = async (): Promise<void> => {}

let directory: OpenDirectory
let memory: DecisionMemory
beforeEach(async () => {
  directory = await openDirectory()
  memory = directory.memory
  for (const organizationId of ['acme', 'a/b'])
    await directory.organizations.ensure(scopeOf(tenant, organizationId))
})
afterEach(() => directory.close())

/** All pages of the judgments of a reviewer. */
async function allOf(scope: ReviewerScope, limit: number, of = memory): Promise<readonly Judgment[]> {
  const all: Judgment[] = []
  for (let after: string | undefined; ; ) {
    const page = await of.judgmentsOf(tenant, scope, { after, limit })
    expect(page.items.length).toBeLessThanOrEqual(limit)
    all.push(...page.items)
    if (page.next === null) return all
    after = page.next
  }
}

async function addMany(count: number, input: JudgmentInput = judgment): Promise<void> {
  for (let index = 0; index < count; index++) await memory.add(tenant, input)
}

/** Number of times that a text occurs in the stored data of a tenant, keys included. */
async function timesStored(text: string, of = tenant): Promise<number> {
  const entries = await directory.engine.kv.scan(memoryPart(of), { prefix: [], limit: 100_000 })
  const has = (value: string | Uint8Array): boolean => Buffer.from(value as string).includes(text)
  return entries.flatMap(({ key, value }) => [...key, value]).filter(has).length
}

it('[MEM-17] after any additions and deletions, lists the judgments of a reviewer in pages', async () => {
  const input = fc.record({
    reviewerId: fc.constantFrom('ann', 'bob', '__proto__'),
    organizationId: fc.constantFrom(undefined, 'acme', 'a/b'),
    judgedAt: fc.nat(50),
  })
  const histories = fc.record({
    inputs: fc.array(input, { maxLength: 15 }),
    deleted: fc.array(fc.nat(14), { maxLength: 5 }),
    limit: fc.integer({ min: 1, max: 6 }),
  })
  await fc.assert(
    fc.asyncProperty(histories, async ({ inputs, deleted, limit }) => {
      const added: { readonly id: string; readonly input: (typeof inputs)[number] }[] = []
      for (const each of inputs)
        added.push({ id: await memory.add(tenant, { ...judgment, ...each }), input: each })
      const gone = new Set(deleted.flatMap((index) => added[index]?.id ?? []))
      await memory.delete(tenant, [...gone])
      const left = added.filter(({ id }) => !gone.has(id))
      for (const reviewerId of ['ann', 'bob', '__proto__'])
        for (const organizationId of [null, 'acme', 'a/b']) {
          const expected = left.filter(
            ({ input: given }) =>
              given.reviewerId === reviewerId &&
              (organizationId === null || given.organizationId === organizationId),
          )
          const found = (await allOf({ reviewerId, organizationId }, limit)).map(
            ({ judgmentId }) => judgmentId,
          )
          expect(found.toSorted()).toEqual(expected.map(({ id }) => id).toSorted())
          if (organizationId !== null) expect(found).toEqual(found.toSorted())
        }
      await memory.delete(
        tenant,
        left.map(({ id }) => id),
      )
      expect(await timesStored('reviewers')).toBe(0)
    }),
    { numRuns: 40 },
  )
})

it('[MEM-17] does not list judgments that were deleted with their organization or because of the limit', async () => {
  await memory.add(tenant, { ...judgment, organizationId: 'acme' })
  await memory.add(tenant, { ...judgment, judgedAt: 1 })
  expect(await allOf(ann, 10)).toHaveLength(2)
  await memory.forget(scopeOf(tenant, 'acme'), goOn)
  expect((await allOf(ann, 10)).map(({ judgedAt }) => judgedAt)).toEqual([1])
  const limits = { ...memoryLimits, judgments: 1 }
  const { engine, store, clock } = directory
  await new DecisionMemory(engine.kv, store, clock, limits).add(tenant, {
    ...judgment,
    reviewerId: 'bob',
  })
  expect(await allOf(ann, 10)).toEqual([])
})

it('[MEM-18] removes a reviewer from judgments, indexes and suggestions, and keeps the decisions', async () => {
  await addMany(2)
  await memory.add(tenant, { ...judgment, reviewerId: 'bob', reason: 'because' })
  await memory.add(other, judgment)
  const before = await memory.suggest(tenant, 'late parcel', {})
  expect(before.primary).toMatchObject({ basedOn: 3, uniqueReviewers: 2, caveats: [] })
  expect(await memory.forgetReviewer(tenant, ann)).toBe(2)
  expect(await timesStored(judgment.reviewerId)).toBe(0)
  expect(await timesStored(judgment.reviewerId, other)).toBeGreaterThan(0)
  // The cached index, and one that is built again.
  const fresh = new DecisionMemory(directory.engine.kv, directory.store, directory.clock)
  for (const each of [memory, fresh]) {
    expect(await each.suggest(tenant, 'late parcel', {})).toEqual(before)
    const found = await each.query(tenant, { limit: 100 })
    expect(found.map(({ reviewerId }) => reviewerId).toSorted()).toEqual(['', '', 'bob'])
    expect(await each.query(tenant, { limit: 100, reviewerId: judgment.reviewerId })).toEqual([])
    expect(await allOf(ann, 10, each)).toEqual([])
  }
  const ids = (await memory.query(tenant, { limit: 100 })).map(({ judgmentId }) => judgmentId)
  await memory.delete(tenant, ids)
  expect([
    ...(
      await new JudgmentIndexCache(directory.engine.kv).at(tenant, { organizationId: null, documentId: null })
    ).all(),
  ]).toEqual([])
})

it('[MEM-18] treats all removed reviewers as one reviewer, and states this in a caveat', async () => {
  await addMany(1)
  await addMany(1, { ...judgment, reviewerId: 'bob' })
  for (const reviewerId of [judgment.reviewerId, 'bob'])
    await memory.forgetReviewer(tenant, { reviewerId, organizationId: null })
  expect((await memory.suggest(tenant, 'late parcel', {})).primary).toMatchObject({
    basedOn: 2,
    uniqueReviewers: 1,
    caveats: ['All supporting judgments come from deleted reviewers, perhaps from a single one.'],
  })
})

it('[MEM-18] removes a reviewer from one organization only if the call requests it', async () => {
  await addMany(1, { ...judgment, organizationId: 'acme' })
  await addMany(1, { ...judgment, organizationId: 'a/b' })
  await addMany(1)
  expect(await memory.forgetReviewer(tenant, { ...ann, organizationId: 'a/b' })).toBe(1)
  const left = await allOf(ann, 10)
  expect(left.map(({ organizationId }) => organizationId)).toEqual([null, 'acme'])
})

it('[MEM-18] removes a reviewer in slices of limited size, and continues after an interruption', async () => {
  await addMany(450)
  for (const slice of [200, 200]) expect(await memory.forgetReviewer(tenant, ann)).toBe(slice)
  expect(await allOf(ann, 100)).toHaveLength(50)
  const later = new DecisionMemory(directory.engine.kv, directory.store, directory.clock)
  expect(await later.forgetReviewer(tenant, ann)).toBe(50)
  expect(await timesStored(judgment.reviewerId)).toBe(0)
  expect(await later.forgetReviewer(tenant, ann)).toBe(0)
})

it('[MEM-19] handles other events while it builds an index, and does so more often if texts are longer', async () => {
  const turnsFor = async (words: number): Promise<number> => {
    await addMany(100, { ...judgment, query: 'word '.repeat(words), organizationId: 'acme' })
    const indexes = new JudgmentIndexCache(directory.engine.kv)
    const turns = await turnsDuring(() => indexes.at(tenant, { organizationId: 'acme', documentId: null }))
    await memory.forget(scopeOf(tenant, 'acme'), goOn)
    return turns
  }
  expect(await turnsFor(700)).toBeGreaterThan(15)
  expect(await turnsFor(10)).toBeGreaterThanOrEqual(2)
})
