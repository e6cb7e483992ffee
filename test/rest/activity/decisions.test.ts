import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Judgment } from '../../../src/capabilities/decisions/judgment-keys.ts'
import { memoryLimits } from '../../../src/capabilities/decisions/limits.ts'
import type { SuggestionResult } from '../../../src/capabilities/decisions/suggestion.ts'
import {
  errorOf,
  type ItemResults,
  oddIds,
  type PeopleServer,
  startPeopleServer,
} from '../../support/servers/acme-server.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

type Post = PeopleServer['post']
const dayMs = 86_400_000

const addWith = async (post: Post, data: object): Promise<string> => {
  const judgment = { query: 'late parcel', decision: 'approve', reviewerId: 'ann', ...data }
  return (dataOf(await post('/v2/memory/judgments/add', judgment)) as { judgmentId: string }).judgmentId
}
const add = (data: object) => addWith(server.post, data)
const suggestWith = async (post: Post, data: object): Promise<SuggestionResult> => {
  const { status, body } = await post('/v2/memory/suggest', { query: 'late parcel', ...data })
  expect(status).toBe(200)
  return body.result as unknown as SuggestionResult
}
const suggest = (data: object) => suggestWith(server.post, data)
const query = async (data: object): Promise<Judgment[]> =>
  dataOf(await server.post('/v2/memory/judgments/query', data)) as Judgment[]
const organization = async (organizationId: string): Promise<{ organizationId: string }> => {
  dataOf(await server.post('/v2/organizations/add', { organizations: [{ organizationId }] }))
  return { organizationId }
}
const clear = async () => {
  for (let all = await query({}); all.length > 0; all = await query({}))
    await server.post('/v2/memory/judgments/delete', { judgmentIds: all.map(({ judgmentId }) => judgmentId) })
}

it('[MEM-1] suggests the decision of earlier, similar judgments, in a response without status and message', async () => {
  await clear()
  expect(await suggest({})).toEqual({ primary: null, conflict: null })
  await add({ query: 'refund of a parcel that came late', reason: 'carrier at fault' })
  expect(await suggest({})).toEqual({ primary: null, conflict: null })
  await add({ query: 'refund of a parcel that came late', reviewerId: 'bob' })
  await add({ query: 'a new bicycle', decision: 'reject' })
  expect(await suggest({ query: 'Refund: LATE parcel?' })).toEqual({
    primary: {
      recommendation: 'approve',
      confidence: 0.75,
      basedOn: 2,
      scope: 'apiKey',
      scopeLabel: 'All content',
      topReasons: ['carrier at fault'],
      uniqueReviewers: 2,
      caveats: [],
    },
    conflict: null,
  })
})

it('[MEM-2] bases a suggestion on the narrowest scope in which one decision has at least two precedents', async () => {
  await clear()
  const inAcme = { organizationId: 'acme' }
  const inDocument = { ...inAcme, documentId: 'd1' }
  const scopes = async () => {
    const all = await Promise.all([suggest(inDocument), suggest(inAcme), suggest({})])
    return all.map(({ primary }) => [primary?.scopeLabel, primary?.recommendation, primary?.basedOn])
  }
  for (const reviewerId of ['ann', 'bob', 'cy']) await add({ decision: 'reject', reviewerId })
  const everywhere = ['All content', 'reject', 3]
  expect(await scopes()).toEqual([everywhere, everywhere, everywhere])
  await add(inDocument)
  await add({ ...inDocument, decision: 'reject' })
  expect((await scopes())[0]).toEqual(['All content', 'reject', 4])
  await add({ ...inAcme, documentId: 'd2' })
  expect((await scopes()).slice(0, 2)).toEqual([
    ['This organization', 'approve', 2],
    ['This organization', 'approve', 2],
  ])
  await add({ ...inDocument, decision: 'reject' })
  expect(await scopes()).toEqual([
    ['This document', 'reject', 2],
    ['This organization', 'reject', 2],
    ['All content', 'reject', 5],
  ])
  expect((await suggest({ ...inAcme, documentId: 'd3' })).primary).toMatchObject({ scope: 'organization' })
  expect((await suggest({ organizationId: 'unknown' })).primary).toMatchObject({ scope: 'apiKey' })
})

