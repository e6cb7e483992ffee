import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../src/engine/memory/engine.ts'
import { eventually, RawClient, syncedEditor } from '../support/clients.ts'
import { type HeldEngine, holdable } from '../support/held-engine.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../support/server.ts'

let engine: HeldEngine
let server: TestServer
beforeAll(async () => {
  engine = holdable(await openMemoryEngine())
  server = await startTestServer({}, { engine })
})
afterAll(() => server.stop())

interface Entry {
  readonly id: string
  readonly data: unknown
  readonly type: string
  readonly contentKey: string
  readonly version: string
  readonly stateVector: string
  readonly lastUpdate: string
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
  readonly statistics?: object
}

let documents = 0
const nextDocument = () => {
  documents += 1
  return { organizationId: 'acme', documentId: `document ${documents}` }
}
const text = (data: unknown, more: object = {}) => ({ editorId: 'main', type: 'text', data, ...more })
const call = (operation: string, data: object) => server.post(`/v2/crdt/${operation}`, data)
const entries = async (data: object) => dataOf(await call('get', data)) as Entry[]
const statusOf = ({ body }: Answer) => body.error?.status ?? body.result?.status
const pathOf = ({ organizationId, documentId }: ReturnType<typeof nextDocument>) =>
  [organizationId, documentId, 'main'].map(encodeURIComponent).join('/')

it('[CRDT-1] what is added is read back, with who, when, version, state vector and size', async () => {
  const document = nextDocument()
  const startedAt = Date.now()
  const added = dataOf(await call('add', { ...document, ...text('Hello', { userId: 'ann' }) }))
  expect(added).toEqual({
    version: expect.any(String),
    changed: true,
    bytes: expect.any(Number),
    insertions: 5,
    deletions: 0,
  })
  const [entry, ...others] = await entries({ ...document, editorId: 'main' })
  expect(others).toEqual([])
  expect(entry).toEqual({
    id: 'main',
    data: 'Hello',
    type: 'text',
    contentKey: 'content',
    version: (added as Entry).version,
    stateVector: expect.any(String),
    lastUpdate: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    lastUpdatedBy: 'ann',
    sizeBytes: expect.any(Number),
  })
  expect(Date.parse(entry?.lastUpdate ?? '')).toBeGreaterThanOrEqual(startedAt - 1)
  expect([...Y.decodeStateVector(Buffer.from(entry?.stateVector ?? '', 'base64')).values()]).toEqual([5])
})

it('[CRDT-2] add is ALREADY_EXISTS where there is data, and of many at once exactly one succeeds', async () => {
  const document = nextDocument()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('add', { ...document, ...text('once') })),
  )
  expect(answers.filter((answer) => statusOf(answer) === 'success')).toHaveLength(1)
  expect(answers.filter((answer) => statusOf(answer) === 'ALREADY_EXISTS')).toHaveLength(19)
  expect(answers.find(({ status }) => status !== 200)?.status).toBe(409)
  expect(await entries(document)).toMatchObject([{ data: 'once' }])
})

it('[CRDT-2] an empty text can be added, and exists', async () => {
  const document = nextDocument()
  expect(dataOf(await call('add', { ...document, ...text('') }))).toMatchObject({ changed: false, bytes: 0 })
  expect(await entries(document)).toMatchObject([{ data: '', type: 'text' }])
  expect(statusOf(await call('add', { ...document, ...text('more') }))).toBe('ALREADY_EXISTS')
  expect(statusOf(await call('update', { ...document, ...text('more') }))).toBe('success')
})

it('[CRDT-3] update is NOT_FOUND where there is no data', async () => {
  const answer = await call('update', { ...nextDocument(), ...text('Hello') })
  expect(answer).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
})

it('[CRDT-4] update replaces what has to be replaced and says how much that was', async () => {
  const document = nextDocument()
  const before = dataOf(await call('add', { ...document, ...text('The quick brown fox') })) as Entry
  const after = dataOf(await call('update', { ...document, ...text('The slow brown fox') })) as Entry
  expect(after).toMatchObject({ changed: true, insertions: 4, deletions: 5 })
  expect(after.version).not.toBe(before.version)
  expect(await entries(document)).toMatchObject([{ data: 'The slow brown fox', version: after.version }])
})

it('[CRDT-5] the same content again changes nothing', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('same') })
  const [before] = await entries(document)
  expect(dataOf(await call('update', { ...document, ...text('same', { userId: 'bob' }) }))).toEqual({
    version: before?.version,
    changed: false,
    bytes: 0,
    insertions: 0,
    deletions: 0,
  })
  expect(await entries(document)).toEqual([before])
})

