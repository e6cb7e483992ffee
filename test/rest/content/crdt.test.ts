import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { editorsMax } from '../../../src/rest/v2/crdt/get.ts'
import { eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { type Answer, dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { type HeldEngine, holdable } from '../../support/stores/pausable-engine.ts'

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

it('[CRDT-1] returns the added content with its user, time, version, state vector and size', async () => {
  const document = nextDocument()
  const startedAt = Date.now()
  const added = dataOf(await call('add', { ...document, ...text('Hello', { userId: 'ann' }) }))
  expect(added).toEqual({
    version: expect.any(String),
    changed: true,
    bytes: expect.any(Number),
    insertions: 5,
    deletions: 0,
    contentKey: 'content',
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

it('[CRDT-2] returns ALREADY_EXISTS for existing content, and accepts only one of many concurrent adds', async () => {
  const document = nextDocument()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('add', { ...document, ...text('once') })),
  )
  expect(answers.filter((answer) => statusOf(answer) === 'success')).toHaveLength(1)
  expect(answers.filter((answer) => statusOf(answer) === 'ALREADY_EXISTS')).toHaveLength(19)
  expect(answers.find(({ status }) => status !== 200)?.status).toBe(409)
  expect(await entries(document)).toMatchObject([{ data: 'once' }])
})

it('[CRDT-2] when an empty text was added, returns ALREADY_EXISTS for a second add', async () => {
  const document = nextDocument()
  expect(dataOf(await call('add', { ...document, ...text('') }))).toMatchObject({ changed: false, bytes: 0 })
  expect(await entries(document)).toMatchObject([{ data: '', type: 'text' }])
  expect(statusOf(await call('add', { ...document, ...text('more') }))).toBe('ALREADY_EXISTS')
  expect(statusOf(await call('update', { ...document, ...text('more') }))).toBe('success')
})

it('[CRDT-3] returns NOT_FOUND for an update of missing content', async () => {
  const answer = await call('update', { ...nextDocument(), ...text('Hello') })
  expect(answer).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
})

it('[CRDT-3] names calls that create content, in calls that cannot create it', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('Hello') })
  const missing = { ...document, editorId: 'missing' }
  for (const answer of [
    await call('edit', { ...missing, edits: [{ insert: { at: 'end', content: '!' } }] }),
    await call('get', missing),
    await call('update', { ...text('Hello'), ...missing }),
  ])
    expect(answer).toMatchObject({
      status: 404,
      body: {
        error: { message: expect.stringContaining('/v2/crdt/add, or with upsert: true in /v2/crdt/update') },
      },
    })
})

it('[CRDT-4] replaces only the changed part of a text, and returns the number of inserted and deleted characters', async () => {
  const document = nextDocument()
  const before = dataOf(await call('add', { ...document, ...text('The quick brown fox') })) as Entry
  const after = dataOf(await call('update', { ...document, ...text('The slow brown fox') })) as Entry
  expect(after).toMatchObject({ changed: true, insertions: 4, deletions: 5 })
  expect(after.version).not.toBe(before.version)
  expect(await entries(document)).toMatchObject([{ data: 'The slow brown fox', version: after.version }])
})

it('[CRDT-5] changes nothing if the content is already the same', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('same') })
  const [before] = await entries(document)
  expect(dataOf(await call('update', { ...document, ...text('same', { userId: 'bob' }) }))).toEqual({
    version: before?.version,
    changed: false,
    bytes: 0,
    insertions: 0,
    deletions: 0,
    contentKey: 'content',
  })
  expect(await entries(document)).toEqual([before])
})

