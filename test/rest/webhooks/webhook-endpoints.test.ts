import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type EndpointRecord,
  subscriptionKeys,
  subscriptionsPart,
} from '../../../src/capabilities/webhooks/webhook-records.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { errorOf, oddIds } from '../../support/servers/acme-server.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import {
  endpointCalls,
  newKey,
  nowhere,
  type Webhooks,
  webhookOptions,
  webhooksOf,
} from '../../support/servers/webhooks.ts'
import { HeldClock } from '../../support/time/clock.ts'

let engine: Engine
let clock: HeldClock
let server: TestServer
beforeAll(async () => {
  ;[engine, clock] = [await openMemoryEngine(), new HeldClock(Date.parse('2026-02-03T04:05:06.007Z'))]
  server = await startTestServer(webhookOptions, { engine, clock })
})
afterAll(() => server.stop())

/** Enables advanced webhooks of a new API key. */
async function enabled(): Promise<Webhooks> {
  const webhooks = await webhooksOf(server)
  await webhooks.advanced({ isEnabled: true })
  return webhooks
}

const createPath = 'advancedwebhook/endpoints/create'
const updatePath = 'advancedwebhook/endpoints/update'
const url = nowhere
const unset = {
  description: null,
  filterTypes: null,
  channels: null,
  disabled: false,
  rateLimit: null,
  uid: null,
  metadata: null,
}

it('[HOOK-20] unless advanced webhooks are enabled, rejects endpoint operations, and states the reason', async () => {
  const { advanced, create, post, list } = await webhooksOf(server)
  const messages = async () => {
    const answers = await Promise.all(endpointCalls.map(([path, data]) => post(path, data)))
    for (const answer of answers) expect(errorOf(answer)).toEqual(['FAILED_PRECONDITION'])
    return new Set(answers.map(({ body }) => body.error?.message))
  }
  const never = await messages()
  await advanced({ isEnabled: true })
  const { id } = await create()
  await advanced({ isEnabled: false })
  const disabled = await messages()
  expect([never.size, disabled.size, new Set([...never, ...disabled]).size]).toEqual([1, 1, 2])
  await advanced({ isEnabled: true })
  expect((await list()).endpoints.map((each) => each.id)).toEqual([id])
})

it('[HOOK-21] returns an endpoint as it was created, with null for members that are not set, and without its secret', async () => {
  const { create, list, secret } = await enabled()
  const time = { createdAt: '2026-02-03T04:05:06.007Z', updatedAt: '2026-02-03T04:05:06.007Z' }
  const plain = await create()
  expect(plain).toEqual({ ...unset, ...time, id: expect.any(String), url })
  const given = {
    url: 'HTTP://Example.com:8080/a?b#c',
    description: 'd',
    filterTypes: ['comment.add', 'crdt.update_data'],
    channels: ['acme', 'constructor'],
    disabled: true,
    rateLimit: 5,
    uid: 'mine',
    metadata: { a: 'b', constructor: 'c' },
  }
  const full = await create(given)
  expect(full).toEqual({ ...given, ...time, id: expect.any(String) })
  expect(await create({ filterTypes: ['comment.add', 'comment.add'] })).toMatchObject({
    filterTypes: ['comment.add'],
  })
  const listed = await list()
  expect(listed.endpoints).toContainEqual(full)
  expect(listed.endpoints).toContainEqual(plain)
  const secrets = await Promise.all([plain.id, full.id].map(secret))
  for (const each of secrets) expect(JSON.stringify([plain, full, listed])).not.toContain(each.slice(6))
})

