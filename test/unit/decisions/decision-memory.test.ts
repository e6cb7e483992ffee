import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { DecisionMemory, type JudgmentInput } from '../../../src/capabilities/decisions/decision-memory.ts'
import { JudgmentIndexCache } from '../../../src/capabilities/decisions/judgment-index-cache.ts'
import type { JudgmentScope } from '../../../src/capabilities/decisions/judgment-keys.ts'
import { memoryLimits } from '../../../src/capabilities/decisions/limits.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'

let directory: OpenDirectory
let memory: DecisionMemory
beforeEach(async () => {
  directory = await openDirectory()
  memory = directory.memory
  for (const organizationId of ['acme', 'other'])
    await directory.organizations.ensure(scopeOf(tenant, organizationId))
})
afterEach(() => directory.close())

const everywhere: JudgmentScope = { organizationId: null, documentId: null }
const judgment: JudgmentInput = { query: 'late parcel', decision: 'approve', reviewerId: 'ann' }
const judgmentsOf = (limits = {}): DecisionMemory =>
  new DecisionMemory(directory.engine.kv, directory.store, directory.clock, { ...memoryLimits, ...limits })

const words = ['late', 'parcel', 'refund', 'the', 'bicycle', 'broken']
const anyInput = fc.record({
  query: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 }).map((all) => all.join(' ')),
  decision: fc.constantFrom('approve' as const, 'reject' as const),
  reason: fc.constantFrom('', 'one', 'two', 'Two', 'three', 'four'),
  reviewerId: fc.constantFrom('ann', 'bob', 'cy'),
  organizationId: fc.constantFrom(undefined, 'acme', 'other'),
  judgedAt: fc.integer({ min: 1_670_000_000_000, max: 1_700_000_000_000 }),
})

it('[MEM-8] gives the same suggestion for the same judgments, in any order and after any other judgments', async () => {
  const history = fc.record({
    inputs: fc.array(anyInput, { minLength: 2, maxLength: 20 }),
    gone: fc.array(anyInput, { maxLength: 5 }),
    seed: fc.integer(),
  })
  const questions = ['late parcel', 'refund bicycle', 'broken']
  const answers = async (of: DecisionMemory) => {
    const all = []
    for (const query of questions)
      for (const place of [{}, { organizationId: 'acme' }]) all.push(await of.suggest(tenant, query, place))
    return all
  }
  await fc.assert(
    fc.asyncProperty(history, async ({ inputs, gone, seed }) => {
      const ids: string[] = []
      for (const input of inputs) ids.push(await memory.add(tenant, input))
      const first = await answers(memory)
      await memory.delete(tenant, ids)
      const goneIds: string[] = []
      for (const input of gone) goneIds.push(await memory.add(tenant, input))
      const others = shuffled(inputs, seed)
      const [half, rest] = [others.slice(0, others.length / 2), others.slice(others.length / 2)]
      const again: string[] = []
      for (const input of half) again.push(await memory.add(tenant, input))
      await answers(memory)
      await memory.delete(tenant, goneIds)
      for (const input of rest) again.push(await memory.add(tenant, input))
      expect(await answers(memory)).toEqual(first)
      expect(
        await answers(new DecisionMemory(directory.engine.kv, directory.store, directory.clock)),
      ).toEqual(first)
      await memory.delete(tenant, again)
    }),
    { numRuns: 40 },
  )
})

/** Uses a linear congruential generator with the numbers of Numerical Recipes. */
function shuffled<Item>(items: readonly Item[], seed: number): Item[] {
  let state = seed >>> 0
  const keyed = items.map((item) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return { item, order: state }
  })
  return keyed.sort((a, b) => a.order - b.order).map(({ item }) => item)
}

it('[MEM-13] when an organization is deleted while a judgment is written, rejects the judgment, and keeps nothing of it', async () => {
  const { kv } = directory.engine
  directory.removals.start()
  const going = { ...judgment, organizationId: 'acme' }
  const judgments = new DecisionMemory(
    {
      get: (...parameters) => kv.get(...parameters),
      scan: (...parameters) => kv.scan(...parameters),
      async commit(...parameters) {
        await directory.organizations.delete(tenant, ['acme'])
        return kv.commit(...parameters)
      },
    },
    directory.store,
    directory.clock,
  )
  await expect(judgments.add(tenant, going)).rejects.toMatchObject({ status: 'NOT_FOUND' })
  expect(await memory.query(tenant, { limit: 100 })).toEqual([])
  await directory.removals.stop()
})

