import { afterEach, expect, it } from 'vitest'
import type { Config } from '../../../src/core/config/config.ts'
import { TenantStore } from '../../../src/core/directory/tenants/tenant-store.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { RawClient } from '../../support/clients/clients.ts'
import { documentOf, pathOf } from '../../support/servers/document-owners.ts'
import { startNodes } from '../../support/servers/node-servers.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

const secret = (letter: string): string => letter.repeat(32)

async function startOn({ engine }: SharedNode, config: object = {}): Promise<TestServer> {
  const server = await startTestServer(config, { engine })
  stops.push(() => server.stop())
  return server
}

it('[CS-10] when nodes start at the same time without configured credentials, gives all of them the same credentials', async () => {
  const { servers, stop } = await startNodes(3)
  stops.push(stop)
  const [first, second, third] = servers.map(({ credentials }) => credentials)
  expect(second).toEqual(first)
  expect(third).toEqual(first)
  expect(servers.filter(({ server }) => server.created)).toHaveLength(1)
  const [here = servers[0] as TestServer, there = here] = servers
  const client = await RawClient.connect(
    `${there.wsUrl}/sync/acme/plan/main?token=${await here.token('ada')}`,
  )
  await client.roundTrip()
  client.end()
  expect((await there.post('/v2/workspace/domains/get', {})).status).toBe(200)
})

it('[CS-10] gives a later node the credentials of the store, and not the credentials of its own directory', async () => {
  const store = await openMemoryEngine()
  const [one, two] = (await sharedNodes(2, { store })) as [SharedNode, SharedNode]
  const first = await startOn(one)
  expect((await startOn(two)).credentials).toEqual(first.credentials)
})

it.each<[string, Partial<Config>, Partial<Config>]>([
  ['WEFT_JWT_SECRET', { jwtSecret: secret('a') }, { jwtSecret: secret('b') }],
  ['WEFT_JWT_SECRET', { jwtSecret: secret('a') }, {}],
  ['WEFT_JWT_SECRET', {}, { jwtSecret: secret('b') }],
  ['WEFT_API_KEY', { apiKey: 'key-a' }, { apiKey: 'key-b' }],
  ['WEFT_WORKSPACE_ID', { workspaceId: 'ws-a' }, { workspaceId: 'ws-b' }],
  ['WEFT_DEFAULT_ACCESS', { defaultAccess: 'restricted' }, {}],
  ['WEFT_DEFAULT_ACCESS', {}, { defaultAccess: 'organizationPrivate' }],
])(
  '[CS-11] a node does not start, and prints one sentence, when its %s differs from that of the other nodes',
  async (option, first, other) => {
    const [one, two] = (await sharedNodes(2)) as [SharedNode, SharedNode]
    await startOn(one, first)
    await expect(startTestServer(other, { engine: two.engine })).rejects.toThrow(
      `${option} differs from that of the other nodes on this store`,
    )
    await two.engine.close()
  },
)

it('[CS-14] a single node does not start when the store has API keys, but not the configured API key', async () => {
  const store = await openMemoryEngine()
  const [one, two] = (await sharedNodes(2, { store })) as [SharedNode, SharedNode]
  const { apiKey } = (await startOn(one)).credentials
  one.cut()
  await expect(startTestServer({ apiKey: 'typo' }, { engine: two.engine })).rejects.toThrow(
    'the store has API keys, but not the configured API key "typo"',
  )
  expect(await new TenantStore(store.kv).apiKeyIds(10)).toEqual([apiKey])
})

it('[CS-12] the signing secret can be replaced node by node, while all nodes accept both secrets', async () => {
  const [one, two, three, four] = (await sharedNodes(4)) as [SharedNode, SharedNode, SharedNode, SharedNode]
  const [old, next] = [secret('a'), secret('b')]
  await startOn(one, { jwtSecret: old })
  const second = await startOn(two, { jwtSecret: old, jwtSecretPrevious: next })
  const third = await startOn(three, { jwtSecret: next, jwtSecretPrevious: old })
  await startOn(four, { jwtSecret: next })
  const token = await third.token('ada')
  // The first and the last node do not accept each token.
  const ids = documentOf({ nodes: [two], servers: [second] }, 0)
  const client = await RawClient.connect(`${second.wsUrl}/sync/${pathOf(ids)}?token=${token}`)
  await client.roundTrip()
  client.end()
})

it('[CS-11] accepts a changed default access when no other node is alive', async () => {
  const [one, two] = (await sharedNodes(2)) as [SharedNode, SharedNode]
  await startOn(one, { defaultAccess: 'public' })
  one.cut()
  await startOn(two, { defaultAccess: 'restricted' })
})

it('[CS-12] accepts a changed signing secret when no other node is alive', async () => {
  const [one, two] = (await sharedNodes(2)) as [SharedNode, SharedNode]
  await startOn(one, { jwtSecret: secret('a') })
  one.cut()
  const server = await startOn(two, { jwtSecret: secret('b') })
  expect(server.credentials.jwtSecret).toBe(secret('b'))
})
