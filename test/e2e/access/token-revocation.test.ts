import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import type { ServerOverrides } from '../../../src/server/server.ts'
import { eventually, RawClient } from '../../support/clients/clients.ts'
import { newKey, TestProvider } from '../../support/servers/identity-provider.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-identity-'))
afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

async function withServer(
  overrides: Partial<Config>,
  use: (server: TestServer) => Promise<void>,
  given: ServerOverrides = {},
) {
  const server = await startTestServer(overrides, given)
  try {
    await use(server)
  } finally {
    await server.stop()
  }
}

const connect = ({ wsUrl }: TestServer, token: string) =>
  RawClient.connect(`${wsUrl}/sync/acme/plan/main?token=${token}`)

async function connected(server: TestServer, token: string): Promise<RawClient> {
  const client = await connect(server, token)
  await client.roundTrip()
  return client
}

const revoke = async (server: TestServer, userId: string) =>
  dataOf(await server.post('/v2/auth/revoke_tokens', { userId }))

it('[ACC-81] closes the sockets of revoked tokens with 4401, but accepts new tokens of the user and tokens of other users', () =>
  withServer({}, async (server) => {
    const old = await server.token('ann')
    const [ann, again] = [await connected(server, old), await connected(server, old)]
    const bob = await connected(server, await server.token('bob'))
    expect(await revoke(server, 'ann')).toEqual({ userId: 'ann', issuedUntil: expect.any(Number) })
    for (const client of [ann, again])
      expect(await client.closed).toEqual({ code: 4401, reason: expect.stringContaining('revoked') })
    expect(await (await connect(server, old)).closed).toMatchObject({ code: 4401 })
    const fresh = await connected(server, await server.token('ann'))
    await bob.roundTrip()
    for (const client of [fresh, bob]) client.end()
    for (const userId of ['', '..', 7, undefined])
      expect((await server.post('/v2/auth/revoke_tokens', { userId })).status).toBe(400)
  }))

it('[ACC-81] closes a socket whose token is revoked while its document opens', async () => {
  let go = () => {}
  const going = new Promise<void>((resolve) => {
    go = resolve
  })
  let loads = 0
  const engine = withLog(await openMemoryEngine(), (log) => ({
    load: async (...parameters) => {
      loads += 1
      await going
      return log.load(...parameters)
    },
  }))
  await withServer(
    {},
    async (server) => {
      const token = await server.token('ann')
      const client = await connect(server, token)
      await eventually(() => loads > 0)
      await revoke(server, 'ann')
      go()
      expect(await client.closed).toMatchObject({ code: 4401 })
    },
    { engine },
  )
})

it('[ACC-81] after a restart, keeps a revocation, and accepts a token that was issued after the revocation', async () => {
  const overrides = { engine: 'level', dataDir: join(root, 'data') } as const
  const tokens: string[] = []
  await withServer(overrides, async (server) => {
    tokens.push(await server.token('ann'))
    await revoke(server, 'ann')
    tokens.push(await server.token('ann'))
  })
  await withServer(overrides, async (server) => {
    const [old = '', fresh = ''] = tokens
    expect(await (await connect(server, old)).closed).toMatchObject({ code: 4401 })
    ;(await connected(server, fresh)).end()
  })
})

it('[ACC-80] does not revoke the tokens that another tenant has issued for a user with the same id', () =>
  withServer({ adminToken: 'the-admin-token-of-these-tests' }, async (server) => {
    const ann = await connected(server, await server.token('ann'))
    const headers = { 'x-service-admin-token': 'the-admin-token-of-these-tests' }
    const other = dataOf(
      await server.post('/v2/workspace/create', { ownerEmail: 'a@example.com' }, headers),
    ) as { apiKey: string; apiKeyAuthToken: string }
    const credentials = { 'x-service-api-key': other.apiKey, 'x-service-auth-token': other.apiKeyAuthToken }
    expect((await server.post('/v2/auth/revoke_tokens', { userId: 'ann' }, credentials)).status).toBe(200)
    await ann.roundTrip()
    ann.end()
  }))

it('[ACC-61] does not start if the identity provider has no issuer or no audience', () => {
  const environment = { WEFT_JWT_JWKS_URL: 'https://login.example.com/jwks.json' }
  for (const more of [{}, { WEFT_JWT_ISSUER: 'x' }, { WEFT_JWT_AUDIENCE: 'x' }])
    expect(() => readConfig({ flags: {}, environment: { ...environment, ...more }, file: null })).toThrow(
      /WEFT_JWT_JWKS_URL needs WEFT_JWT_ISSUER and WEFT_JWT_AUDIENCE/,
    )
})

it('[ACC-60] [ACC-63] accepts a token of an identity provider, and closes with 1013 when the provider is unavailable', async () => {
  const provider = new TestProvider()
  const jwtJwksUrl = await provider.start()
  const key = await newKey('one', 'ES256')
  provider.keys = [key]
  const { issuer: jwtIssuer, audience: jwtAudience } = provider
  await withServer({ jwtJwksUrl, jwtIssuer, jwtAudience }, async (server) => {
    const token = await provider.sign(key)
    provider.state = 'broken'
    expect(await (await connect(server, token)).closed).toMatchObject({ code: 1013 })
    provider.state = 'up'
    const client = await connected(server, token)
    await revoke(server, 'idp|ann')
    expect(await client.closed).toMatchObject({ code: 4401 })
    ;(await connected(server, await server.token('bob'))).end()
  })
  provider.stop()
})