it('[CRDT-6] shows a replacement in a connected editor, and keeps later edits of that editor', async () => {
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

/** Edits as a client, and waits until the server has the edit. */
async function typed(document: ReturnType<typeof nextDocument>, edit: (doc: Y.Doc) => void): Promise<void> {
  const editor = await syncedEditor(server.wsUrl, pathOf(document), await server.token('ann'))
  edit(editor.doc)
  const vector = [...Y.decodeStateVector(Y.encodeStateVector(editor.doc))].sort()
  await eventually(async () => {
    const { body } = await call('get', { ...document, format: 'roots' })
    const [entry] = (body.result?.data ?? []) as readonly Entry[]
    const bytes = Buffer.from(entry?.stateVector ?? 'AA==', 'base64')
    return JSON.stringify([...Y.decodeStateVector(bytes)].sort()) === JSON.stringify(vector)
  })
  editor.close()
}

it('[CRDT-7] without contentKey, reads and writes the only root of the editor, or its root `content`', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('rich', { contentKey: 'default' }) })
  expect(await entries(document)).toMatchObject([{ contentKey: 'default', data: 'rich' }])
  expect(dataOf(await call('update', { ...document, ...text('plain') }))).toMatchObject({
    changed: true,
    contentKey: 'default',
  })
  expect(await entries(document)).toMatchObject([{ contentKey: 'default', data: 'plain' }])
  await call('update', { ...document, ...text('title', { contentKey: 'title', newRoot: true }) })
  const ambiguous = await call('get', document)
  expect(ambiguous.body.error).toMatchObject({
    status: 'NOT_FOUND',
    message: expect.stringContaining('name one of "default", "title" as contentKey'),
    details: { roots: ['default', 'title'] },
  })
  expect(dataOf(await call('update', { ...document, ...text('third', { newRoot: true }) }))).toMatchObject({
    contentKey: 'content',
  })
  expect(await entries(document)).toMatchObject([{ contentKey: 'content', data: 'third' }])
  expect(await entries({ ...document, contentKey: 'default' })).toMatchObject([{ data: 'plain' }])
})

it('[CRDT-40] returns NOT_FOUND for a missing root, and lists the existing roots', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('rich', { contentKey: 'default' }) })
  for (const format of ['json', 'text', 'xml', 'delta']) {
    const wrong = await call('get', { ...document, contentKey: 'defualt', format })
    expect(wrong.body.error).toMatchObject({
      status: 'NOT_FOUND',
      message: 'the document has no root "defualt"; its roots are "default" (did you mean "default"?)',
    })
  }
  const [whole] = await entries({ ...document, contentKey: 'defualt', format: 'update' })
  expect(whole).toMatchObject({ contentKey: 'defualt', data: expect.any(String) })
  await call('add', { ...document, ...text('side', { editorId: 'side', contentKey: 'body' }) })
  expect(await entries({ ...document, contentKey: 'body' })).toMatchObject([{ id: 'side', data: 'side' }])
  const wrong = await call('get', { ...document, contentKey: 'none' })
  expect(statusOf(wrong)).toBe('NOT_FOUND')
})

it('[CRDT-40] lists the other editors even if one editor has several roots and no `content`', async () => {
  const document = nextDocument()
  const { organizationId, documentId } = document
  await call('add', { ...document, ...text('rich', { contentKey: 'default' }) })
  await call('update', { ...document, ...text('more', { contentKey: 'config', newRoot: true }) })
  const whole = { organizationId, documentId }
  expect(statusOf(await call('get', whole))).toBe('NOT_FOUND')
  await call('add', { ...document, ...text('notes', { editorId: 'notes' }) })
  expect(await entries(whole)).toMatchObject([{ id: 'notes', data: 'notes' }])
})

it('[CRDT-41] in the format `roots`, lists all roots with their types', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('rich', { contentKey: 'default' }) })
  await call('update', {
    ...document,
    editorId: 'main',
    type: 'map',
    data: {},
    contentKey: 'meta',
    newRoot: true,
  })
  await typed(document, (doc) => {
    doc.getArray('').push([1])
    doc.getText('emptied').insert(0, 'x')
    doc.getText('emptied').delete(0, 1)
  })
  expect((await entries({ ...document, format: 'roots' }))[0]?.data).toEqual([
    { contentKey: '', type: 'array' },
    { contentKey: 'default', type: 'text' },
    { contentKey: 'emptied', type: 'none' },
    { contentKey: 'meta', type: 'map' },
  ])
})