it.each<[string, object, string]>([
  ['no URL', { url: 'example.com' }, 'url'],
  ['an empty URL', { url: '' }, 'url'],
  ['another scheme', { url: 'file:///etc/passwd' }, 'url'],
  ['a password', { url: 'https://a:b@example.com' }, 'url'],
  ['a long URL', { url: `https://example.com/${'x'.repeat(2_000)}` }, 'url'],
  ['a long description', { description: 'x'.repeat(2_001) }, 'description'],
  ['a type without a name', { filterTypes: ['comment.add', ''] }, 'filterTypes/1'],
  ['many types', { filterTypes: Array.from({ length: 101 }, (_, index) => `${index}`) }, 'filterTypes'],
  ['a channel that is no id', { channels: ['acme', ''] }, 'channels/1'],
  ['many channels', { channels: Array.from({ length: 101 }, (_, index) => `${index}`) }, 'channels'],
  ['no boolean', { disabled: 'yes' }, 'disabled'],
  ['no deliveries', { rateLimit: 0 }, 'rateLimit'],
  ['less than none', { rateLimit: -1 }, 'rateLimit'],
  ['half a delivery', { rateLimit: 1.5 }, 'rateLimit'],
  ['numbers in metadata', { metadata: { a: 1 } }, 'metadata/a'],
  ['large metadata', { metadata: { a: 'x'.repeat(4_096) } }, 'metadata'],
])(
  '[HOOK-22] rejects an invalid endpoint, and states the position of the problem: %s',
  async (_name, wrong, place) => {
    const { create, refused, list } = await enabled()
    const endpoint = await create()
    const first = async (path: string, data: object) => (await refused(path, data)).slice(0, 2)
    const expected = ['INVALID_ARGUMENT', `/data/${place}`]
    expect(await first(createPath, { url, ...wrong })).toEqual(expected)
    expect(await first(updatePath, { endpointId: endpoint.id, ...wrong })).toEqual(expected)
    expect((await list()).endpoints).toEqual([endpoint])
  },
)

it('[HOOK-22] requires a URL for an endpoint, and a valid id as its uid', async () => {
  const { refused } = await enabled()
  expect(await refused(createPath, {})).toEqual(['INVALID_ARGUMENT', '/data/url'])
  for (const uid of ['', '..', 'x'.repeat(513), 1])
    expect(await refused(createPath, { url, uid })).toEqual(['INVALID_ARGUMENT', '/data/uid'])
})

it('[HOOK-23] changes the given members of an endpoint, clears members that are null, and keeps the other members', async () => {
  const { create, update, refused, list, secret } = await enabled()
  const endpoint = await create({ description: 'd', channels: ['a'], metadata: { a: 'b' }, uid: 'u' })
  const before = await secret(endpoint.id)
  expect(await refused(updatePath, { endpointId: endpoint.id })).toEqual(['INVALID_ARGUMENT'])
  for (const name of ['uid', 'secret'])
    expect(await refused(updatePath, { endpointId: endpoint.id, [name]: 'v' })).toEqual([
      'INVALID_ARGUMENT',
      `/data/${name}`,
    ])
  clock.advance(1_500)
  const updatedAt = new Date(clock.now()).toISOString()
  const changes: readonly object[] = [
    { url: 'https://other.test' },
    { filterTypes: ['comment.add'] },
    { channels: ['b', 'c'] },
    { rateLimit: 7 },
    { disabled: true },
    { metadata: { c: 'd' } },
    { description: null, filterTypes: null },
    { channels: null, rateLimit: null, metadata: null },
    { disabled: false, description: '' },
  ]
  let expected: object = { ...endpoint, updatedAt }
  for (const change of changes) {
    expected = { ...expected, ...change }
    expect(await update(endpoint.id, change)).toEqual(expected)
  }
  expect((await list()).endpoints).toEqual([expected])
  expect(await secret(endpoint.id)).toBe(before)
})

it('[HOOK-24] requires a unique uid for an endpoint; the uid identifies the endpoint, and can be used again after its deletion', async () => {
  const { create, update, refused, remove, secret, list } = await enabled()
  for (const uid of oddIds) {
    const { id } = await create({ uid })
    expect(await refused(createPath, { url, uid })).toEqual(['ALREADY_EXISTS'])
    expect(await update(uid, { description: uid })).toMatchObject({ id, uid, description: uid })
    expect(await secret(uid)).toBe(await secret(id))
    expect(await remove(uid)).toEqual({ endpointId: id, deleted: true })
    expect((await create({ uid })).id).not.toBe(id)
  }
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => refused(createPath, { url, uid: 'rivals' })),
  )
  expect(answers.filter(([status]) => status === undefined)).toHaveLength(1)
  expect(answers.filter(([status]) => status === 'ALREADY_EXISTS')).toHaveLength(9)
  expect((await list()).endpoints.filter(({ uid }) => uid === 'rivals')).toHaveLength(1)
  // Such a uid would name another endpoint, and a deletion would delete that one.
  const [first] = (await list()).endpoints
  for (const uid of [first?.id, 'basic-raw', 'basic-processed'])
    expect(await refused(createPath, { url, uid })).toEqual(['ALREADY_EXISTS'])
})

