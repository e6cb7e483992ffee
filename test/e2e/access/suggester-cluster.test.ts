import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'

const main = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
const branch = { ...main, name: 'idea' }
const permissionDenied = [2, 0]

let cluster: TestCluster
let here: TestServer
let there: TestServer

beforeAll(async () => {
  cluster = await startCluster(2)
  const [first, second] = cluster.servers
  if (first === undefined || second === undefined) throw new Error('no servers')
  here = first
  there = second
})

afterAll(() => cluster?.stop())

const call = async (server: TestServer, path: string, data: object): Promise<unknown> =>
  dataOf(await server.post(path, data))

async function connect(userId: string): Promise<RawClient> {
  const token = await here.token(userId)
  const client = await RawClient.connect(`${here.wsUrl}/sync/acme/plan/main%40idea?token=${token}`)
  await client.roundTrip()
  return client
}

async function textOfBranch(): Promise<string> {
  const editor = { ...main, editorId: 'main@idea' }
  const [{ data }] = (await call(there, '/v2/crdt/get', editor)) as [{ data: string }]
  return data
}

it('[ACC-102] a node applies decisions of other nodes on a branch to its clients, and a branch that another user creates under the same name gives no right', async () => {
  await call(here, '/v2/crdt/add', { ...main, type: 'text', data: 'kept' })
  const resources = ['sue', 'sam'].map((userId) => ({
    user: { userId },
    permissions: {
      resources: [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole: 'suggester' }],
    },
  }))
  for (const granted of resources) await call(here, '/v2/auth/permissions/add', granted)
  await call(there, '/v2/crdt/branches/create', { ...branch, userId: 'sue' })
  const sue = await connect('sue')
  sue.sendUpdate(typed('in time ', 7))
  await eventually(async () => (await textOfBranch()).includes('in time'))
  await call(there, '/v2/crdt/branches/reject', { ...branch, userId: 'ann' })
  // The message about the decision must reach the node of the client.
  await new Promise((resolve) => setTimeout(resolve, 500))
  sue.sendUpdate(typed('too late ', 8))
  await eventually(() => sue.bodies(...permissionDenied).length > 0)
  expect(await textOfBranch()).not.toContain('too late')
  await call(there, '/v2/crdt/branches/delete', branch)
  expect((await sue.closed).code).toBe(4404)
  await call(there, '/v2/crdt/branches/create', { ...branch, userId: 'sam' })
  const again = await connect('sue')
  again.sendUpdate(typed('not mine ', 9))
  await eventually(() => again.bodies(...permissionDenied).length > 0)
  expect(await textOfBranch()).toBe('kept')
  again.socket.close()
})