const emptyContents: readonly (readonly [type: string, data: unknown, other: string, content: unknown])[] = [
  ['map', {}, 'text', 'x'],
  ['array', [], 'map', { a: 1 }],
  ['xml', '', 'array', [1]],
  ['text', '', 'map', { a: 1 }],
]
it.each(emptyContents)(
  '[CRDT-42] keeps the type of an empty root of type %s',
  async (type, data, other, content) => {
    const document = nextDocument()
    const address = { ...document, editorId: 'main', contentKey: 'root' }
    const added = dataOf(await call('add', { ...address, type, data }))
    expect(added).toMatchObject({ changed: true, insertions: 0, deletions: 0 })
    const expectEmpty = async () => expect(await entries(address)).toMatchObject([{ type, data }])
    await expectEmpty()
    const refused = await call('update', { ...address, type: other, data: content })
    expect(refused.body.error?.message).toContain(
      `the content at contentKey "root" is of type "${type}", not "${other}"`,
    )
    expect(dataOf(await call('update', { ...address, type, data }))).toMatchObject({
      changed: false,
      bytes: 0,
    })
    await typed(document, (doc) => expect(doc.getMap('root').toJSON()).toEqual({}))
    await typed(document, (doc) => expect(doc.getArray('root').toJSON()).toEqual([]))
    await typed(document, (doc) => expect(doc.getText('root').toDelta()).toEqual([]))
    await expectEmpty()
  },
)

it('[CRDT-42] creates no root for an empty text without contentKey, so that the root that a client creates later is the only one', async () => {
  const document = nextDocument()
  await call('add', { ...document, editorId: 'main', type: 'text', data: '' })
  await typed(document, (doc) => doc.getText('default').insert(0, 'typed'))
  expect(await entries(document)).toMatchObject([{ contentKey: 'default', data: 'typed' }])
})

it('[CRDT-42] keeps the type of a root that REST or a client has emptied', async () => {
  for (const [type, full, empty] of [
    ['map', { a: 1 }, {}],
    ['array', [1], []],
    ['xml', '<p>x</p>', ''],
  ] as const) {
    const address = { ...nextDocument(), editorId: 'main' }
    await call('add', { ...address, type, data: full })
    expect(dataOf(await call('update', { ...address, type, data: empty }))).toMatchObject({ changed: true })
    expect(await entries(address)).toMatchObject([{ type, data: empty }])
    await call('update', { ...address, type, data: full })
    expect(await entries(address)).toMatchObject([{ type, data: full }])
  }
  const array = nextDocument()
  await call('add', { ...array, editorId: 'main', type: 'array', data: [1, 2], contentKey: 'list' })
  await typed(array, (doc) => doc.getArray('list').delete(0, 2))
  expect(await entries(array)).toMatchObject([{ type: 'array', data: [] }])
  const written = nextDocument()
  await typed(written, (doc) => doc.getArray('list').push([1]))
  await call('update', { ...written, editorId: 'main', type: 'array', data: [1, 2] })
  await typed(written, (doc) => doc.getArray('list').delete(0, 2))
  expect(await entries(written)).toMatchObject([{ type: 'array', data: [] }])
  const document = nextDocument()
  await typed(document, (doc) => {
    doc.getMap('board').set('a', 1)
    doc.getMap('board').delete('a')
  })
  expect(await entries(document)).toMatchObject([{ type: 'map', data: {} }])
})

it('[UPD-1] stores, reads and writes a key of a million characters', async () => {
  const document = nextDocument()
  const key = 'k'.repeat(1_000_000)
  await typed(document, (doc) => doc.getMap('board').set(key, { [key]: '' }))
  const [entry] = await entries(document)
  expect(entry?.data).toEqual({ [key]: { [key]: '' } })
  const update = { ...document, editorId: 'main', type: 'map', data: entry?.data }
  expect(dataOf(await call('update', update))).toMatchObject({ changed: false, bytes: 0 })
  const added = await call('update', { ...update, data: { [`${key}2`]: null } })
  expect(dataOf(added)).toMatchObject({ changed: true })
  expect((await entries(document))[0]?.data).toEqual({ [`${key}2`]: null })
})