it('[HOOK-25] returns NOT_FOUND for a deleted or unknown endpoint', async () => {
  const { create, remove, refused, list } = await enabled()
  const [gone, kept] = [await create(), await create()]
  expect(await remove(gone.id)).toEqual({ endpointId: gone.id, deleted: true })
  const named = endpointCalls.filter(([, data]) => 'endpointId' in data)
  for (const endpointId of [gone.id, 'ep_none', '__proto__', 'revision'])
    for (const [path, data] of named)
      expect(await refused(path, { ...data, endpointId })).toEqual(['NOT_FOUND'])
  for (const [path, data] of named)
    expect(await refused(path, { ...data, endpointId: undefined })).toEqual([
      'INVALID_ARGUMENT',
      '/data/endpointId',
    ])
  expect((await list()).endpoints).toEqual([kept])
})

it('[HOOK-26] lists endpoints in pages in both directions', async () => {
  const { create, list } = await enabled()
  expect(await list()).toEqual({ endpoints: [], iterator: null, prevIterator: null, done: true })
  const made = await Promise.all(Array.from({ length: 7 }, () => create()))
  const ids = made.map(({ id }) => id).toSorted()
  const idsOf = (page: Awaited<ReturnType<typeof list>>) => page.endpoints.map(({ id }) => id)
  const pages = [await list({ limit: 3 })]
  for (let page = pages[0]; page?.done === false; pages.push(page))
    page = await list({ limit: 3, iterator: page.iterator })
  expect(pages.map(idsOf)).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  expect(pages.map(({ done, iterator }) => [done, iterator === null])).toEqual([
    [false, false],
    [false, false],
    [true, true],
  ])
  expect(pages.map(({ prevIterator }) => prevIterator === null)).toEqual([true, false, false])
  const middle = await list({ limit: 3, iterator: pages[2]?.prevIterator })
  expect(idsOf(middle)).toEqual(ids.slice(3, 6))
  const start = await list({ limit: 2, iterator: middle.prevIterator })
  expect([idsOf(start), start.done, start.prevIterator === null]).toEqual([ids.slice(1, 3), false, false])
  const first = await list({ limit: 2, iterator: start.prevIterator })
  expect([idsOf(first), first.done, first.prevIterator]).toEqual([ids.slice(0, 1), false, null])
  expect(idsOf(await list({ iterator: first.iterator }))).toEqual(ids.slice(1))
  expect(idsOf(await list({ limit: 7 }))).toEqual(ids)
})

it('[HOOK-26] lists each remaining endpoint once in pages while other endpoints are added and deleted', async () => {
  const { create, list, remove } = await enabled()
  const stay = await Promise.all(Array.from({ length: 12 }, () => create()))
  const go = await Promise.all(Array.from({ length: 12 }, () => create()))
  const seen: string[] = []
  for (let page = await list({ limit: 2 }); ; page = await list({ limit: 2, iterator: page.iterator })) {
    seen.push(...page.endpoints.map(({ id }) => id))
    const leaving = go.pop()
    if (leaving !== undefined) await remove(leaving.id)
    await create()
    if (page.done) break
  }
  const staying = new Set(stay.map(({ id }) => id))
  expect(seen.filter((id) => staying.has(id))).toEqual([...staying].toSorted())
})

it('[HOOK-26] returns an empty last page after all endpoints were deleted', async () => {
  const { create, list, remove } = await enabled()
  for (const _ of [1, 2]) await create()
  const { iterator } = await list({ limit: 1 })
  for (const { id } of (await list()).endpoints) await remove(id)
  const empty = { endpoints: [], iterator: null, prevIterator: null, done: true }
  expect(await list({ iterator })).toEqual(empty)
})

