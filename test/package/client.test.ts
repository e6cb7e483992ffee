import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient, dataOf, type WeftClient, WeftError } from '../../src/client/rest/index.ts'
import { type FaultyServer, startFaultyServer } from '../support/servers/faulty-server.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'

let server: TestServer
let faulty: FaultyServer
let client: WeftClient
/** Like `client`, through the faulty server. */
let tested: WeftClient

beforeAll(async () => {
  server = await startTestServer()
  faulty = await startFaultyServer(server.url)
  client = createClient({ url: server.url, ...server.credentials })
  tested = createClient({ url: `${faulty.url}/`, ...server.credentials })
})
afterAll(async () => {
  await faulty?.stop()
  await server?.stop()
})

let organizations = 0
const newOrganization = (): string => `client-${++organizations}`
const editorIn = (organizationId: string) => ({ organizationId, documentId: 'plan', editorId: 'main' })

/** Makes a call through the faulty server, with these faults of its first requests. */
async function withFaults<Data>(faults: FaultyServer['faults'], call: () => Promise<Data>) {
  faulty.requests.length = 0
  faulty.faults.splice(0, faulty.faults.length, ...faults)
  const result = await call()
  return { result, requests: [...faulty.requests], rest: faulty.faults.length }
}

describe('calls', () => {
  it('[PCLI-5] returns data with its message, and errors with code, status, details and request id', async () => {
    const editor = editorIn(newOrganization())
    const added = await client.crdt.add({ ...editor, type: 'text', data: 'Hello.' })
    expect(added).toMatchObject({ ok: true, message: expect.any(String), data: { changed: true } })
    const [read] = dataOf(await client.crdt.get(editor))
    expect(read).toMatchObject({ id: 'main', data: 'Hello.' })

    const conflict = await client.crdt.update({ ...editor, type: 'text', data: 'x', ifVersion: '0.0' })
    expect(conflict).toMatchObject({
      ok: false,
      error: { code: 'crdt/version-conflict', status: 'ABORTED', requestId: expect.any(String) },
    })
    const missing = await client.crdt.get({ organizationId: 'nowhere', documentId: 'plan' })
    expect(missing.ok ? null : missing.error.code).toBe('organization/not-found')
    expect(() => dataOf(missing)).toThrow(WeftError)
    const invalid = await client.crdt.get({ organizationId: '', documentId: 'plan' })
    expect(invalid.ok ? null : invalid.error.details?.issues?.[0]?.path).toBe('/data/organizationId')
  })

  it('[PCLI-5] returns null as the data of an operation without data, and warnings', async () => {
    const organizationId = newOrganization()
    dataOf(await client.crdt.add({ ...editorIn(organizationId), type: 'text', data: 'Hello.' }))
    const editor = editorIn(organizationId)
    dataOf(await client.crdt.branches.create({ ...editor, name: 'draft', userId: 'ann' }))
    expect(await client.crdt.branches.delete({ ...editor, name: 'draft' })).toMatchObject({
      ok: true,
      data: null,
    })
    const stored = await client.workspace.advancedwebhook.endpoints.create({
      url: 'https://example.com/hook',
      filterTypes: ['recorder.start'],
    })
    expect(stored.ok ? null : stored.error.code).toBe('webhook/never-configured')
    dataOf(await client.workspace.advancedwebhookconfig.update({ isEnabled: true }))
    const created = await client.workspace.advancedwebhook.endpoints.create({
      url: 'https://example.com/hook',
      filterTypes: ['recorder.start'],
    })
    expect(created.ok && created.warnings).toEqual([expect.stringContaining('recorder.start')])
  })

  it('[PCLI-24] calls operations with the token of an agent', async () => {
    const organizationId = newOrganization()
    dataOf(await client.crdt.add({ ...editorIn(organizationId), type: 'text', data: 'Hello.' }))
    const { token } = dataOf(
      await client.auth.generateToken({
        userId: 'bot',
        userProperties: { name: 'Bot', email: '' },
        permissions: { resources: [{ type: 'document', id: 'plan', organizationId, accessRole: 'viewer' }] },
        agent: true,
      }),
    )
    const agent = createClient({ url: server.url, agentToken: token })
    const [read] = dataOf(await agent.crdt.get(editorIn(organizationId)))
    expect(read).toMatchObject({ data: 'Hello.' })
    const edits = [{ insert: { at: 'end', content: '!' } }] as const
    const written = await agent.crdt.edit({ ...editorIn(organizationId), edits })
    expect(written.ok ? null : written.error.code).toBe('agent/role-required')
  })

  it('[PCLI-6] returns every page, and every item of all pages', async () => {
    const organizationId = newOrganization()
    const ids = Array.from({ length: 7 }, (_, index) => `document-${index}`)
    dataOf(await client.organizations.add({ organizations: [{ organizationId }] }))
    dataOf(
      await client.organizations.documents.add({
        organizationId,
        documents: ids.map((documentId) => ({ documentId, documentName: documentId })),
      }),
    )
    const sizes: number[] = []
    for await (const page of client.organizations.documents.get.pages({ organizationId, pageSize: 3 }))
      sizes.push(page.length)
    expect(sizes).toEqual([3, 3, 1])
    const found: string[] = []
    for await (const { id } of client.organizations.documents.get.items({ organizationId, pageSize: 3 }))
      found.push(id)
    expect(found.toSorted()).toEqual(ids)

    dataOf(await client.workspace.advancedwebhookconfig.update({ isEnabled: true }))
    for (const uid of ['one', 'two', 'three'])
      dataOf(
        await client.workspace.advancedwebhook.endpoints.create({
          uid,
          url: `https://example.com/${organizationId}`,
        }),
      )
    const urls: string[] = []
    for await (const { url } of client.workspace.advancedwebhook.endpoints.get.items({ limit: 2 }))
      urls.push(url)
    expect(urls.filter((url) => url.endsWith(organizationId))).toHaveLength(3)

    const failing = client.organizations.documents.get.items({ organizationId: 'nowhere' })
    await expect(failing.next()).rejects.toMatchObject({ name: 'WeftError', code: 'organization/not-found' })
  })

  it('[PCLI-7] sends no credentials to the target of a redirect', async () => {
    const { result, requests } = await withFaults(
      [{ status: 307, headers: { location: `${faulty.url}/elsewhere` }, body: '' }],
      () => tested.crdt.get({ organizationId: 'acme', documentId: 'plan' }),
    )
    expect(requests.map(({ path }) => path)).toEqual(['/v2/crdt/get'])
    expect(result).toMatchObject({ ok: false, error: { code: 'client/invalid-response' } })
  })

  it.each([
    { url: 'weft.example.com', apiKey: 'a', authToken: 'b' },
    { url: 'ftp://weft.example.com' },
    { url: 'https://weft.example.com/?a=b' },
    { url: 'https://weft.example.com', apiKey: 'a\nb' },
    { url: 'https://weft.example.com', apiKey: 'a', authToken: 'b', agentToken: 'c' },
    { url: 'https://weft.example.com', authToken: 'b', agentToken: 'c' },
    { url: 'https://weft.example.com', agentToken: 'c\n' },
    { url: 'https://weft.example.com', timeoutMs: 0 },
    { url: 'https://weft.example.com', retries: -1 },
    { url: 'https://weft.example.com', responseBytesMax: Number.NaN },
  ])('[PCLI-8] rejects the invalid options %j', (options) => {
    expect(() => createClient(options)).toThrow(TypeError)
  })
})

