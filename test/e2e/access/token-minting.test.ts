import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { afterEach, expect, it } from 'vitest'
import { RawClient } from '../../support/clients/clients.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function start(given: Parameters<typeof startTestServer>[1] = {}): Promise<TestServer> {
  const server = await startTestServer({}, given)
  stops.push(() => server.stop())
  return server
}

/** Calls an operation of the workspace. */
const call = ({ post, credentials }: TestServer, operation: string, data: object) =>
  post(`/v2/workspace/${operation}`, data, {
    'x-service-workspace-id': credentials.workspaceId,
    'x-service-workspace-auth-token': credentials.workspaceAuthToken,
  })

async function reset(server: TestServer, apiKey: string, graceSeconds = 0): Promise<string> {
  const made = dataOf(await call(server, 'mintingsecret/reset', { apiKey, graceSeconds }))
  return (made as { secret: string }).secret
}

const remove = async (server: TestServer, apiKey: string): Promise<unknown> =>
  dataOf(await call(server, 'mintingsecret/delete', { apiKey }))

/** Mints a token for an API key, as its backend does. */
const minted = ({ credentials }: TestServer, apiKey: string, secret: string): Promise<string> =>
  new SignJWT({ ws: credentials.workspaceId, key: apiKey, name: 'Ada' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('weft')
    .setSubject('ada')
    .setIssuedAt()
    .setJti(randomUUID())
    .setExpirationTime('1h')
    .sign(Buffer.from(secret))

const connect = ({ wsUrl }: TestServer, token: string): Promise<RawClient> =>
  RawClient.connect(`${wsUrl}/sync/acme/plan/main?token=${token}`)

/** Returns the close code of a new connection, or 0 if the server admits it. */
async function admission(server: TestServer, token: string): Promise<number> {
  const client = await connect(server, token)
  const code = await Promise.race([
    client.closed.then((closed) => closed.code),
    client.roundTrip().then(() => 0),
  ])
  client.end()
  return code
}

it('[ACC-90] accepts a token that is signed with the minting secret of its own API key, and rejects other minting secrets', async () => {
  const server = await start()
  const { apiKey } = server.credentials
  const made = dataOf(await call(server, 'apikey/create', { type: 'testing' })) as { apiKey: string }
  const [own, other] = [await reset(server, apiKey), await reset(server, made.apiKey)]
  expect(await admission(server, await minted(server, apiKey, own))).toBe(0)
  expect(await admission(server, await minted(server, made.apiKey, other))).toBe(0)
  expect(await admission(server, await minted(server, made.apiKey, own))).toBe(4401)
  expect(await admission(server, await minted(server, apiKey, other))).toBe(4401)
  expect(await admission(server, await minted(server, 'key_of_nobody', own))).toBe(4401)
  // The server's own tokens are still valid.
  expect(await admission(server, await server.token('ada'))).toBe(0)
})

it('[ACC-91] accepts a replaced minting secret only during its grace period, and keeps at most two secrets for an API key', async () => {
  const clock = new HeldClock()
  const server = await start({ clock })
  const { apiKey } = server.credentials
  const first = await minted(server, apiKey, await reset(server, apiKey))
  const second = await minted(server, apiKey, await reset(server, apiKey, 60))
  expect([await admission(server, first), await admission(server, second)]).toEqual([0, 0])
  clock.advance(60_000)
  expect([await admission(server, first), await admission(server, second)]).toEqual([4401, 0])
  await reset(server, apiKey, 60)
  const fourth = await minted(server, apiKey, await reset(server, apiKey, 60))
  expect([await admission(server, second), await admission(server, fourth)]).toEqual([4401, 0])
})

it('[ACC-92] lists minting secrets without their values, and only to the workspace that has the API key', async () => {
  const server = await start()
  const { apiKey } = server.credentials
  const secrets = [await reset(server, apiKey), await reset(server, apiKey, 3_600)]
  const listed = dataOf(await call(server, 'mintingsecrets/get', { apiKey }))
  const entry = { id: expect.stringMatching(/^mint_/), createdAt: expect.any(Number) }
  expect(listed).toEqual({ apiKey, mintingSecrets: [entry, { ...entry, validUntil: expect.any(Number) }] })
  for (const secret of secrets) expect(JSON.stringify(listed)).not.toContain(secret)
  for (const operation of ['mintingsecret/reset', 'mintingsecrets/get', 'mintingsecret/delete'])
    expect((await call(server, operation, { apiKey: 'key_of_others' })).status).toBe(404)
  await remove(server, apiKey)
  expect(dataOf(await call(server, 'mintingsecrets/get', { apiKey }))).toEqual({ apiKey, mintingSecrets: [] })
})

it.each([
  ['delivers', () => [0]],
  ['loses', () => []],
])(
  '[ACC-93] when a minting secret is deleted, closes the sessions at another node that use its tokens, also when the bus %s messages',
  async (_, weather) => {
    const { servers, stop } = await startNodes(2, {}, { weather })
    stops.push(stop)
    const [here, there] = servers as unknown as [TestServer, TestServer]
    const { apiKey } = here.credentials
    const token = await minted(here, apiKey, await reset(here, apiKey))
    const unaffected = await connect(there, await there.token('bob'))
    await unaffected.roundTrip()
    const client = await connect(there, token)
    await client.roundTrip()
    await remove(here, apiKey)
    expect((await client.closed).code).toBe(4401)
    await unaffected.roundTrip()
    await expect.poll(() => admission(there, token), { timeout: 8_000 }).toBe(4401)
    unaffected.end()
  },
)