it('[MEM-10] lists equally relevant judgments from the newest to the oldest, regardless of the index that it uses', async () => {
  for (const judgedAt of [5, 9, 1, 7, 3]) {
    const place = judgedAt === 9 ? { organizationId: 'acme' } : {}
    await memory.add(tenant, { ...judgment, ...place, judgedAt })
    await memory.query(tenant, { query: 'parcel', limit: 1 })
  }
  const restarted = new DecisionMemory(directory.engine.kv, directory.store, directory.clock)
  for (const each of [memory, restarted])
    for (const limit of [2, 5]) {
      const found = await each.query(tenant, { query: 'parcel', limit })
      expect(found.map(({ judgedAt }) => judgedAt)).toEqual([9, 7, 5, 3, 1].slice(0, limit))
    }
})

it('[MEM-8] updates an index after changes by other nodes, even if the index is far behind', async () => {
  const judgments = judgmentsOf({ changes: 5 })
  const indexes = new JudgmentIndexCache(directory.engine.kv)
  const size = async (place: JudgmentScope) => [...(await indexes.at(tenant, place)).all()].length
  const acme = { organizationId: 'acme', documentId: null }
  expect([await size(everywhere), await size(acme)]).toEqual([0, 0])
  const ids: string[] = []
  for (let count = 0; count < 12; count++) {
    const place = count % 3 === 0 ? { organizationId: 'acme' } : {}
    ids.push(await judgments.add(tenant, { ...judgment, ...place }))
    // Reads the index at first, and then misses more changes than the log of changes has.
    if (count < 5) expect(await size(everywhere)).toBe(count + 1)
  }
  expect([await size(everywhere), await size(acme)]).toEqual([12, 4])
  await judgments.delete(tenant, ids.slice(0, 4))
  expect([await size(everywhere), await size(acme)]).toEqual([8, 2])
  await judgments.forget(scopeOf(tenant, 'acme'), async () => {})
  expect([await size(everywhere), await size(acme)]).toEqual([6, 0])
})

it('[MEM-8] when judgments are added and deleted while an index is built, the index has the added judgments, and not the deleted judgments', async () => {
  const judgments = judgmentsOf()
  const ids: string[] = []
  for (let count = 0; count < 500; count++) ids.push(await judgments.add(tenant, judgment))
  const indexes = new JudgmentIndexCache(directory.engine.kv)
  const building = indexes.at(tenant, everywhere)
  await Promise.all([
    judgments.delete(tenant, [ids[0] as string, ids[499] as string]),
    judgments.add(tenant, { ...judgment, judgedAt: 0 }),
    judgments.add(tenant, judgment),
  ])
  await building
  const found = [...(await indexes.at(tenant, everywhere)).all()].map(({ judgmentId }) => judgmentId)
  expect(found).toHaveLength(500)
  expect(found).not.toContain(ids[0])
  expect(found).not.toContain(ids[499])
})

it('[MEM-15] drops the oldest judgments beyond the limits of an API key', async () => {
  const judgments = judgmentsOf({ judgments: 3, characters: 100 })
  const times = async () =>
    [...(await new JudgmentIndexCache(directory.engine.kv).at(tenant, everywhere)).all()]
      .map(({ judgedAt }) => judgedAt)
      .sort()
  for (const judgedAt of [5, 2, 9]) await judgments.add(tenant, { ...judgment, judgedAt })
  expect(await times()).toEqual([2, 5, 9])
  await judgments.add(tenant, { ...judgment, judgedAt: 7 })
  expect(await times()).toEqual([5, 7, 9])
  await Promise.all(
    [1, 2, 3, 4].map((judgedAt) => judgments.add(tenant, { ...judgment, judgedAt: 10 + judgedAt })),
  )
  expect(await times()).toHaveLength(3)
  await judgments.add(tenant, { ...judgment, query: 'x'.repeat(80), judgedAt: 20 })
  expect(await times()).toEqual([14, 20])
})

it('[MEM-15] limits the indexes in memory, and keeps the most recently used ones', async () => {
  const judgments = judgmentsOf()
  const indexes = new JudgmentIndexCache(directory.engine.kv, 16_000)
  const at = (documentId: string) => indexes.at(tenant, { organizationId: 'acme', documentId })
  const first = await at('d0')
  for (let count = 1; count < 10; count++) {
    await at(`d${count}`)
    expect(await at('d0')).toBe(first)
  }
  expect(indexes.count).toBe(3)
  for (let count = 0; count < 40; count++) await judgments.add(tenant, judgment)
  const large = await indexes.at(tenant, everywhere)
  expect([indexes.count, large.characters > 16_000]).toEqual([1, true])
  expect(await indexes.at(tenant, everywhere)).toBe(large)
})
