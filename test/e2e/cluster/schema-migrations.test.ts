import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { documentOf, pathOf } from '../../support/servers/document-owners.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'

let cluster: TestCluster
afterEach(() => cluster.stop())

const schema = (line: string) => ({
  nodes: { doc: { content: `${line}+` }, [line]: { content: 'text*' }, text: {} },
  contentKey: 'default',
})

it('[FMT-211] migrates each document at its owner, and admits older clients of other nodes as viewers', async () => {
  cluster = await startCluster(2)
  const server = cluster.servers[0] as TestServer
  const name = 'lines'
  await server.post('/v2/crdt/schemas/set', { name, schema: schema('line') })
  const documents = [0, 1].map((node) => documentOf(cluster, node))
  for (const ids of documents)
    dataOf(
      await server.post('/v2/crdt/add', {
        ...ids,
        editorId: 'main',
        schema: name,
        type: 'xml',
        data: '<line/>',
      }),
    )
  const token = await server.token('ann')
  const socket = hocuspocusSocket(server, 4, '?schemaVersion=1')
  const providers = documents.map((ids) => hocuspocusProvider(server, pathOf(ids), token, { socket }))
  await eventually(() => providers.every(({ authorizedScope }) => authorizedScope === 'read-write'))
  await server.post('/v2/crdt/schemas/set', { name, schema: schema('row'), version: 2 })
  const rules = [{ rule: 'renameNode', name: 'line', to: 'row' }]
  dataOf(await cluster.any().post('/v2/crdt/schemas/migrate', { name, toVersion: 2, rules }))
  await eventually(async () => {
    const { migration } = dataOf(await cluster.any().post('/v2/crdt/schemas/get', { name })) as {
      migration: { status: string }
    }
    return migration.status === 'done'
  })
  for (const ids of documents)
    expect(
      dataOf(await server.post('/v2/crdt/get', { ...ids, editorId: 'main', format: 'xml' })),
    ).toMatchObject([{ data: '<row/>', schemaVersion: 2 }])
  await eventually(() => providers.every(({ authorizedScope }) => authorizedScope === 'readonly'))
  for (const provider of providers) provider.destroy()
  socket.destroy()
})
