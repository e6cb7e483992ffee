import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { loadYjs14 } from './yjs-14.ts'

describe('Yjs 14 with @y/websocket', () => {
  let server: TestServer
  let token: string
  let library: Awaited<ReturnType<typeof loadYjs14>>
  let documents = 0
  beforeAll(async () => {
    server = await startTestServer()
    token = await server.token('ada', { name: 'Ada' })
    library = await loadYjs14()
  })
  afterAll(() => server?.stop())

  const newId = (): string => `y14-${++documents}`
  const open = (documentId: string) =>
    library.open(server.wsUrl, `acme/${documentId}/main`, { token, echo: '1' })
  const call = (operation: string, documentId: string, more: object) =>
    server.post(`/v2/crdt/${operation}`, { organizationId: 'acme', documentId, editorId: 'main', ...more })
  const read = async (documentId: string, contentKey: string, format = 'json'): Promise<unknown> => {
    const answer = await call('get', documentId, { contentKey, format })
    return answer.status === 200 ? (dataOf(answer) as [{ data: unknown }])[0].data : undefined
  }
  const until = async (documentId: string, contentKey: string, wanted: unknown, format?: string) => {
    let found: unknown
    await eventually(
      async () => {
        found = await read(documentId, contentKey, format)
        return JSON.stringify(found) === JSON.stringify(wanted)
      },
      () => found,
      10_000,
    )
  }

  it('[SYNC-28] syncs two clients of Yjs 14 and one of Yjs 13, with client ids of 53 bits, and keeps their connections', async () => {
    const documentId = newId()
    const [one, two] = [open(documentId), open(documentId)]
    const older = await syncedEditor(server.wsUrl, `acme/${documentId}/main`, token)
    let closes = 0
    for (const { provider } of [one, two]) provider.on('connection-close', () => (closes += 1))
    await eventually(() => one.provider.synced && two.provider.synced)
    one.doc.get('content').insert(0, 'one ')
    two.doc.get('content').insert(0, 'two ')
    older.text.insert(0, 'thirteen ')
    const texts = (): string[] => [
      one.doc.get('content').toString(),
      two.doc.get('content').toString(),
      older.text.toString(),
    ]
    await eventually(() => new Set(texts()).size === 1 && texts()[0]?.length === 17, texts)
    await until(documentId, 'content', texts()[0])
    dataOf(
      await call('edit', documentId, {
        contentKey: 'content',
        edits: [{ insert: { at: 'end', content: 'rest', format: 'text' } }],
      }),
    )
    await eventually(() => texts().every((text) => text.endsWith('rest')), texts)
    expect(closes).toBe(0)
    for (const each of [one, two, older]) each.close()
  })

  it('[SYNC-28] shows the awareness of clients of Yjs 14 and 13 to each other', async () => {
    const documentId = newId()
    const one = open(documentId)
    const older = await syncedEditor(server.wsUrl, `acme/${documentId}/main`, await server.token('bob'))
    await eventually(() => one.provider.synced)
    one.provider.awareness.setLocalStateField('cursor', 7)
    older.provider.awareness.setLocalStateField('cursor', 8)
    const stateIn = ({ awareness }: { awareness: { getStates(): Map<number, unknown> } }, id: number) =>
      (awareness.getStates().get(id) as { cursor?: number } | undefined)?.cursor
    await eventually(() => stateIn(older.provider, one.doc.clientID) === 7)
    await eventually(() => stateIn(one.provider, older.doc.clientID) === 8)
    one.close()
    await eventually(() => stateIn(older.provider, one.doc.clientID) === undefined)
    older.close()
  })

  it('[SYNC-28] reads text with formatting, maps and arrays of Yjs 14, and changes them in place', async () => {
    const documentId = newId()
    const { doc, close } = open(documentId)
    const { Type } = library.Y as unknown as { Type: new (name?: string) => Type14 }
    const [text, map, array] = ['text', 'map', 'array'].map((name) => doc.get(name)) as unknown as [
      Type14,
      Type14,
      Type14,
    ]
    text.insert(0, 'plain bold')
    text.format(6, 4, { bold: true })
    const [nested, list] = [new Type(), new Type()]
    nested.setAttr('title', 'one')
    list.insert(0, [1, 'two', { three: 3 }])
    nested.setAttr('list', list)
    map.setAttr('nested', nested)
    map.setAttr('plain', { a: [1] })
    array.insert(0, [{ id: 1 }, 'two', null])
    const item = new Type()
    item.setAttr('id', 2)
    array.insert(3, [item])
    await until(
      documentId,
      'text',
      [{ insert: 'plain ' }, { insert: 'bold', attributes: { bold: true } }],
      'delta',
    )
    await until(documentId, 'map', {
      nested: { title: 'one', list: [1, 'two', { three: 3 }] },
      plain: { a: [1] },
    })
    await until(documentId, 'array', [{ id: 1 }, 'two', null, { id: 2 }])
    const target = { nested: { title: 'two', list: [1, 'two', 3] }, plain: { a: [2] } }
    dataOf(await call('update', documentId, { contentKey: 'map', type: 'map', data: target }))
    dataOf(await call('update', documentId, { contentKey: 'array', type: 'array', data: [{ id: 2 }] }))
    await eventually(() => nested.getAttr('title') === 'two' && array.length === 1)
    expect(list.toArray()).toEqual([1, 'two', 3])
    expect(map.getAttr('plain')).toEqual({ a: [2] })
    expect(item.getAttr('id')).toBe(2)
    close()
  })

  it('[SYNC-28] reads elements of Yjs 14 with text directly in them, and refuses to write them', async () => {
    const documentId = newId()
    const { doc, close } = open(documentId)
    const { Type } = library.Y as unknown as { Type: new (name?: string) => Type14 }
    const paragraph = new Type('paragraph')
    paragraph.insert(0, 'some words')
    paragraph.format(0, 4, { bold: {} })
    ;(doc.get('default') as unknown as Type14).insert(0, [paragraph])
    await until(documentId, 'default', '<paragraph><bold>some</bold> words</paragraph>', 'xml')
    await until(documentId, 'default', '**some** words\n', 'markdown')
    const { body } = await call('update', documentId, {
      contentKey: 'default',
      type: 'markdown',
      data: 'other',
    })
    expect(body.error?.details).toMatchObject({ code: 'crdt/unsupported-content', path: '/0/0' })
    close()
  })

  it('[SYNC-28] takes updates of Yjs 14 in both encodings, and returns states that Yjs 14 reads', async () => {
    const { Y } = library
    for (const encoding of ['v1', 'v2'] as const) {
      const documentId = newId()
      const doc = new Y.Doc()
      doc.get('content').insert(0, 'words')
      doc.get('content').delete(0, 2)
      const bytes = encoding === 'v1' ? Y.encodeStateAsUpdate(doc) : Y.encodeStateAsUpdateV2(doc)
      const update = Buffer.from(bytes).toString('base64')
      dataOf(await call('apply', documentId, { update, encoding, create: true }))
      expect(await read(documentId, 'content')).toBe('rds')
      const [{ data }] = dataOf(await call('get', documentId, { format: 'update', encoding })) as [
        { data: string },
      ]
      const copy = new Y.Doc()
      const state = Buffer.from(data, 'base64')
      if (encoding === 'v1') Y.applyUpdate(copy, state)
      else Y.applyUpdateV2(copy, state)
      expect(copy.get('content').toString()).toBe('rds')
    }
  })
})

/** The methods of a type of Yjs 14 that the tests use. */
interface Type14 {
  readonly length: number
  insert(index: number, content: string | readonly unknown[]): void
  format(index: number, length: number, formats: object): void
  setAttr(name: string, value: unknown): void
  getAttr(name: string): unknown
  toArray(): unknown[]
}
