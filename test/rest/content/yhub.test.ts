import { decodeAny, encodeAny } from 'lib0/buffer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

interface Entry {
  readonly from: number
  readonly to: number
  readonly by: string | null
  readonly customAttributions?: readonly object[]
}

const start = Math.floor(Date.now() / 1000) * 1000
let clock: HeldClock
let server: TestServer
const tokens = { ada: '', grace: '', reader: '' }
beforeAll(async () => {
  clock = new HeldClock(start)
  server = await startTestServer({}, { engine: await openMemoryEngine({ clock }), clock })
  tokens.ada = await server.token('ada')
  tokens.grace = await server.token('grace')
  tokens.reader = await server.token('reader', {
    resources: [{ type: 'organization', id: 'acme', accessRole: 'viewer' }],
  })
})
afterAll(() => server.stop())

let documents = 0
const newDocument = (): string => `yhub-${++documents}`

async function fetchHub(
  path: string,
  { token = tokens.ada, ...init }: RequestInit & { readonly token?: string | null } = {},
) {
  const headers = new Headers(init.headers)
  if (token !== null) headers.set('authorization', `Bearer ${token}`)
  return fetch(`${server.url}/yhub/${path}`, { ...init, headers })
}

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer())
async function hub(path: string, body?: object, token?: string): Promise<unknown> {
  const method = path.startsWith('ydoc') ? 'PATCH' : 'POST'
  const response = await fetchHub(path, {
    ...(token !== undefined && { token }),
    ...(body !== undefined && { method, body: encodeAny(body) as Uint8Array<ArrayBuffer> }),
  })
  if (!response.ok) throw new Error(await response.text())
  return decodeAny(await bytesOf(response))
}
const activityOf = async (documentId: string, query = ''): Promise<readonly Entry[]> =>
  ((await hub(`activity/v1/acme/${documentId}?${query}`)) as { activity: Entry[] }).activity
async function textAt(documentId: string, to: number): Promise<string> {
  const { ydoc } = (await hub(`changeset/v1/acme/${documentId}?ydoc=true&to=${to}`)) as { ydoc: Uint8Array }
  const doc = new Y.Doc()
  Y.applyUpdate(doc, ydoc)
  return doc.getText('content').toString()
}
const statusOf = async (path: string, init: Parameters<typeof fetchHub>[1] = {}): Promise<number> =>
  (await fetchHub(path, init)).status

const update = async (documentId: string, data: string, userId: string, meta?: object) =>
  dataOf(
    await server.post('/v2/crdt/update', {
      organizationId: 'acme',
      documentId,
      editorId: 'main',
      upsert: true,
      type: 'text',
      data,
      userId,
      ...(meta && { meta }),
    }),
  )
async function read(documentId: string): Promise<string> {
  const answer = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId, editorId: 'main' })
  return (dataOf(answer) as [{ data: string }])[0].data
}

/** Writes three contents, a minute apart, and returns the times of the changes. */
async function writeHistory(documentId: string): Promise<readonly [number, number, number]> {
  await update(documentId, 'We ship on Monday.', 'ada')
  const first = clock.now()
  clock.advance(60_000)
  await update(documentId, 'We ship on Monday. The budget is small.', 'grace', { job: 'summary' })
  clock.advance(60_000)
  await update(documentId, 'On Monday. The budget is small.', 'ada')
  return [first, first + 60_000, first + 120_000]
}

