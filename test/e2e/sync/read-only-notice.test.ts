import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { eventually, type ProviderVersion, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const [messageAuth, permissionDenied] = [2, 0]

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

let documents = 0
/** The path of a new document with content. */
async function newDocument(): Promise<{ readonly documentId: string; readonly path: string }> {
  const documentId = `viewed-${++documents}`
  const editor = { organizationId: 'acme', documentId, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...editor, type: 'text', data: 'kept' }))
  return { documentId, path: `acme/${documentId}/main` }
}

const resourceOf = (documentId: string, accessRole: 'editor' | 'viewer') =>
  ({ type: 'document', id: documentId, organizationId: 'acme', accessRole }) as const

async function grant(userId: string, documentId: string, accessRole: 'editor' | 'viewer'): Promise<void> {
  const permissions = { resources: [resourceOf(documentId, accessRole)] }
  expect((await server.post('/v2/auth/permissions/add', { user: { userId }, permissions })).status).toBe(200)
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100))

function typed(text: string): Uint8Array {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, text)
  return Y.encodeStateAsUpdate(doc)
}

it('[DIA-40] notifies a viewer only once of dropped edits until its role changes, and never of updates that the document already has', async () => {
  const { documentId, path } = await newDocument()
  await grant('vera', documentId, 'viewer')
  const viewer = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${await server.token('vera')}`)
  const notices = () =>
    viewer.bodies(messageAuth, permissionDenied).map((bytes) => Buffer.from(bytes).toString())
  const read = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId, format: 'update' })
  const [{ data }] = dataOf(read) as [{ data: string }]
  viewer.sendOffer(Buffer.from(data, 'base64'))
  viewer.sendUpdate(Buffer.from(data, 'base64'))
  viewer.sendOffer(Uint8Array.of(0, 0))
  await pause()
  expect(notices()).toEqual([])
  viewer.sendUpdate(typed('mine'))
  viewer.sendUpdate(typed('more'))
  await eventually(() => notices().length > 0)
  await pause()
  expect(notices()).toEqual([expect.stringContaining('not saved: you may only view it')])
  await grant('vera', documentId, 'editor')
  await pause()
  await grant('vera', documentId, 'viewer')
  await pause()
  viewer.sendOffer(typed('typed without a network'))
  await eventually(() => notices().length === 2)
  viewer.socket.close()
})

it('[DIA-40] notifies a viewer whose deletion was dropped', async () => {
  const { documentId, path } = await newDocument()
  await grant('dora', documentId, 'viewer')
  const editor = await syncedEditor(server.wsUrl, path, await server.token('ann'))
  const copy = new Y.Doc()
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(editor.doc))
  const before = Y.encodeStateVector(copy)
  copy.getText('content').delete(0, 1)
  const viewer = await RawClient.connect(`${server.wsUrl}/sync/${path}?token=${await server.token('dora')}`)
  viewer.sendUpdate(Y.encodeStateAsUpdate(copy, before))
  await eventually(() => viewer.bodies(messageAuth, permissionDenied).length === 1)
  expect(editor.text.toString()).toBe('kept')
  viewer.socket.close()
  editor.close()
})

it.each<ProviderVersion>([1, 2, 3])(
  '[DIA-40] with y-websocket %i, the client prints the reason and stays connected',
  async (version) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const { documentId, path } = await newDocument()
    const token = await server.token('vic', { resources: [resourceOf(documentId, 'viewer')] })
    const viewer = await syncedEditor(server.wsUrl, path, token, { version })
    let disconnects = 0
    viewer.provider.on('connection-close', () => (disconnects += 1))
    await eventually(() => viewer.text.toString() === 'kept')
    expect(warn).not.toHaveBeenCalled()
    viewer.text.insert(0, 'not ')
    viewer.text.insert(0, 'at all ')
    await eventually(() => warn.mock.calls.length > 0)
    await pause()
    expect(warn.mock.calls.map(String)).toEqual([
      expect.stringContaining('your edits of this document are not saved'),
    ])
    expect([disconnects, viewer.provider.wsconnected]).toEqual([0, true])
    viewer.close()
    warn.mockRestore()
  },
)

it.each<HocuspocusVersion>([2, 3, 4])(
  '[DIA-40] with Hocuspocus %i, the client receives a stateless message and stays connected',
  async (version) => {
    const { documentId, path } = await newDocument()
    const token = await server.token('vic', { resources: [resourceOf(documentId, 'viewer')] })
    const socket = hocuspocusSocket(server, version)
    const provider = hocuspocusProvider(server, path, token, { version, socket })
    const messages: unknown[] = []
    let failures = 0
    provider.on('stateless', ({ payload }: { payload: string }) => messages.push(JSON.parse(payload)))
    for (const event of ['authenticationFailed', 'disconnect', 'close'])
      provider.on(event, () => (failures += 1))
    const text = provider.document.getText('content')
    await eventually(() => text.toString() === 'kept')
    expect(messages).toEqual([])
    text.insert(0, 'not ')
    text.insert(0, 'at all ')
    await eventually(() => messages.length > 0)
    await pause()
    const data = { message: expect.stringContaining('not saved') }
    expect(messages).toEqual([{ event: 'weft.readOnly', data }])
    expect([failures, provider.hasUnsyncedChanges]).toEqual([0, true])
    provider.destroy()
    socket.destroy()
  },
)