it('[MEM-9] rejects an invalid query with INVALID_ARGUMENT, and a judgment about unknown content with NOT_FOUND', async () => {
  const judgment = { query: 'x', decision: 'approve', reviewerId: 'ann' }
  const post = async (path: string, data: object) => errorOf(await server.post(`/v2/memory/${path}`, data))
  for (const path of ['suggest', 'judgments/add', 'judgments/query']) {
    const charactersMax = path === 'suggest' ? memoryLimits.caseCharacters : memoryLimits.queryCharacters
    for (const query of ['', ' \n', 'x'.repeat(charactersMax + 1), 7])
      expect(await post(path, { ...judgment, query })).toEqual(['INVALID_ARGUMENT', '/data/query'])
    expect(await post(path, { ...judgment, documentId: 'd1' })).toEqual([
      'INVALID_ARGUMENT',
      '/data/organizationId',
    ])
  }
  expect(await post('suggest', {})).toEqual(['INVALID_ARGUMENT', '/data/query'])
  for (const wrong of [{ decision: 'maybe' }, { reviewerId: '' }, { judgedAt: -1 }, { judgedAt: 1e14 }])
    expect(await post('judgments/add', { ...judgment, ...wrong })).toEqual([
      'INVALID_ARGUMENT',
      `/data/${Object.keys(wrong)[0]}`,
    ])
  for (const place of [{ organizationId: 'none' }, { organizationId: 'acme', documentId: 'none' }])
    expect(await post('judgments/add', { ...judgment, ...place })).toEqual(['NOT_FOUND'])
  expect(await post('judgments/query', { limit: 0 })).toEqual(['INVALID_ARGUMENT', '/data/limit'])
})

it('[MEM-10] finds judgments by scope, decision, reviewer and words, the newest first', async () => {
  await clear()
  const now = server.clock.now()
  const old = await add({ organizationId: 'acme', documentId: 'd1', judgedAt: now - dayMs, reason: 'why' })
  const middle = await add({ organizationId: 'acme', decision: 'reject', query: 'other things' })
  const last = await add({ judgedAt: now + 1, reviewerId: 'bob', query: 'parcel' })
  const ids = async (data: object) => (await query(data)).map(({ judgmentId }) => judgmentId)
  expect(await ids({})).toEqual([last, middle, old])
  expect(await ids({ limit: 2 })).toEqual([last, middle])
  expect(await ids({ organizationId: 'acme' })).toEqual([middle, old])
  expect(await ids({ organizationId: 'acme', documentId: 'd1' })).toEqual([old])
  expect(await ids({ decision: 'approve' })).toEqual([last, old])
  expect(await ids({ reviewerId: 'ann', decision: 'approve' })).toEqual([old])
  expect(await ids({ query: 'late parcel' })).toEqual([old])
  expect(await ids({ query: 'things' })).toEqual([middle])
  expect(await query({ documentId: 'd1', organizationId: 'acme' })).toEqual([
    {
      judgmentId: old,
      query: 'late parcel',
      decision: 'approve',
      reason: 'why',
      reviewerId: 'ann',
      organizationId: 'acme',
      documentId: 'd1',
      judgedAt: now - dayMs,
    },
  ])
  expect((await query({ reviewerId: 'bob' }))[0]).not.toHaveProperty('organizationId')
})

it('[MEM-11] does not base a suggestion on a deleted judgment; if a call also deletes a missing judgment, only that deletion fails', async () => {
  await clear()
  const [first, second] = [await add({}), await add({})]
  expect((await suggest({})).primary?.basedOn).toBe(2)
  const results = (await dataOf(
    await server.post('/v2/memory/judgments/delete', { judgmentIds: [first, 'none'] }),
  )) as ItemResults
  expect([results[first]?.success, results.none?.success]).toEqual([true, false])
  expect((await suggest({})).primary).toBeNull()
  expect((await query({})).map(({ judgmentId }) => judgmentId)).toEqual([second])
})