it('[CRDT-43] when a client adds content to an empty root, uses the type of that content', async () => {
  const document = nextDocument()
  await call('add', { ...document, ...text('', { contentKey: 'board' }) })
  await typed(document, (doc) => doc.getArray('board').push(['from a client']))
  expect(await entries(document)).toMatchObject([{ type: 'array', data: ['from a client'] }])
  expect(statusOf(await call('update', { ...document, ...text('x') }))).toBe('INVALID_ARGUMENT')
})

it('[CRDT-8] in the format `update`, returns the Yjs state, from which a client can start', async () => {
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
  '[CRDT-35] in statistics of %s, returns the number of structs, tombstones and clients',
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

it('[CRDT-9] without editorId, reads all editors of the document, and no others', async () => {
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

it('[ACC-10] does not show a document of another API key', async () => {
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
  ['a contentKey that is not a string', { contentKey: 1 }, '/data/contentKey'],
  ['no editor', { editorId: undefined }, '/data/editorId'],
  ['an editor that is not an id', { editorId: '..' }, '/data/editorId'],
])(
  '[CRDT-11] rejects invalid input with INVALID_ARGUMENT and the name of the member, before it searches for the document: %s',
  async (_, wrong, says) => {
    for (const operation of ['add', 'update']) {
      const answer = await call(operation, { ...nextDocument(), ...text('Hello'), ...wrong })
      expect(statusOf(answer)).toBe('INVALID_ARGUMENT')
      expect(answer.body.error?.message).toContain(says)
    }
  },
)

it('[CRDT-12] deletes the given editors, closes their sockets permanently, and lets no client restore them', async () => {
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

it('[CRDT-13] without editorIds, deletes all editors of a document; an editor that is added again gets a new version', async () => {
  const document = nextDocument()
  const first = dataOf(await call('add', { ...document, ...text('old') })) as Entry
  for (let editor = 0; editor < editorsMax; editor += 1)
    await call('add', { ...document, ...text('x', { editorId: `editor ${editor}` }) })
  expect(statusOf(await call('get', document))).toBe('FAILED_PRECONDITION')
  expect(dataOf(await call('delete', document))).toEqual({ success: true })
  expect(statusOf(await call('get', document))).toBe('NOT_FOUND')
  const again = dataOf(await call('add', { ...document, ...text('new') })) as Entry
  expect(again.version).not.toBe(first.version)
  expect(await entries(document)).toMatchObject([{ data: 'new' }])
})

it('[DUR-2] responds only after the content in the response is durable', async () => {
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
  // These calls wait for nothing and overtake the earlier ones. If those had been answered, they would be in
  // the list.
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

it('[CRDT-15] rejects content that exceeds the limit of a document, and accepts content just below the limit', async () => {
  const small = await startTestServer({ maxDocumentBytes: 10_000 })
  const document = nextDocument()
  const post = (operation: string, data: object) =>
    small.post(`/v2/crdt/${operation}`, { ...document, ...data })
  const refused = await post('add', text('x'.repeat(10_001)))
  expect(refused.body.error).toMatchObject({
    status: 'INVALID_ARGUMENT',
    message: expect.stringMatching(/at most 10000 bytes; this content would have 10\d\d\d/),
  })
  expect(statusOf(await post('get', {}))).toBe('NOT_FOUND')
  expect(statusOf(await post('add', text('x'.repeat(9000))))).toBe('success')
  expect(statusOf(await post('update', text(`${'x'.repeat(8999)}y`)))).toBe('success')
  expect(statusOf(await post('update', text('x'.repeat(10_000))))).toBe('INVALID_ARGUMENT')
  expect(statusOf(await post('update', text('y'.repeat(900), { contentKey: 'more', newRoot: true })))).toBe(
    'success',
  )
  expect(statusOf(await post('update', text('y'.repeat(2000), { contentKey: 'more' })))).toBe(
    'INVALID_ARGUMENT',
  )
  expect(statusOf(await post('update', text('x'.repeat(8000))))).toBe('success')
  await small.stop()
})
