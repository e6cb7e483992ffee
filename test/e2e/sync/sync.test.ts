import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import {
  contentOf,
  type Editor,
  eventually,
  openEditor,
  type ProviderVersion,
  RawClient,
  syncedEditor,
  typed,
} from '../../support/clients/clients.ts'
import { shortToken, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let token: string
let viewerToken: string
let documents = 0
/** A path to a new document. */
const newPath = (): string => `acme/doc-${++documents}/main`
const url = (path: string, as = token): string => `${server.wsUrl}/sync/${path}?token=${as}`

beforeAll(async () => {
  server = await startTestServer({ engine: 'level' })
  token = await server.token('ada', { name: 'Ada' })
  const resources = [{ type: 'organization', id: 'acme', accessRole: 'viewer' }] as const
  viewerToken = await server.token('vera', { resources })
})

afterAll(() => server.stop())

describe('stock clients', () => {
  it('[SYNC-1] serves y-websocket 1, 2 and 3 on one document at the same time', async () => {
    const path = newPath()
    const versions: readonly ProviderVersion[] = [1, 2, 3]
    const editors = await Promise.all(
      versions.map((version) => syncedEditor(server.wsUrl, path, token, { version })),
    )
    for (const [index, { text }] of editors.entries())
      for (const letter of 'abc') text.insert(0, letter + index)
    const contents = (): string[] => editors.map(({ text }) => text.toString())
    await eventually(() => new Set(contents()).size === 1 && contents()[0]?.length === 18, contents)
    for (const editor of editors) editor.close()
  })

  it('[SYNC-2] y-websocket 3.1 does not connect again after its token was rejected as invalid', async () => {
    const editor = openEditor(server.wsUrl, newPath(), 'not-a-token')
    let attempts = 0
    editor.provider.on('status', ({ status }: { status: string }) => {
      if (status === 'connecting') attempts += 1
    })
    const [closed] = await new Promise<[{ code: number; reason: string }]>((resolve) => {
      editor.provider.on('closed', (...event: unknown[]) => resolve(event as never))
    })
    expect(closed).toMatchObject({ code: 4401, reason: expect.stringContaining('token') })
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(editor.provider.shouldConnect).toBe(false)
    expect(attempts).toBeLessThanOrEqual(1)
    editor.close()
  })

  it('[SYNC-3] receives the offline edits of a client, and sends it the edits that it missed', async () => {
    const path = newPath()
    const [ada, bob] = await Promise.all([
      syncedEditor(server.wsUrl, path, token),
      syncedEditor(server.wsUrl, path, token),
    ])
    ada.text.insert(0, 'together ')
    await eventually(() => bob.text.toString() === 'together ')
    bob.provider.disconnect()
    bob.text.insert(9, 'offline ')
    ada.text.insert(9, 'online ')
    bob.provider.connect()
    const both = (editor: Editor): boolean =>
      /online/.test(editor.text.toString()) && /offline/.test(editor.text.toString())
    await eventually(() => both(ada) && both(bob) && ada.text.toString() === bob.text.toString())
    ada.close()
    bob.close()
  })
})

describe('messages on the wire', () => {
  it('[SYNC-4] sends the content only once to a client that connects, and never sends an edit back to its author', async () => {
    const path = newPath()
    const writer = await RawClient.connect(url(path))
    writer.sendUpdate(typed('hello', 1))
    await writer.roundTrip()
    const reader = await RawClient.connect(url(path))
    await reader.roundTrip()
    expect(contentOf(reader.offers())).toBe('hello')
    expect([reader.updates().length, writer.updates().length]).toEqual([0, 0])
    const next = typed('again', 2)
    writer.sendUpdate(next)
    await eventually(() => reader.updates().length === 1)
    expect(reader.updates()[0]).toEqual(next)
    await writer.roundTrip()
    expect(writer.updates()).toEqual([])
    for (const client of [writer, reader]) client.end()
  })

  it('[SYNC-24] when a client sends updates before its state vector, the answer includes these updates', async () => {
    const client = await RawClient.connect(url(newPath()))
    client.sendUpdate(typed('hello', 1))
    client.sendVector(Uint8Array.of(0))
    await eventually(() => client.offers().length === 1)
    expect(contentOf(client.offers())).toBe('hello')
    client.end()
  })

  it('[SYNC-24] when an update takes long to apply, the answer also includes the updates that were sent after it', async () => {
    const scattered = new Y.Doc()
    const text = scattered.getText('content')
    scattered.transact(() => {
      for (let inserts = 0; inserts < 20_000; inserts += 1) text.insert(0, 'a')
    })
    const client = await RawClient.connect(url(newPath()))
    client.sendOffer(Y.encodeStateAsUpdate(scattered))
    for (let author = 1; author <= 20; author += 1) client.sendUpdate(typed('b', author))
    client.sendVector(Uint8Array.of(0))
    await eventually(() => client.offers().length === 1)
    // Changes since the document was opened have a frame of their own.
    expect(contentOf([...client.updates(), ...client.offers()])).toHaveLength(20_020)
    client.end()
  })

  it('[ROOM-63] when all clients have left and the document closes, stores the updates that are still waiting', async () => {
    const closing = await startTestServer({ idleUnloadSeconds: 0 })
    const path = `${closing.wsUrl}/sync/acme/left/main?token=${await closing.token('ada')}`
    const scattered = new Y.Doc()
    const text = scattered.getText('content')
    scattered.transact(() => {
      for (let inserts = 0; inserts < 20_000; inserts += 1) text.insert(0, 'a')
    })
    const client = await RawClient.connect(path)
    client.sendOffer(Y.encodeStateAsUpdate(scattered))
    client.sendUpdate(typed('typed last', 1))
    client.socket.close()
    await client.closed
    await eventually(async () => {
      const reader = await RawClient.connect(path)
      await reader.roundTrip()
      reader.end()
      return contentOf(reader.offers()).includes('typed last')
    })
    await closing.stop()
  })

  it('[SYNC-5] when a client offers an update again, does not store it again', async () => {
    const path = newPath()
    const client = await RawClient.connect(url(path))
    client.sendUpdate(typed('hello', 1))
    await client.roundTrip()
    const [organizationId, documentId] = path.split('/')
    const version = async (): Promise<string> => {
      const { body } = await server.post('/v2/crdt/get', { organizationId, documentId })
      const [found] = (body.result?.data ?? []) as { version: string }[]
      return found?.version ?? ''
    }
    const before = await version()
    const doc = new Y.Doc()
    Y.applyUpdate(doc, typed('hello', 1))
    doc.getText('content').delete(0, 1)
    client.sendOffer(Y.encodeStateAsUpdate(doc))
    await client.roundTrip()
    const after = await version()
    expect(after).not.toBe(before)
    for (let time = 0; time < 3; time++) client.sendOffer(Y.encodeStateAsUpdate(doc))
    client.sendOffer(Uint8Array.of(0, 0))
    await client.roundTrip()
    expect(await version()).toBe(after)
    client.end()
  })

  it('[SYNC-6] keeps an update with a missing dependency pending, requests the missing update, and sends both when it arrives', async () => {
    const path = newPath()
    const [writer, reader] = [await RawClient.connect(url(path)), await RawClient.connect(url(path))]
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (const letter of 'abc') doc.getText('content').insert(doc.getText('content').length, letter)
    await writer.roundTrip()
    const asked = writer.vectors().length
    writer.sendUpdate(updates[0] as Uint8Array)
    writer.sendUpdate(updates[2] as Uint8Array)
    await eventually(() => writer.vectors().length === asked + 1)
    await reader.roundTrip()
    expect(contentOf(reader.offers().slice(-1))).toBe('a')
    writer.sendUpdate(updates[1] as Uint8Array)
    await eventually(() => contentOf([...reader.offers(), ...reader.updates()]) === 'abc')
    for (const client of [writer, reader]) client.end()
  })

  it('[SYNC-7] stores the parts of an offer before a gap, even if the missing part never arrives', async () => {
    const path = newPath()
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (const letter of 'abcd') doc.getText('content').insert(doc.getText('content').length, letter)
    const client = await RawClient.connect(url(path))
    client.sendOffer(Y.mergeUpdates([updates[0], updates[1], updates[3]] as Uint8Array[]))
    await client.roundTrip()
    client.end()
    const late = await RawClient.connect(url(path))
    await late.roundTrip()
    expect(contentOf(late.offers())).toBe('ab')
    late.end()
  })

  it('[API-50] treats ids as opaque: percent-encoded ids refer to other documents, and are returned unchanged', async () => {
    const ids = [
      'a/b',
      'a%2Fb',
      '__proto__',
      'constructor',
      '😀',
      'a b',
      'ä',
      'a\u0308',
      '...',
      '%',
      'x'.repeat(512),
    ]
    for (const [index, id] of ids.entries()) {
      const path = ['acme', id, 'main'].map(encodeURIComponent).join('/')
      const client = await RawClient.connect(url(path))
      client.sendUpdate(typed(`content ${index}`, index + 1))
      await client.roundTrip()
      client.end()
    }
    for (const [index, documentId] of ids.entries()) {
      const { body } = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId })
      expect(body.result?.data).toMatchObject([{ id: 'main', data: `content ${index}` }])
    }
  })
})