it('[ACC-10] does not let another API key list or delete judgments', async () => {
  await clear()
  const mine = { apiKey: 'key_mine', authToken: 'token-of-mine', workspaceId: 'ws', name: 'w' }
  const other = await startTestServer(
    { bootstrap: [{ ...mine, workspaceAuthToken: 'token-of-workspace' }], apiKey: 'key_other' },
    {},
  )
  try {
    const headers = { 'x-service-api-key': mine.apiKey, 'x-service-auth-token': mine.authToken }
    const asMine: Post = (path, data) => other.post(path, data, headers)
    const ids = [await addWith(asMine, {}), await addWith(asMine, {})]
    expect((await suggestWith(asMine, {})).primary?.basedOn).toBe(2)
    expect(await suggestWith(other.post, {})).toEqual({ primary: null, conflict: null })
    expect(dataOf(await other.post('/v2/memory/judgments/query', {}))).toEqual([])
    await other.post('/v2/memory/judgments/delete', { judgmentIds: ids })
    expect((await suggestWith(asMine, {})).primary?.basedOn).toBe(2)
  } finally {
    await other.stop()
  }
})

it('[MEM-13] deletes the judgments of an organization when the organization is deleted, and no other judgments', async () => {
  await clear()
  const [going, staying] = [await organization('going'), await organization('goingToStay')]
  for (let count = 0; count < 230; count++) await add({ ...going, reviewerId: `reviewer ${count}` })
  for (const place of [{}, staying])
    for (const reviewerId of ['ann', 'bob']) await add({ ...place, reviewerId })
  expect((await suggest(going)).primary?.basedOn).toBe(230)
  dataOf(await server.post('/v2/organizations/delete', { organizationIds: ['going'] }))
  expect(await query(going)).toEqual([])
  expect(await query({})).toHaveLength(4)
  await organization('going')
  expect((await suggest(going)).primary).toMatchObject({ scope: 'apiKey', basedOn: 4 })
  expect((await suggest(staying)).primary).toMatchObject({ scope: 'organization', basedOn: 2 })
})

it('[MEM-13] deletes judgments that are added while their organization is being deleted', async () => {
  await clear()
  for (let round = 0; round < 5; round++) {
    const { organizationId } = await organization(`racing-${round}`)
    const judgment = { query: 'late parcel', decision: 'approve', reviewerId: 'ann', organizationId }
    const adding = Array.from({ length: 20 }, () => server.post('/v2/memory/judgments/add', judgment))
    const deleting = server.post('/v2/organizations/delete', { organizationIds: [organizationId] })
    const answers = await Promise.all(adding)
    dataOf(await deleting)
    for (const answer of answers)
      if (answer.status !== 200) expect(errorOf(answer)[0]).toMatch(/^(NOT_FOUND|ABORTED)$/)
    expect(await query({})).toEqual([])
  }
})

it('[MEM-8] returns the same suggestion after a restart', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-memory-'))
  try {
    const answers: SuggestionResult[] = []
    for (const round of [1, 2]) {
      const { post, stop } = await startTestServer({ engine: 'level', dataDir: data })
      if (round === 1)
        for (const reviewerId of ['ann', 'bob'])
          await addWith(post, { reviewerId, reason: `of ${reviewerId}` })
      answers.push(await suggestWith(post, {}))
      await stop()
    }
    expect(answers[0]?.primary).toMatchObject({ basedOn: 2, uniqueReviewers: 2 })
    expect(answers[1]).toEqual(answers[0])
  } finally {
    await rm(data, { recursive: true })
  }
})

it('[MEM-16] accepts any ids and words, and returns them unchanged', async () => {
  await clear()
  for (const id of oddIds) {
    const at = { ...(await organization(id)), documentId: id }
    const documents = [{ documentId: id }]
    const { organizationId } = at
    dataOf(await server.post('/v2/organizations/documents/add', { organizationId, documents }))
    for (const reviewerId of [id, 'ann']) await add({ ...at, reviewerId, reason: id })
    expect((await suggest(at)).primary).toMatchObject({ scope: 'document', basedOn: 2, uniqueReviewers: 2 })
  }
  const texts = [
    '__proto__ constructor toString',
    'ÜBERWEISUNG größer',
    '返品された荷物が遅れた',
    'x'.repeat(memoryLimits.queryCharacters),
  ]
  for (const text of texts) {
    for (const reviewerId of ['cy', 'dee']) await add({ query: text, reviewerId })
    expect((await suggest({ query: text })).primary).toMatchObject({ basedOn: 2 })
  }
  expect((await suggest({ query: 'überweisung GRÖSSER größer' })).primary).toMatchObject({ basedOn: 2 })
  expect((await suggest({ query: '荷物' })).primary).toMatchObject({ basedOn: 2 })
  expect(await suggest({ query: '?! ...' })).toEqual({ primary: null, conflict: null })
})
