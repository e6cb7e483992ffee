import { Agent, request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { type ReadUsage, totalOf, workspaceHeaders } from '../../support/data/usage.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { adminToken, otherWorkspace } from '../../support/servers/tenants.ts'

let server: TestServer
let token: string
/** Number of calls with credentials of the first workspace. */
let calls = 0
const clients: RawClient[] = []

beforeEach(async () => {
  server = await startTestServer({ adminToken })
  calls = 1
  token = await server.token('ada')
})
afterEach(async () => {
  for (const client of clients.splice(0)) client.end()
  await server.stop()
})

async function connect(path: string, by = token): Promise<RawClient> {
  const client = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${by}`)
  clients.push(client)
  await client.roundTrip()
  return client
}

const post = (path: string, data: object, headers = {}): Promise<Answer> => {
  calls += 1
  return server.post(path, data, headers)
}

async function usage(data: object = {}): Promise<readonly ReadUsage[]> {
  const answer = await post('/v2/workspace/usage/get', data, workspaceHeaders(server.credentials))
  return dataOf(answer) as readonly ReadUsage[]
}

/** Bytes of the websocket frames of messages from a server: 2, 4 or 10 bytes of header, and the message. */
const frameBytes = (messages: readonly Uint8Array[]): number =>
  messages.reduce((sum, { length }) => sum + (length < 126 ? 2 : length < 65_536 ? 4 : 10) + length, 0)

it('[USE-1] counts connections, updates, calls and sent bytes exactly, for the workspace and for each organization', async () => {
  const [ann, ben] = [await connect('acme/notes/main'), await connect('acme/notes/main')]
  const cleo = await connect('zoo/notes/main')
  for (let client = 1; client <= 20; client++) ann.sendUpdate(typed('a', client))
  await ann.roundTrip()
  ben.sendUpdate(typed('x'.repeat(70_000), 21))
  await ben.roundTrip()
  for (let client = 1; client <= 3; client++) cleo.sendUpdate(typed('c', client))
  await cleo.roundTrip()
  const editor = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  expect((await post('/v2/crdt/update', { ...editor, type: 'text', data: 'new' })).status).toBe(200)
  expect((await post('/v2/crdt/get', editor)).status).toBe(200)
  const before = calls
  // Calls that fail, or name no organization.
  expect((await post('/v2/crdt/get', { ...editor, documentId: 'missing' })).status).toBe(404)
  expect((await post('/v2/organizations/get', {})).status).toBe(200)
  await Promise.all([ann, ben, cleo].map((client) => client.roundTrip()))
  const [ended] = clients.splice(2, 1)
  ended?.end()
  await eventually(async () => totalOf(await usage({ organizationId: 'zoo' })).connectionsOpened === 1)
  const acme = await usage({ organizationId: 'acme' })
  const zoo = await usage({ organizationId: 'zoo' })
  expect(totalOf(acme)).toMatchObject({
    connectionsOpened: 2,
    connectionsPeak: 2,
    updates: 22,
    calls: before - 1,
  })
  expect(totalOf(zoo)).toMatchObject({ connectionsOpened: 1, connectionsPeak: 1, updates: 3, calls: 0 })
  // The session sends nothing but the frames that the client has received.
  expect(totalOf(zoo).bytesSent).toBe(frameBytes(cleo.received))
  const all = await usage()
  expect(totalOf(all)).toMatchObject({ connectionsOpened: 3, connectionsPeak: 3, updates: 25, calls })
  expect(totalOf(all).bytesSent).toBeGreaterThan(
    frameBytes([...ann.received, ...ben.received, ...cleo.received]),
  )
  expect(new Set(all.map(({ start }) => start % 3_600_000))).toEqual(new Set([0]))
  const { apiKey } = server.credentials
  const listed = await usage({ by: 'organization', granularity: 'month' })
  expect(listed.map((item) => [item.organizationId, item.apiKey])).toEqual([
    ['acme', apiKey],
    ['zoo', apiKey],
  ])
})

it('[USE-1] counts the bytes of responses with their headers', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { apiKey, authToken } = server.credentials
  await post('/v2/crdt/add', {
    organizationId: 'acme',
    documentId: 'notes',
    editorId: 'main',
    type: 'text',
    data: 'x'.repeat(400_000),
  })
  const before = totalOf(await usage({ organizationId: 'acme' })).bytesSent
  let received = 0
  for (let index = 0; index < 4; index++)
    await new Promise<void>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        'x-service-api-key': apiKey,
        'x-service-auth-token': authToken,
      }
      const sent = request(`${server.url}/v2/crdt/get`, { method: 'POST', agent, headers }, (response) => {
        const { socket } = response
        response.resume()
        response.on('end', () => {
          received = socket.bytesRead
          resolve()
        })
      })
      sent.on('error', reject)
      sent.end(JSON.stringify({ data: { organizationId: 'acme', documentId: 'notes' } }))
    })
  agent.destroy()
  expect(received).toBeGreaterThan(1_600_000)
  await eventually(
    async () => totalOf(await usage({ organizationId: 'acme' })).bytesSent === before + received,
  )
})

it('[USE-8] lets only the credentials of a workspace read its usage, which remains when its organizations are removed', async () => {
  const other = await otherWorkspace(server)
  await server.post('/v2/organizations/add', { organizations: [{ organizationId: 'secret' }] }, other.headers)
  await connect('secret/notes/main', other.token)
  await post('/v2/crdt/add', {
    organizationId: 'acme',
    documentId: 'd',
    editorId: 'e',
    type: 'text',
    data: 'x',
  })
  expect((await server.post('/v2/workspace/usage/get', {})).status).toBe(400)
  const seen = await usage({ by: 'organization' })
  expect(seen.map(({ organizationId }) => organizationId)).toEqual(['acme'])
  expect(totalOf(await usage()).connectionsOpened).toBe(0)
  expect((await post('/v2/organizations/delete', { organizationIds: ['acme'] })).status).toBe(200)
  await eventually(async () => {
    const answer = await post('/v2/organizations/get', {})
    return !JSON.stringify(dataOf(answer)).includes('acme')
  })
  expect(totalOf(await usage({ organizationId: 'acme' }))).toMatchObject({ updates: 1 })
})

it('[USE-7] has the stored bytes of the workspace', async () => {
  await post('/v2/crdt/add', {
    organizationId: 'acme',
    documentId: 'd',
    editorId: 'e',
    type: 'text',
    data: 'x'.repeat(100_000),
  })
  const [item] = await usage()
  expect(item?.bytesStored).toBeGreaterThan(100_000)
  expect(await usage({ by: 'organization' })).toEqual([
    expect.not.objectContaining({ bytesStored: expect.anything() }),
  ])
})
