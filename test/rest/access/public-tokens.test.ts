import { afterEach, expect, it } from 'vitest'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const servers: TestServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop()
})

async function start(defaultAccess: 'public' | 'restricted'): Promise<TestServer> {
  const server = await startTestServer({ defaultAccess })
  servers.push(server)
  return server
}

const user = { userId: 'ada', userProperties: { name: 'Ada', email: 'ada@example.com' } }

async function warningsFor({ post }: TestServer, given: object): Promise<readonly string[]> {
  const { status, body } = await post('/v2/auth/generate_token', { ...user, ...given })
  expect(status).toBe(200)
  return (body.result as { readonly warnings?: readonly string[] }).warnings ?? []
}

it('[TOK-30] generate_token warns if nothing limits the token to some documents', async () => {
  const server = await start('public')
  expect(await warningsFor(server, {})).toEqual([expect.stringMatching(/public.*WEFT_DEFAULT_ACCESS/)])
  expect(await warningsFor(server, { permissions: { resources: [] } })).toEqual([])
  const admin = { ...user.userProperties, isAdmin: true }
  expect(await warningsFor(server, { userProperties: admin })).toEqual([])
  const authorize = { url: 'https://backend.example.com/authorize' }
  dataOf(await server.post('/v2/workspace/callbacks/update', { authorize }))
  expect(await warningsFor(server, {})).toEqual([])
  expect(await warningsFor(await start('restricted'), {})).toEqual([])
})
