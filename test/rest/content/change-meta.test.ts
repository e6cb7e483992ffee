import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { LogUpdate } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { delegatedLog } from '../../support/stores/delegated-log.ts'

/** Updates that were appended, by the id of their document. */
const appended = new Map<string, LogUpdate[]>()
let server: TestServer
beforeAll(async () => {
  const engine = await openMemoryEngine()
  const log = {
    ...delegatedLog(engine.log),
    append: (...[doc, to, updates, options]: Parameters<typeof engine.log.append>) => {
      const documentId = doc.at(-2) ?? ''
      appended.set(documentId, [...(appended.get(documentId) ?? []), ...updates])
      return engine.log.append(doc, to, updates, options)
    },
  }
  server = await startTestServer({}, { engine: { ...engine, log } })
})
afterAll(() => server.stop())

const editorOf = (documentId: string) => ({ organizationId: 'acme', documentId, editorId: 'main' })
const post = (operation: string, data: object, headers: Readonly<Record<string, string>> = {}) =>
  server.post(`/v2/crdt/${operation}`, data, headers)
const done = async (operation: string, data: object) => dataOf(await post(operation, data)) as never
const causesOf = (documentId: string) =>
  (appended.get(documentId) ?? []).map(({ by, source, meta }) => ({ by, source, meta }))

const meta = { job: 'summary-17', model: 'm-1', tokens: 812, reviewed: false, parent: null }

it('[ATT-60] stores the source and the meta of each write, and neither of them for an update from a websocket', async () => {
  const editor = editorOf('sources')
  const { version } = await done('add', { ...editor, type: 'text', data: 'one two', userId: 'ann', meta })
  const { versionId } = await done('versions/create', editor)
  const other = { userId: 'bob', meta: { job: 'other' } }
  await done('update', { ...editor, type: 'text', data: 'one two three', baseVersion: version, ...other })
  await done('edit', { ...editor, edits: [{ replace: { find: 'one', with: 'won' } }], userId: 'cem', meta })
  const doc = new Y.Doc()
  doc.getMap('settings').set('k', 1)
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  await done('apply', { ...editor, update, userId: 'dan', meta })
  await done('update', { ...editor, type: 'text', contentKey: 'content', data: 'x'.repeat(200_000) })
  await done('versions/restore', { ...editor, versionId, userId: 'eve', meta: { reason: 'spam' } })
  const before = causesOf('sources')
  const live = await syncedEditor(server.wsUrl, 'acme/sources/main', await server.token('fay'))
  live.text.insert(0, 'live ')
  await eventually(() => causesOf('sources').length > before.length)
  live.close()
  expect(causesOf('sources')).toEqual([
    { by: 'ann', source: 'rest', meta },
    { by: 'bob', source: 'rest', meta: { job: 'other' } },
    { by: 'cem', source: 'rest', meta },
    { by: 'dan', source: 'rest', meta },
    { by: '', source: 'rest', meta: null },
    { by: 'eve', source: 'restore', meta: { reason: 'spam' } },
    { by: 'fay', source: undefined, meta: null },
  ])
})

it('[ATT-61] rejects a meta outside its limits, and writes nothing', async () => {
  const editor = editorOf('limits')
  await done('add', { ...editor, type: 'text', data: 'kept' })
  const { versionId } = await done('versions/create', editor)
  const update = Buffer.from(Y.encodeStateAsUpdate(new Y.Doc())).toString('base64')
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
  const tooMuch = [
    members(17),
    { '': 1 },
    { ['n'.repeat(65)]: 1 },
    { text: 's'.repeat(257) },
    { nested: {} },
    { list: [1] },
    'text',
  ]
  for (const bad of tooMuch) {
    const answers = await Promise.all([
      post('add', { ...editorOf('none'), type: 'text', data: 'no', meta: bad }),
      post('update', { ...editor, type: 'text', data: 'no', meta: bad }),
      post('edit', { ...editor, edits: [{ insert: { at: 'end', content: 'no' } }], meta: bad }),
      post('apply', { ...editor, update, meta: bad }),
      post('versions/restore', { ...editor, versionId, meta: bad }),
    ])
    for (const { body } of answers)
      expect([JSON.stringify(bad), body.error?.status, body.error?.details?.code]).toEqual([
        JSON.stringify(bad),
        'INVALID_ARGUMENT',
        'request/invalid-member',
      ])
  }
  expect(causesOf('limits')).toHaveLength(1)
  expect(causesOf('none')).toEqual([])
  const most = { ...members(15), ['n'.repeat(64)]: 's'.repeat(256) }
  await done('update', { ...editor, type: 'text', data: 'changed', meta: most })
  expect(causesOf('limits').at(-1)?.meta).toEqual(most)
})

it('[ATT-62] writes one entry with the meta of the first call when a call is repeated', async () => {
  const editor = { ...editorOf('repeated'), type: 'text' }
  await done('add', { ...editor, data: 'a' })
  const write = () => post('update', { ...editor, data: 'b', meta }, { 'idempotency-key': 'once' })
  const first = await write()
  const second = await write()
  expect(second.body).toEqual(first.body)
  expect(causesOf('repeated').map((cause) => cause.meta)).toEqual([null, meta])
})

it('[ATT-63] stores no meta while the workspace has disabled attribution', async () => {
  const { workspaceId, workspaceAuthToken } = server.credentials
  const headers = {
    'x-service-workspace-id': workspaceId,
    'x-service-workspace-auth-token': workspaceAuthToken,
  }
  const enable = async (enabled: boolean) => {
    const { body } = await server.post('/v2/workspace/attribution/update', { enabled }, headers)
    expect(body.result?.status).toBe('success')
    return dataOf(await server.post('/v2/workspace/get', {}, headers))
  }
  const editor = editorOf('disabled')
  await done('add', { ...editor, type: 'text', data: 'a', meta })
  expect(await enable(false)).toMatchObject({ attribution: false })
  const { versionId } = await done('versions/create', editor)
  await done('update', { ...editor, type: 'text', data: 'b', meta })
  await done('versions/restore', { ...editor, versionId, meta })
  expect(await enable(true)).not.toHaveProperty('attribution')
  await done('update', { ...editor, type: 'text', data: 'c', meta })
  expect(causesOf('disabled').map((cause) => cause.meta)).toEqual([meta, null, null, meta])
})