it('[CRDT-6] a connected editor sees a replacement, and keeps what it typed meanwhile', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('one two three') })
  const editor = await syncedEditor(server.wsUrl, pathOf(document), await server.token('ann'))
  const atThree = Y.createRelativePositionFromTypeIndex(editor.text, 8)
  editor.text.insert(0, 'zero ')
  await eventually(async () => (await entries(document))[0]?.data === 'zero one two three')
  expect((await entries(document))[0]?.lastUpdatedBy).toBe('ann')
  await call('update', { ...document, ...text('zero one 2 three') })
  await eventually(() => editor.text.toJSON() === 'zero one 2 three')
  expect(Y.createAbsolutePositionFromRelativePosition(atThree, editor.doc)?.index).toBe(11)
  editor.close()
})

it('[CRDT-7] contentKey names the shared type; read without one it is the only one there is', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('rich', { contentKey: 'default' }) })
  expect(await entries(document)).toMatchObject([{ contentKey: 'default', data: 'rich' }])
  await call('update', { ...document, ...text('plain') })
  expect(await entries({ ...document, contentKey: 'content' })).toMatchObject([{ data: 'plain' }])
  expect(await entries({ ...document, contentKey: 'default' })).toMatchObject([{ data: 'rich' }])
})

it('[CRDT-8] format update is the Yjs state, from which a client can start', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('Hello') })
  const [entry] = await entries({ ...document, format: 'update' })
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(entry?.data as string, 'base64'))
  expect(doc.getText('content').toJSON()).toBe('Hello')
  expect(await entries({ ...document, format: 'text' })).toMatchObject([{ data: 'Hello' }])
})

it.each([
  ['a small document', 'Hello world'],
  ['a large one, which a thread reads', 'Hello world '.repeat(10_000)],
])(
  '[CRDT-35] with statistics %s says how many structs, tombstones and clients it has',
  async (_, content) => {
    const document = nextDocument()
    await call('add', { ...document, ...text(content) })
    const client = await syncedEditor(server.wsUrl, pathOf(document), await server.token('ann'))
    client.text.insert(5, ', dear')
    client.text.delete(0, 2)
    await eventually(async () => String((await entries(document))[0]?.data).startsWith('llo, dear world'))
    client.close()
    const [entry] = await entries({ ...document, format: 'update', statistics: true })
    const doc = new Y.Doc()
    Y.applyUpdate(doc, Buffer.from(entry?.data as string, 'base64'))
    const structs = [...doc.store.clients.values()].flat().length
    expect(entry?.statistics).toEqual({ structs, tombstones: 2, clients: 2 })
    expect((await entries({ ...document, statistics: true }))[0]?.statistics).toEqual(entry?.statistics)
    expect((await entries({ ...document, statistics: false }))[0]).not.toHaveProperty('statistics')
  },
)

it('[CRDT-9] without editorId all editors of the document are read, and of no other', async () => {
  const document = nextDocument()
  for (const editorId of ['b', 'a', 'ä']) await call('add', { ...document, ...text(editorId, { editorId }) })
  await call('add', { ...document, documentId: `${document.documentId}0`, ...text('other') })
  expect((await entries(document)).map(({ id, data }) => [id, data])).toEqual([
    ['a', 'a'],
    ['b', 'b'],
    ['ä', 'ä'],
  ])
  expect(statusOf(await call('get', { ...document, editorId: 'c' }))).toBe('NOT_FOUND')
  expect(statusOf(await call('get', nextDocument()))).toBe('NOT_FOUND')
})

it('[CRDT-10] a document of another API key is absent', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('mine') })
  const other = await startTestServer()
  expect(statusOf(await other.post('/v2/crdt/get', { ...document }))).toBe('NOT_FOUND')
  await other.stop()
})

it.each([
  ['no type', { type: undefined }, '/data/type'],
  ['an unknown type', { type: 'constructor' }, '/data/type'],
  ['no data', { data: undefined }, '/data/data'],
  ['data of another type', { data: ['Hello'] }, 'data must be a string'],
  ['data null', { data: null }, 'data must be a string'],
  ['an empty contentKey', { contentKey: '' }, '/data/contentKey'],
  ['a contentKey that is too long', { contentKey: 'x'.repeat(501) }, '/data/contentKey'],
  ['no editor', { editorId: undefined }, '/data/editorId'],
  ['an editor that is no id', { editorId: '..' }, '/data/editorId'],
])(
  '[CRDT-11] what is wrong is INVALID_ARGUMENT by name, before the document is looked for: %s',
  async (_, wrong, says) => {
    for (const operation of ['add', 'update']) {
      const answer = await call(operation, { ...nextDocument(), ...text('Hello'), ...wrong })
      expect(statusOf(answer)).toBe('INVALID_ARGUMENT')
      expect(answer.body.error?.message).toContain(says)
    }
  },
)