describe('calls of y/hub', () => {
  it('[ATT-121] lists the changes of two users by time, with filters and groups', async () => {
    const documentId = newDocument()
    const [first, second, third] = await writeHistory(documentId)
    const none = { customAttributions: [] }
    expect(await activityOf(documentId)).toEqual([
      { from: first, to: first, by: 'ada', ...none },
      { from: second, to: second, by: 'grace', customAttributions: [{ k: 'job', v: 'summary' }] },
      { from: third, to: third, by: 'ada', ...none },
    ])
    const newest = await activityOf(documentId, 'order=desc&limit=1&customAttributions=true')
    expect(newest).toEqual([{ from: third, to: third, by: 'ada', ...none }])
    expect(await activityOf(documentId, 'withCustomAttributions=job:summary')).toHaveLength(1)
    expect(await activityOf(documentId, `by=ada&from=${second}`)).toHaveLength(1)
    clock.advance(6_000)
    await update(documentId, 'On Monday.', 'ada')
    expect(await activityOf(documentId, 'by=ada&groupMaxGap=10000')).toHaveLength(2)
    expect(await activityOf(documentId, 'by=ada&groupMaxGap=10000&group=false')).toHaveLength(3)
    expect(await activityOf(documentId, 'by=ada&groupMaxGap=10000&groupMaxDuration=5000')).toHaveLength(3)
    const merged = await activityOf(documentId, 'groupMaxGap=600000&mergeUsers=true')
    expect(merged.map(({ by }) => by)).toEqual(['ada', 'grace', 'ada'])
  })

  it('[ATT-122] returns the document at each time, and the authors of a range as a ContentMap', async () => {
    const documentId = newDocument()
    const [first, second, third] = await writeHistory(documentId)
    expect(await textAt(documentId, first - 1)).toBe('')
    expect(await textAt(documentId, first)).toBe('We ship on Monday.')
    expect(await textAt(documentId, second)).toBe('We ship on Monday. The budget is small.')
    expect(await textAt(documentId, third)).toBe('On Monday. The budget is small.')
    const range = `changeset/v1/acme/${documentId}/main?attributions=true&from=${second}&to=${second}`
    const { attributions } = (await hub(range)) as { attributions: Uint8Array }
    const text = Buffer.from(attributions).toString('latin1')
    expect(text).toContain('insert:job')
    expect(text).toContain('grace')
    expect(text).not.toContain('ada')
  })

  it('[ATT-123] undoes the changes of one user, and with a time alone restores the document at this time', async () => {
    const documentId = newDocument()
    const [first, second] = await writeHistory(documentId)
    clock.advance(60_000)
    await hub(`rollback/v1/acme/${documentId}`, { by: 'grace', from: second, to: second }, tokens.grace)
    expect(await read(documentId)).toBe('On Monday.')
    expect((await activityOf(documentId, 'order=desc&limit=1'))[0]?.by).toBe('grace')
    clock.advance(60_000)
    await hub(`rollback/v1/acme/${documentId}`, { from: first }, tokens.grace)
    expect(await read(documentId)).toBe('We ship on Monday.')
  })

  it(`[ATT-123] restores the content that it shows, for random edits of three users (seed ${seed})`, async () => {
    const random = new Random(seed)
    const documentId = newDocument()
    const contents = new Map<number, string>()
    let words = ['start']
    for (let step = 0; step < 12; step++) {
      const at = random.below(words.length)
      words = random.below(3) === 0 ? words.toSpliced(at, 1) : words.toSpliced(at, 0, `w${step}`)
      if (words.length === 0) words = ['again']
      await update(documentId, words.join(' '), random.pick(['ada', 'grace', 'alan']))
      contents.set(clock.now(), words.join(' '))
      clock.advance(10_000)
    }
    const times = [...contents.keys()]
    for (const to of times) expect(await textAt(documentId, to)).toBe(contents.get(to))
    for (const to of [random.pick(times), random.pick(times)]) {
      clock.advance(10_000)
      await hub(`rollback/v1/acme/${documentId}`, { from: to })
      expect(await read(documentId)).toBe(contents.get(to))
    }
  })

  it('[ATT-124] applies an update with texts that the activity lists, by the user of the token', async () => {
    const documentId = newDocument()
    await writeHistory(documentId)
    clock.advance(60_000)
    const marker = new Y.Doc()
    marker.getText('__bn_version_markers').insert(0, 'v')
    const customAttributions = [
      { k: 'type', v: 'version' },
      { k: 'name', v: 'Draft' },
    ]
    const body = { update: Y.encodeStateAsUpdate(marker), customAttributions, by: 'somebody' }
    expect(await hub(`ydoc/v1/acme/${documentId}`, body)).toMatchObject({ success: true })
    const found = await activityOf(documentId, 'customAttributions=true&withCustomAttributions=type:version')
    expect(found).toEqual([{ from: clock.now(), to: clock.now(), by: 'ada', customAttributions }])
  })

  it('[ATT-125] accepts users and backends with the rights of their roles only', async () => {
    const documentId = newDocument()
    await writeHistory(documentId)
    const reading = `activity/v1/acme/${documentId}`
    const { reader: token } = tokens
    const body = encodeAny({ from: start }) as Uint8Array<ArrayBuffer>
    const undoing = `rollback/v1/acme/${documentId}`
    expect(await statusOf(reading, { token })).toBe(403)
    expect(await statusOf(reading, {})).toBe(200)
    expect(await statusOf(undoing, { token, method: 'POST', body })).toBe(403)
    const patch = encodeAny({ update: Y.encodeStateAsUpdate(new Y.Doc()) }) as Uint8Array<ArrayBuffer>
    const patching = `ydoc/v1/acme/${documentId}`
    expect(await statusOf(patching, { token, method: 'PATCH', body: patch })).toBe(403)
    expect(await statusOf(reading, { token: `${token}x` })).toBe(401)
    expect(await statusOf(reading, { token: null })).toBe(400)
    const { apiKey, authToken } = server.credentials
    const headers = { 'x-service-api-key': apiKey, 'x-service-auth-token': authToken }
    expect(await statusOf(reading, { token: null, headers })).toBe(200)
    expect(await statusOf(undoing, { token: null, headers, method: 'POST', body })).toBe(200)
    const other = await server.token('other', {
      resources: [{ type: 'document', id: 'another', organizationId: 'acme', accessRole: 'editor' }],
    })
    expect(await statusOf(reading, { token: other })).toBe(404)
    expect(await statusOf(undoing, { token: other, method: 'POST', body })).toBe(404)
    expect(await statusOf('activity/v1/acme/nothing', { token: other })).toBe(404)
  })

  it('[ATT-125] rejects the tokens of agents, and all calls without attribution', async () => {
    const documentId = newDocument()
    await writeHistory(documentId)
    const user = { userId: 'robot', userProperties: { name: '', email: '' } }
    const answer = await server.post('/v2/auth/generate_token', { ...user, agent: true })
    const { token } = dataOf(answer) as { token: string }
    await expect(hub(`changeset/v1/acme/${documentId}`, undefined, token)).rejects.toThrow('crdt/undo')
    const { workspaceId, workspaceAuthToken } = server.credentials
    const headers = {
      'x-service-workspace-id': workspaceId,
      'x-service-workspace-auth-token': workspaceAuthToken,
    }
    const enable = (enabled: boolean) => server.post('/v2/workspace/attribution/update', { enabled }, headers)
    await enable(false)
    await expect(activityOf(documentId)).rejects.toThrow('crdt/attribution-disabled')
    await enable(true)
    expect(await activityOf(documentId)).toHaveLength(3)
  })

  it('[ATT-126] rejects what it would otherwise ignore, and malformed bodies', async () => {
    const documentId = newDocument()
    await writeHistory(documentId)
    const undo = (body: Uint8Array) =>
      statusOf(`rollback/v1/acme/${documentId}`, { method: 'POST', body: body as Uint8Array<ArrayBuffer> })
    expect(await undo(encodeAny({}))).toBe(400)
    expect(await undo(encodeAny({ by: '' }))).toBe(400)
    expect(await undo(encodeAny({ from: 1, contentIds: new Uint8Array(2) }))).toBe(400)
    expect(await undo(encodeAny({ from: 'x' }))).toBe(400)
    expect(await undo(encodeAny([1]))).toBe(400)
    expect(await undo(encodeAny({ from: 1 }).subarray(0, 5))).toBe(400)
    expect(await undo(encodeAny(Array.from({ length: 2_000 }, () => 1)))).toBe(400)
    expect(await statusOf(`changeset/v1/acme/${documentId}?delta=true`)).toBe(400)
    expect(await statusOf(`activity/v1/acme/${documentId}?limit=x`)).toBe(400)
    expect(await statusOf(`activity/v1/acme/${documentId}/main/more`)).toBe(400)
    expect(await statusOf('activity/v1/acme')).toBe(400)
    const noUpdate = encodeAny({ update: 7 }) as Uint8Array<ArrayBuffer>
    expect(await statusOf(`ydoc/v1/acme/${documentId}`, { method: 'PATCH', body: noUpdate })).toBe(400)
    expect(await read(documentId)).toBe('On Monday. The budget is small.')
  })
})
