import { expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'

const editor = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }

it('[DEL-7] one node restores what another node has deleted, and all nodes serve it', async () => {
  const cluster = await startCluster(2)
  const [one, two] = cluster.servers as [TestServer, TestServer]
  const typing = await syncedEditor(one.wsUrl, 'acme/plan/main', await one.token('ann'))
  typing.text.insert(0, 'Typed')
  const read = async ({ post }: TestServer) => (await post('/v2/crdt/get', { ...editor, type: 'text' })).body
  await eventually(async () => JSON.stringify(await read(two)).includes('Typed'))
  typing.close()
  const place = { organizationId: 'acme', documentIds: ['plan'] }
  dataOf(await one.post('/v2/organizations/documents/delete', place))
  for (const server of [one, two]) expect((await read(server)).error?.status).toBe('NOT_FOUND')
  const [deletion] = dataOf(await two.post('/v2/workspace/deleted/get', {})) as [{ deletionId: string }]
  dataOf(await two.post('/v2/workspace/deleted/restore', { deletionId: deletion.deletionId }))
  for (const server of [one, two])
    await eventually(async () => JSON.stringify(await read(server)).includes('Typed'))
  const again = await syncedEditor(two.wsUrl, 'acme/plan/main', await two.token('ann'))
  expect(again.text.toString()).toBe('Typed')
  again.close()
  const draft = { ...editor, name: 'draft' }
  const branch = { ...editor, editorId: 'main@draft', type: 'text' }
  dataOf(await one.post('/v2/crdt/branches/create', { ...draft, userId: 'ann' }))
  dataOf(await one.post('/v2/crdt/update', { ...branch, data: 'Typed more' }))
  for (const [index, remove] of [one, two].entries()) {
    const restore = [two, one][index] as TestServer
    dataOf(await remove.post('/v2/crdt/branches/delete', draft))
    for (const { post } of [one, two])
      expect((await post('/v2/crdt/get', branch)).body.error?.status).toBe('NOT_FOUND')
    const [{ deletionId }] = dataOf(await restore.post('/v2/workspace/deleted/get', {})) as [
      { deletionId: string },
    ]
    dataOf(await restore.post('/v2/workspace/deleted/restore', { deletionId }))
    for (const { post } of [one, two])
      expect(dataOf(await post('/v2/crdt/get', branch))).toMatchObject([{ data: 'Typed more' }])
  }
  await cluster.stop()
})