it('[CRDT-12] delete removes what is named, closes its sockets for good, and nothing brings it back', async () => {
  const document = nextDocument()
  for (const editorId of ['main', 'side']) await call('add', { ...document, ...text('Hello', { editorId }) })
  const url = `${server.wsUrl}/sync/${pathOf(document)}?token=${await server.token('ann')}`
  const client = await RawClient.connect(url)
  await client.roundTrip()
  expect(dataOf(await call('delete', { ...document, editorIds: ['main', 'main', 'other'] }))).toEqual({
    success: true,
  })
  expect((await client.closed).code).toBe(4404)
  expect((await (await RawClient.connect(url)).closed).code).toBe(4404)
  expect(statusOf(await call('get', { ...document, editorId: 'main' }))).toBe('NOT_FOUND')
  expect(statusOf(await call('update', { ...document, ...text('again') }))).toBe('NOT_FOUND')
  expect((await entries(document)).map(({ id }) => id)).toEqual(['side'])
  expect(dataOf(await call('delete', { ...document, editorIds: ['main'] }))).toEqual({ success: false })
})

it('[CRDT-13] delete without editors removes all of the document; add makes it anew, under another version', async () => {
  const document = nextDocument()
  const first = dataOf(await call('add', { ...document, ...text('old') })) as Entry
  for (let editor = 0; editor < 120; editor += 1)
    await call('add', { ...document, ...text('x', { editorId: `editor ${editor}` }) })
  expect(statusOf(await call('get', document))).toBe('FAILED_PRECONDITION')
  expect(dataOf(await call('delete', document))).toEqual({ success: true })
  expect(statusOf(await call('get', document))).toBe('NOT_FOUND')
  const again = dataOf(await call('add', { ...document, ...text('new') })) as Entry
  expect(again.version).not.toBe(first.version)
  expect(await entries(document)).toMatchObject([{ data: 'new' }])
})

it('[CRDT-14] no answer comes before what it tells of is durable', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('one') })
  engine.hold()
  const answered: string[] = []
  const ask = async (operation: string, data: object) => {
    answered.push(`${operation} ${statusOf(await call(operation, { ...document, ...data }))}`)
  }
  const asked = [
    ask('update', text('two')),
    ask('update', text('two')),
    ask('get', {}),
    ask('add', text('three')),
    ask('add', text('new', { editorId: 'other' })),
    ask('add', text('new', { editorId: 'other' })),
  ]
  await eventually(() => engine.waiting() === 2)
  // Calls that wait for nothing overtake those above: had these been answered, it would show.
  for (let round = 0; round < 5; round += 1) await call('get', nextDocument())
  expect(answered).toEqual([])
  engine.release()
  await Promise.all(asked)
  expect(answered.sort()).toEqual([
    'add ALREADY_EXISTS',
    'add ALREADY_EXISTS',
    'add success',
    'get success',
    'update success',
    'update success',
  ])
})

it('[CRDT-15] a document does not grow over its limit, and content of its own size can be replaced', async () => {
  const small = await startTestServer({ maxDocumentBytes: 10_000 })
  const document = nextDocument()
  const post = (operation: string, data: object) =>
    small.post(`/v2/crdt/${operation}`, { ...document, ...data })
  const refused = await post('add', text('x'.repeat(10_001)))
  expect(refused.body.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/at most 10000 bytes; this one would have 10\d\d\d/),
  })
  expect(statusOf(await post('get', {}))).toBe('NOT_FOUND')
  expect(statusOf(await post('add', text('x'.repeat(9000))))).toBe('success')
  expect(statusOf(await post('update', text(`${'x'.repeat(8999)}y`)))).toBe('success')
  expect(statusOf(await post('update', text('x'.repeat(10_000))))).toBe('INVALID_ARGUMENT')
  expect(statusOf(await post('update', text('y'.repeat(900), { contentKey: 'more' })))).toBe('success')
  expect(statusOf(await post('update', text('y'.repeat(2000), { contentKey: 'more' })))).toBe(
    'INVALID_ARGUMENT',
  )
  expect(statusOf(await post('update', text('x'.repeat(8000))))).toBe('success')
  await small.stop()
})
