import { afterEach, expect } from 'vitest'
import { RawClient } from '../../support/clients/clients.ts'
import { type NodeServer, startNodes } from '../../support/servers/node-servers.ts'
import { dataOf } from '../../support/servers/server.ts'
import type { Weather } from '../../support/servers/simulated-network.ts'
import { itLong as it } from '../../support/time/full-run.ts'

let stop = async (): Promise<void> => {}
afterEach(() => stop())

async function nodes(weather?: Weather): Promise<readonly [NodeServer, NodeServer]> {
  const started = await startNodes(2, {}, weather === undefined ? {} : { weather })
  stop = started.stop
  return started.servers as readonly [NodeServer, NodeServer]
}

const done = async (server: NodeServer, path: string, data: object): Promise<unknown> =>
  dataOf(await server.post(path, data))

/** A client with an open document at `there` and a token of `here`. */
async function visitor(here: NodeServer, there: NodeServer, userId: string): Promise<RawClient> {
  const token = await here.token(userId)
  const client = await RawClient.connect(`${there.wsUrl}/sync/acme/plan/main?token=${token}`)
  await client.roundTrip()
  return client
}

const makePlan = (server: NodeServer) =>
  done(server, '/v2/crdt/add', {
    organizationId: 'acme',
    documentId: 'plan',
    editorId: 'main',
    type: 'text',
    data: '',
  })

const closePlan = (server: NodeServer) =>
  done(server, '/v2/organizations/documents/update', {
    organizationId: 'acme',
    documents: [{ documentId: 'plan', accessType: 'restricted' }],
  })

/** Loses all messages on these topics. */
const deaf: Weather = (topic) => (topic.startsWith('access') ? [] : [0])

it.each([
  ['delivers', undefined],
  ['loses', deaf],
])(
  '[CS-1] when a right is revoked and the bus %s the message, closes the session at another node',
  async (_, weather) => {
    const [here, there] = await nodes(weather)
    await makePlan(here)
    const client = await visitor(here, there, 'mallory')
    await closePlan(here)
    expect((await client.closed).code).toBe(4403)
  },
)

it('[CS-1] when the bus loses the message about the first group of an organization, applies the group at another node', async () => {
  const [here, there] = await nodes(deaf)
  await makePlan(here)
  // This node has cached that no user is in a group.
  ;(await visitor(here, there, 'ada')).end()
  await closePlan(here)
  const acme = { organizationId: 'acme' }
  const token = await here.token('ada')
  /** Returns the close code, or 0 if the server admits ada. */
  const codeOf = async (): Promise<number> => {
    const client = await RawClient.connect(`${there.wsUrl}/sync/acme/plan/main?token=${token}`)
    const code = await Promise.race([
      client.closed.then((closed) => closed.code),
      client.roundTrip().then(() => 0),
    ])
    client.end()
    return code
  }
  expect(await codeOf()).toBe(4404)
  const crew = { organizationUserGroupId: 'crew' }
  await done(here, '/v1/organizations/usergroups/add', {
    ...acme,
    organizationUserGroups: [{ groupId: 'crew', groupName: 'Crew' }],
  })
  await done(here, '/v1/organizations/usergroups/users/add', { ...acme, ...crew, userIds: ['ada'] })
  const resources = [{ type: 'document', id: 'plan', ...acme, accessRole: 'editor' }]
  await done(here, '/v2/auth/permissions/add', { ...crew, permissions: { resources } })
  await expect.poll(codeOf, { timeout: 8_000 }).toBe(0)
})

it.each([
  ['delivers', undefined],
  ['loses', deaf],
])(
  '[CS-2] when a token is revoked and the bus %s the message, closes the sessions at another node',
  async (_, weather) => {
    const [here, there] = await nodes(weather)
    await makePlan(here)
    const client = await visitor(here, there, 'mallory')
    await done(here, '/v2/auth/revoke_tokens', { userId: 'mallory' })
    expect((await client.closed).code).toBe(4401)
  },
)

it.each([
  ['delivers', undefined],
  ['loses', deaf],
])('[CS-3] applies changed domains at another node when the bus %s the message', async (_, weather) => {
  const [here, there] = await nodes(weather)
  const origin = { origin: 'https://evil.test' }
  const statusThere = async () => (await there.post('/v2/workspace/domains/get', {}, origin)).status
  expect(await statusThere()).toBe(200)
  await done(here, '/v2/workspace/domains/add', { domains: ['app.test'] })
  await expect.poll(statusThere, { timeout: 8_000 }).toBe(403)
})