describe('rejections and close codes', () => {
  const closeOf = async (address: string): Promise<unknown> => (await RawClient.connect(address)).closed

  it('[SYNC-9] closes with 4400 for an invalid address, with 4401 for an invalid token, and with 4404 without a permission', async () => {
    for (const path of [
      'acme/doc',
      'acme/doc/main/more',
      'acme//main',
      'acme/%2e%2e/main',
      'acme/%00/main',
      'acme/%ff/main',
    ]) {
      expect(await closeOf(url(path))).toMatchObject({ code: 4400 })
    }
    expect(await closeOf(`${server.wsUrl}/sync/a/b/c`)).toMatchObject({ code: 4401 })
    expect(await closeOf(url('a/b/c', `${token}x`))).toMatchObject({ code: 4401 })
    expect(await closeOf(url('elsewhere/doc/main', viewerToken))).toMatchObject({ code: 4404 })
  })

  it('[SYNC-10] closes with 4400 the client that sent a malformed message or a text message, and no other client', async () => {
    const path = newPath()
    const witness = await RawClient.connect(url(path))
    const hostile: readonly (Uint8Array | string)[] = [
      'text',
      Uint8Array.of(),
      Uint8Array.of(9),
      Uint8Array.of(0, 7),
      Uint8Array.of(0, 2, 200),
      Uint8Array.of(0, 2, 3, 1, 1, 1),
      Uint8Array.of(0, 2, 2, 0, 0, 0),
      Uint8Array.of(0, 0, 1, 9),
      Uint8Array.of(1, 2, 200, 200),
      // An entry `k` of the map `m` with two values, which only the document shows.
      Uint8Array.of(0, 2, 14, 1, 1, 7, 0, 0x24, 1, 1, 109, 1, 107, 2, 97, 98, 0),
    ]
    for (const bytes of hostile) {
      const client = await RawClient.connect(url(path))
      client.socket.send(bytes)
      expect(await client.closed).toMatchObject({ code: 4400 })
    }
    await witness.roundTrip()
    witness.end()
  })

  it('[SYNC-11] sends all changes to a viewer, and applies none of the changes of the viewer', async () => {
    const path = newPath()
    const editor = await syncedEditor(server.wsUrl, path, token)
    editor.text.insert(0, 'read me')
    await eventually(
      async () =>
        (await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: path.split('/')[1] }))
          .status === 200,
    )
    const viewer = await syncedEditor(server.wsUrl, path, viewerToken)
    await eventually(() => viewer.text.toString() === 'read me')
    viewer.text.insert(0, 'not ')
    viewer.provider.disconnect()
    viewer.provider.connect()
    const raw = await RawClient.connect(url(path, viewerToken))
    raw.sendUpdate(typed('nor this', 77))
    raw.sendOffer(typed('nor that', 78))
    await raw.roundTrip()
    expect(contentOf(raw.offers())).toBe('read me')
    expect(editor.text.toString()).toBe('read me')
    raw.end()
    viewer.close()
    editor.close()
  })

  it('[SYNC-11] a viewer can open a document before its first edit, cannot create it, and gets that edit', async () => {
    const path = newPath()
    const [organizationId, documentId] = path.split('/')
    const viewer = await syncedEditor(server.wsUrl, path, viewerToken)
    viewer.text.insert(0, 'mine')
    const raw = await RawClient.connect(url(path, viewerToken))
    raw.sendUpdate(typed('mine', 77))
    await raw.roundTrip()
    expect((await server.post('/v2/crdt/get', { organizationId, documentId })).status).toBe(404)
    const editor = await syncedEditor(server.wsUrl, path, token)
    editor.text.insert(0, 'first')
    await eventually(() => contentOf(raw.updates()) === 'first')
    expect(editor.text.toString()).toBe('first')
    for (const client of [viewer, editor]) client.close()
    raw.end()
  })

  it('[SYNC-12] closes sockets of a deleted document with 4404, and does not let an outdated client restore it', async () => {
    const path = newPath()
    const [organizationId, documentId] = path.split('/')
    const client = await RawClient.connect(url(path))
    client.sendUpdate(typed('gone', 1))
    await client.roundTrip()
    expect((await server.post('/v2/crdt/delete', { organizationId, documentId })).status).toBe(200)
    expect(await client.closed).toMatchObject({ code: 4404 })
    expect(await closeOf(url(path))).toMatchObject({ code: 4404 })
    const added = { organizationId, documentId, editorId: 'main', type: 'text', data: 'new' }
    expect((await server.post('/v2/crdt/add', added)).status).toBe(200)
    const again = await RawClient.connect(url(path))
    await again.roundTrip()
    expect(contentOf(again.offers())).toBe('new')
    again.end()
  })

  it('[SYNC-13] when a token expires, closes with 4401, or with 1012 if the client renews its token', async () => {
    const path = newPath()
    const soon = await server.token('ada', { expiresInSeconds: 60 })
    const claims = JSON.parse(Buffer.from(soon.split('.')[1] as string, 'base64url').toString()) as {
      exp: number
    }
    expect(claims.exp * 1000 - Date.now()).toBeLessThanOrEqual(60_000)
    const expiring = await shortToken(server, 'ada', 3)
    const plain = await RawClient.connect(url(path, expiring))
    const renewing = await RawClient.connect(`${url(path, expiring)}&renew=1`)
    expect(await plain.closed).toMatchObject({ code: 4401, reason: expect.stringContaining('expired') })
    expect(await renewing.closed).toMatchObject({ code: 1012 })
  })

  it('[ACC-71] closes the socket with 4403 when the grant of its token expires', async () => {
    const path = newPath()
    const expiresAt = Math.floor(Date.now() / 1000) + 2
    const documentId = path.split('/')[1] as string
    const grant = {
      type: 'document',
      id: documentId,
      organizationId: 'acme',
      accessRole: 'editor',
      expiresAt,
    } as const
    const client = await RawClient.connect(url(path, await server.token('eve', { resources: [grant] })))
    client.sendUpdate(typed('while I may', 5))
    await client.roundTrip()
    expect(await client.closed).toMatchObject({ code: 4403 })
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt * 1000)
  })
})

/** A token that expires after `seconds` or up to one second less, minted as a backend does. */