describe('retries', () => {
  const html = { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' }
  const error = (status: string, code: string) =>
    JSON.stringify({ error: { status, message: code, details: { code } } })

  it.each([
    ['a connection that ends before the response', ['refuse', 'refuse']],
    ['a response that ends too early', ['cut', 'cut']],
    ['the page of a proxy', [html, html]],
    ['a server that is stopping', [{ status: 503, body: error('UNAVAILABLE', 'server/stopping') }]],
    ['a conflict of two calls', [{ status: 409, body: error('ABORTED', 'request/conflict') }]],
  ] satisfies [string, FaultyServer['faults']][])('[PCLI-9] repeats a call after %s', async (_, faults) => {
    const editor = editorIn(newOrganization())
    const { result, requests } = await withFaults(faults, () =>
      tested.crdt.add({ ...editor, type: 'text', data: 'Hello.' }),
    )
    expect(result.ok).toBe(true)
    expect(requests).toHaveLength(faults.length + 1)
  })

  it('[PCLI-10] has one effect for a call whose responses are lost, because its attempts have one key', async () => {
    const organizationId = newOrganization()
    const editor = editorIn(organizationId)
    dataOf(await client.crdt.add({ ...editor, type: 'text', data: 'Hello.' }))
    const { result, requests } = await withFaults(['lose', 'cut', 'lose'], () =>
      tested.crdt.versions.create({ ...editor, label: 'once' }),
    )
    expect(result.ok).toBe(true)
    expect(requests).toHaveLength(4)
    expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
    expect(requests[0]?.key).toMatch(/^[0-9a-f-]{36}$/)
    const labels: (string | null)[] = []
    for await (const { label } of client.crdt.versions.list.items(editor)) labels.push(label)
    expect(labels.filter((label) => label === 'once')).toHaveLength(1)

    const again = () =>
      tested.crdt.versions.create({ ...editor, label: 'own' }, { idempotencyKey: `own-${organizationId}` })
    const own = await withFaults([], again)
    expect(own.requests.map(({ key }) => key)).toEqual([`own-${organizationId}`])
    expect(dataOf((await withFaults([], again)).result)).toEqual(dataOf(own.result))
  })

  it('[PCLI-10] sends no key for operations that only read or that are repeatable', async () => {
    const organizationId = newOrganization()
    const { requests } = await withFaults([], async () => {
      dataOf(await tested.organizations.add({ organizations: [{ organizationId }] }))
      dataOf(
        await tested.organizations.update({ organizations: [{ organizationId, organizationName: 'Acme' }] }),
      )
      dataOf(await tested.organizations.get({}))
    })
    expect(requests.map(({ key }) => key === undefined)).toEqual([false, true, true])
  })

  it('[PCLI-11] waits as Retry-After says', async () => {
    const limited = {
      status: 429,
      headers: { 'retry-after': '1' },
      body: error('RESOURCE_EXHAUSTED', 'limit/exceeded'),
    }
    const { result, requests } = await withFaults([limited], () => tested.organizations.get({}))
    expect(result.ok).toBe(true)
    expect(requests).toHaveLength(2)
    expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(999)
  })

  it('[PCLI-11] returns the error when the time to wait is unknown, is too long, or exceeds the time of the call', async () => {
    const body = error('RESOURCE_EXHAUSTED', 'limit/exceeded')
    for (const [headers, options] of [
      [{}, {}],
      [{ 'retry-after': '31' }, {}],
      [{ 'retry-after': '5' }, { timeoutMs: 2_000 }],
    ] as const) {
      const { result, requests } = await withFaults([{ status: 429, headers, body }], () =>
        tested.organizations.get({}, options),
      )
      expect(result).toMatchObject({
        ok: false,
        error: { code: 'limit/exceeded', status: 'RESOURCE_EXHAUSTED' },
      })
      expect(requests).toHaveLength(1)
    }
  })

  it('[PCLI-12] makes at most as many retries as its option says, with growing times between', async () => {
    const few = createClient({ url: faulty.url, ...server.credentials, retries: 3 })
    const { result, requests } = await withFaults(
      Array.from({ length: 9 }, () => 'refuse' as const),
      () => few.organizations.get({}),
    )
    expect(result).toMatchObject({ ok: false, error: { code: 'client/unreachable', status: 'UNAVAILABLE' } })
    expect(requests).toHaveLength(4)
    const waits = requests.slice(1).map(({ at }, index) => at - requests[index]!.at)
    for (const [index, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(100 * 2 ** index - 1)
  })

  it('[PCLI-12] does not repeat a call whose error is final', async () => {
    const { requests } = await withFaults([], () =>
      tested.crdt.get({ organizationId: 'nowhere', documentId: 'plan' }),
    )
    expect(requests).toHaveLength(1)
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in</h1>' }
    const portal = await withFaults([page], () => tested.organizations.get({}))
    expect(portal.requests).toHaveLength(1)
    expect(portal.result).toMatchObject({ ok: false, error: { code: 'client/invalid-response' } })
    const unknown = { status: 409, body: error('ABORTED', 'idempotency/outcome-unknown') }
    const outcome = await withFaults([unknown], () => tested.organizations.get({}))
    expect(outcome.requests).toHaveLength(1)
    expect(outcome.result).toMatchObject({ ok: false, error: { code: 'idempotency/outcome-unknown' } })
  })
})

describe('limits', () => {
  it('[PCLI-13] ends a call after its time', async () => {
    const { result } = await withFaults(['stall'], () => tested.organizations.get({}, { timeoutMs: 300 }))
    expect(result).toMatchObject({ ok: false, error: { code: 'client/timeout', status: 'UNAVAILABLE' } })
  })

  it('[PCLI-13] ends a call when its signal aborts: before it, during it, and while it waits', async () => {
    const aborted = { ok: false, error: { code: 'client/aborted', status: 'CANCELLED' } }
    const before = await withFaults([], () => tested.organizations.get({}, { signal: AbortSignal.abort() }))
    expect([before.result, before.requests]).toMatchObject([aborted, []])
    const during = await withFaults(['stall'], () =>
      tested.organizations.get({}, { signal: AbortSignal.timeout(100) }),
    )
    expect(during.result).toMatchObject(aborted)
    const limited = { status: 429, headers: { 'retry-after': '20' }, body: '' }
    const waiting = await withFaults([limited], () =>
      tested.organizations.get({}, { signal: AbortSignal.timeout(100) }),
    )
    expect(waiting.result).toMatchObject(aborted)
    expect(waiting.requests).toHaveLength(1)
  })

  it('[PCLI-14] does not read a response that is larger than its limit', async () => {
    const editor = editorIn(newOrganization())
    dataOf(await client.crdt.add({ ...editor, type: 'text', data: 'x'.repeat(100_000) }))
    const small = createClient({ url: faulty.url, ...server.credentials, responseBytesMax: 50_000 })
    const { result, requests } = await withFaults([], () => small.crdt.get(editor))
    expect(result).toMatchObject({ ok: false, error: { code: 'client/invalid-response' } })
    expect(requests).toHaveLength(1)
    expect((await small.organizations.get({})).ok).toBe(true)
  })
})

describe('change feed', () => {
  it('[PCLI-15] returns the events in order, resumes at a cursor, and continues after failures', async () => {
    const organizationId = newOrganization()
    dataOf(await client.workspace.feed.update({ enabled: true }))
    const { cursor: start } = dataOf(await client.feed.get({ from: 'now' }))
    const types = ['document.create'] as const
    const stop = new AbortController()
    const read: string[] = []
    let cursor = start
    const write = (documentId: string) =>
      client.crdt.add({ organizationId, documentId, editorId: 'main', type: 'text', data: 'x' })
    dataOf(await write('one'))
    dataOf(await write('two'))
    faulty.faults.splice(0, faulty.faults.length, 'refuse', 'cut', 'lose')
    for await (const event of tested.feedEvents({
      organizationId,
      cursor: start,
      types,
      signal: stop.signal,
    })) {
      read.push(event.documentId ?? '')
      cursor = event.cursor
      if (read.length === 2) break
    }
    expect(read).toEqual(['one', 'two'])

    const resumed = (async () => {
      for await (const { events } of tested.feedPages({ organizationId, cursor, types, signal: stop.signal }))
        read.push(...events.map(({ documentId }) => documentId ?? ''))
    })()
    await sleep(100)
    dataOf(await write('three'))
    await expect.poll(() => read).toEqual(['one', 'two', 'three'])
    stop.abort()
    await resumed
  })

  it('[PCLI-15] returns content with events if it is requested', async () => {
    const organizationId = newOrganization()
    dataOf(await client.workspace.feed.update({ enabled: true }))
    const { cursor } = dataOf(await client.feed.get({ from: 'now' }))
    dataOf(await client.crdt.add({ ...editorIn(organizationId), type: 'text', data: 'Hello.' }))
    const options = { organizationId, cursor, types: ['crdt.update_data'], content: 'text' } as const
    for await (const event of client.feedEvents(options)) {
      expect(event).toMatchObject({ type: 'crdt.update_data', content: { data: 'Hello.' } })
      break
    }
  })

  it('[PCLI-16] throws if the feed cannot continue', async () => {
    dataOf(await client.workspace.feed.update({ enabled: false }))
    await expect(client.feedPages().next()).rejects.toMatchObject({ code: 'feed/disabled' })
    dataOf(await client.workspace.feed.update({ enabled: true }))
    await expect(client.feedPages({ cursor: 'unknown' }).next()).rejects.toBeInstanceOf(WeftError)
  })
})
