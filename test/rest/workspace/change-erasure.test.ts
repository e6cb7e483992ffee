import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readAttribution } from '../../../src/core/rooms/log/read-attribution.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { unexplained, useEveryOperation } from '../../support/data/erased-user.ts'
import { startExampleServer } from '../../support/data/openapi-example-data.ts'
import { userDataOf, zoe, zoeTexts } from '../../support/data/user-data.ts'
import { runCli } from '../../support/servers/cli.ts'
import { readableLog } from '../../support/servers/readable-log.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { filesWith, keysHolding, notAudited } from '../../support/stores/stored-keys.ts'

const organizationId = 'acme'
const secret = 'told-by-zoe'
const editorOf = (documentId: string) => ({ organizationId, documentId, editorId: 'main' })

let directory: string
let server: TestServer
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weft-changes-'))
  server = await startTestServer({ engine: 'level', dataDir: directory, idleUnloadSeconds: 0 })
})
afterEach(async () => {
  await server.stop()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

const post = async (path: string, data: object) => dataOf(await server.post(`/v2/${path}`, data))
const write = (documentId: string, data: string, userId: string, meta: object = {}) =>
  post('crdt/update', { ...editorOf(documentId), type: 'text', data, userId, meta, upsert: true })
const read = async (documentId: string) =>
  ((await post('crdt/get', editorOf(documentId))) as [{ data: unknown }])[0].data

const changesOf = async () =>
  (await userDataOf(server).all({ organizationId })).filter(({ kind }) => kind === 'change')

it('[DATA-12] lists the documents that a user has changed, and removes the user and the meta of the changes from their logs', async () => {
  for (const documentId of ['d1', 'd2', 'd3']) await write(documentId, 'Bob wrote this.', 'bob')
  await write('d1', 'Bob and Zoe wrote this.', zoe.userId, { source: secret })
  await write('d2', 'Zoe wrote this.', zoe.userId, { source: secret })
  const open = await syncedEditor(server.wsUrl, 'acme/d2/main', await server.token('bob'))
  expect((await changesOf()).map(({ documentId, data }) => [documentId, data])).toEqual([
    ['d1', { editorId: 'main', inserted: 8, deleted: 0 }],
    ['d2', { editorId: 'main', inserted: expect.any(Number), deleted: expect.any(Number) }],
  ])
  const { removed } = await userDataOf(server).erase({ organizationId })
  expect(removed.changes).toBe(2)
  expect(await changesOf()).toEqual([])
  expect([await read('d1'), await read('d2')]).toEqual(['Bob and Zoe wrote this.', 'Zoe wrote this.'])
  open.text.insert(0, 'Still open: ')
  await eventually(async () => (await read('d2')) === 'Still open: Zoe wrote this.')
  open.close()
  await server.stop()
  const revoked = (key: string) => /revo/.test(key)
  const holding = notAudited(await keysHolding(directory, [zoe.userId, secret]))
  expect(holding.filter((key) => !revoked(key) && /^[suh] /.test(key))).toEqual([])
  const engine = await openLevelEngine({ directory })
  try {
    const docs = await engine.log.list([], { limit: 10 })
    const { inserted } = await readAttribution(engine.log, docs[0] ?? [])
    const authors = [...inserted.values()]
      .flat()
      .map(({ origin: { by, source, meta } }) => [by, source, meta])
    expect(authors).toEqual(
      expect.arrayContaining([
        ['bob', 'rest', {}],
        ['', 'rest', null],
      ]),
    )
    expect(JSON.stringify(authors)).not.toContain(zoe.userId)
  } finally {
    await engine.close()
  }
  expect((await runCli(['compact', directory], directory)).code).toBe(0)
  expect(await filesWith(directory, secret)).toEqual([])
})

it('[DATA-13] leaves the id of the user in no event, stream, branch or change of an agent that acts for the user', async () => {
  await post('workspace/feed/update', { enabled: true })
  await write('d1', 'One. Two.', 'bob')
  const editor = editorOf('d1')
  await post('crdt/branches/create', { ...editor, name: 'draft', userId: zoe.userId })
  await post('crdt/update', {
    ...editor,
    editorId: 'main@draft',
    type: 'text',
    data: 'One. Two. Three.',
    userId: zoe.userId,
  })
  await post('crdt/branches/merge', { ...editor, name: 'draft', userId: 'bob' })
  const agentOf = async (userId: string) => {
    const { token } = (await post('auth/generate_token', {
      userId,
      userProperties: { name: 'Bot', email: '' },
      agent: true,
      onBehalfOf: zoe.userId,
      permissions: { resources: [{ type: 'document', organizationId, id: 'd1', accessRole: 'editor' }] },
    })) as { token: string }
    return { 'x-service-api-key': '', 'x-service-auth-token': '', authorization: `Bearer ${token}` }
  }
  const insert = { ...editor, edit: { insert: { at: 'end' } } }
  for (const headers of [await agentOf('bot'), await agentOf(zoe.userId), {}]) {
    const opening = { ...insert, ...('authorization' in headers ? {} : { userId: zoe.userId }) }
    const stream = await ContentStream.open(server, opening, headers)
    await stream.text(' More.').end()
  }
  await post('crdt/update', {
    ...editor,
    type: 'text',
    data: 'Bob.',
    userId: 'bob',
    meta: { reviewer: zoe.userId },
  })
  await eventually(async () => {
    const { events } = (await post('feed/get', { pageSize: 1_000 })) as { events: { type: string }[] }
    return events.some(({ type }) => type === 'comment_annotation.suggestion_accept')
  })
  await userDataOf(server).erase()
  await server.stop()
  const holding = notAudited(await keysHolding(directory, [zoe.userId]))
  expect(holding.filter((key) => !/revo/.test(key))).toEqual([])
})

it('[DATA-3] removes a user whom the example of each operation names, from the store and from its files', async () => {
  await server.stop()
  const dataDir = join(directory, 'examples')
  const { log, text } = readableLog('trace')
  const example = await startExampleServer({ engine: 'level', dataDir }, { log })
  server = example.server
  const calls = await useEveryOperation(example)
  let report = await userDataOf(server).erase()
  await eventually(async () => {
    if (report.status === 'running') report = await userDataOf(server).erase()
    return report.status === 'done'
  })
  expect(report.removed.notifications).toBeGreaterThan(calls / 2)
  await writeFile(join(directory, 'token'), server.config.adminToken ?? '')
  const backup = join(directory, 'weft.backup')
  const restored = join(directory, 'restored')
  for (const args of [
    ['backup', server.url, backup, '--token-file', join(directory, 'token')],
    ['restore', backup, restored],
  ])
    expect(await runCli(args, directory)).toMatchObject({ code: 0 })
  await server.stop()
  for (const folder of [dataDir, restored]) {
    expect(unexplained(await keysHolding(folder, [zoe.userId, zoe.email]))).toEqual([])
    expect((await runCli(['compact', folder], directory)).code).toBe(0)
    expect(await filesWith(folder, zoe.email)).toEqual([])
  }
  expect(zoeTexts.filter((each) => text().includes(each))).toEqual([])
})