it('[HOOK-27] returns 50 endpoints by default, and 1 to 250 on request; accepts an iterator only with the API key that got it', async () => {
  const { create, list, refused } = await enabled()
  await Promise.all(Array.from({ length: 51 }, () => create()))
  expect((await list()).endpoints).toHaveLength(50)
  expect((await list({ limit: 250 })).endpoints).toHaveLength(51)
  const path = 'advancedwebhook/endpoints/get'
  for (const limit of [0, 251, 1.5, '5'])
    expect(await refused(path, { limit })).toEqual(['INVALID_ARGUMENT', '/data/limit'])
  const { iterator } = await list({ limit: 1 })
  const text = iterator ?? ''
  expect((await (await enabled()).refused(path, { iterator }))[0]).toBe('INVALID_ARGUMENT')
  for (const damaged of ['', 'x', `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`, 'x'.repeat(20_000)])
    expect((await refused(path, { iterator: damaged }))[0]).toBe('INVALID_ARGUMENT')
  expect(text).not.toContain('ep_')
})

it('[HOOK-28] limits an API key to 250 endpoints, even with concurrent calls', async () => {
  const { create, list, refused, remove } = await enabled()
  for (let count = 0; count < 245; count += 1) await create()
  const answers = await Promise.all(Array.from({ length: 9 }, () => refused(createPath, { url })))
  expect(answers.filter(([status]) => status === undefined)).toHaveLength(5)
  expect(answers.filter(([status]) => status === 'FAILED_PRECONDITION')).toHaveLength(4)
  const { endpoints } = await list({ limit: 250 })
  expect(endpoints).toHaveLength(250)
  await remove(endpoints[0]?.id ?? '')
  await create()
})

it('[HOOK-29] creates a secret of whsec_ and 32 random bytes in base64; a rotation replaces it, and keeps the former secret for a day', async () => {
  const { tenant, create, secret, rotate, refused } = await enabled()
  const [{ id }, other] = [await create(), await create()]
  const first = await secret(id)
  expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(Buffer.from(first.slice(6), 'base64')).toHaveLength(32)
  const second = await rotate(id)
  expect(second).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(await secret(id)).toBe(second)
  const [stored] = await engine.kv.get(subscriptionsPart(tenant), [subscriptionKeys.endpoint(id)])
  const { previousSecret } = JSON.parse(Buffer.from(stored ?? []).toString()) as EndpointRecord
  expect(previousSecret).toEqual({ secret: first, until: clock.now() + 86_400_000 })
  expect(new Set([first, second, await secret(other.id)]).size).toBe(3)
  const path = 'advancedwebhook/endpoints/secret/rotate'
  for (const graceSeconds of [-1, 0.5, 2_592_001, '60'])
    expect(await refused(path, { endpointId: id, graceSeconds })).toEqual([
      'INVALID_ARGUMENT',
      '/data/graceSeconds',
    ])
  expect(await secret(id)).toBe(second)
})

it('[HOOK-30] stores the webhook settings of each API key in a separate partition', async () => {
  const [mine, theirs] = [await enabled(), await enabled()]
  await mine.basic({ useWebhookService: true, webhookServiceConfig: { authToken: 'mine' } })
  const endpoint = await mine.create({ uid: 'shared' })
  expect(await theirs.basic()).toMatchObject({ useWebhookService: false })
  expect((await theirs.list()).endpoints).toEqual([])
  for (const [path, data] of endpointCalls.filter(([, each]) => 'endpointId' in each))
    for (const endpointId of [endpoint.id, 'shared'])
      expect(await theirs.refused(path, { ...data, endpointId })).toEqual(['NOT_FOUND'])
  await theirs.create({ uid: 'shared' })
  await theirs.advanced({ isEnabled: false })
  expect((await mine.list()).endpoints).toEqual([endpoint])
  const stored = await engine.kv.scan(subscriptionsPart(mine.tenant), { limit: 100 })
  expect(stored.map(({ key }) => key.join('/'))).toEqual([
    'advanced',
    'basic',
    'endpointOfUid/shared',
    `endpoints/${endpoint.id}`,
    'revision',
  ])
  await mine.remove('shared')
  const left = await engine.kv.scan(subscriptionsPart(mine.tenant), { limit: 100 })
  expect(left.map(({ key }) => key.join('/'))).toEqual(['advanced', 'basic', 'revision'])
  const sibling = await newKey(server)
  expect((await (await webhooksOf(server, sibling)).refused(createPath, { url }))[0]).toBe(
    'FAILED_PRECONDITION',
  )
})
