import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type Document,
  newOrganization,
  oddIds,
  organizationCalls,
  outcomes,
  statusOf,
} from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

const many = (count: number) => Array.from({ length: count }, (_, at) => `d${String(at).padStart(4, '0')}`)

it('[DOC-1] adds a document and returns it; by default, the document is public and has no folder, name or metadata', async () => {
  const { organizationId, addFolders, v2, documents } = await newOrganization(server)
  await addFolders({ folderId: 'folder' })
  const full = {
    documentId: 'full',
    documentName: 'Full',
    folderId: 'folder',
    accessType: 'organizationPrivate',
    metadata: { any: ['thing', null] },
  }
  const answer = await v2('documents/add', { documents: [full, { documentId: 'bare' }] })
  const done = (id: string) => ({ success: true, id, message: expect.any(String) })
  expect(dataOf(answer)).toEqual({ full: done('full'), bare: done('bare') })
  const { documentId: id, ...shown } = full
  const shared = {
    organizationId,
    disabled: false,
    createdAt: expect.any(Number),
    lastUpdated: expect.any(Number),
  }
  expect(await documents({ documentIds: ['full', 'bare'] })).toEqual([
    { id, ...shown, ...shared },
    { id: 'bare', documentName: '', folderId: 'root', accessType: 'public', metadata: {}, ...shared },
  ])
})

it('[DOC-2] does not add a document if it exists or its folder is missing, but adds the other documents of the call', async () => {
  const { addDocuments, documents } = await newOrganization(server)
  await addDocuments({ documentId: 'used', documentName: 'First' })
  expect(
    await addDocuments(
      { documentId: 'used', documentName: 'Second' },
      { documentId: 'lost', folderId: 'none' },
      { documentId: 'new' },
    ),
  ).toEqual({ used: 'the document exists already', lost: 'the folder does not exist', new: true })
  expect((await documents()).map(({ id, documentName }) => [id, documentName])).toEqual([
    ['new', ''],
    ['used', 'First'],
  ])
})

it('[DOC-3] creates a missing organization or folder only with createOrganization or createFolder', async () => {
  const { addFolders, v2, folders, documents } = organizationCalls(server, 'made by a document')
  const wanted = [
    { documentId: 'a', folderId: 'first' },
    { documentId: 'b', folderId: 'first' },
    { documentId: 'c' },
  ]
  expect(statusOf(await v2('documents/add', { documents: wanted, createFolder: true }))).toBe('NOT_FOUND')
  const half = await v2('documents/add', { documents: wanted, createOrganization: true })
  expect(outcomes(half)).toEqual({ a: 'the folder does not exist', b: 'the folder does not exist', c: true })
  await addFolders({ folderId: 'second', folderName: 'Second' })
  const rest = [...wanted.slice(0, 2), { documentId: 'd', folderId: 'second' }]
  const whole = await v2('documents/add', { documents: rest, createOrganization: true, createFolder: true })
  expect(outcomes(whole)).toEqual({ a: true, b: true, d: true })
  expect((await folders()).map(({ folderId, folderName }) => [folderId, folderName])).toEqual([
    ['first', ''],
    ['second', 'Second'],
  ])
  expect((await documents({ folderId: 'first' })).map(({ id }) => id)).toEqual(['a', 'b'])
})

it('[DOC-4] in version 1, returns up to 30 documents by id and omits missing ones, or returns all documents of the organization', async () => {
  const { addDocuments, updateDocuments, v1 } = await newOrganization(server)
  const ids = many(1_100)
  for (const at of [0, 500, 1_000])
    await addDocuments(
      ...ids.slice(at, at + 500).map((documentId) => ({ documentId, documentName: documentId })),
    )
  await updateDocuments({ documentId: 'd0001', disabled: true, accessType: 'restricted' })
  const get = async (data: object) => dataOf(await v1('documents/get', data)) as Document[]
  expect(await get({ documentIds: ['d0001', 'none', 'd0000', 'd0001'] })).toEqual([
    { id: 'd0001', documentName: 'd0001', disabled: true, accessType: 'restricted' },
    { id: 'd0000', documentName: 'd0000', disabled: false, accessType: 'public' },
  ])
  expect((await get({})).map(({ id }) => id)).toEqual(ids)
  expect(await get({ documentIds: [] })).toEqual([])
  expect(await get({ documentIds: ids.slice(0, 30) })).toHaveLength(30)
  expect(statusOf(await v1('documents/get', { documentIds: ids.slice(0, 31) }))).toBe('INVALID_ARGUMENT')
})

it('[DOC-5] in version 2, returns documents by id, or lists a folder or the organization in pages of at most 1000', async () => {
  const { addFolders, addDocuments, v2, documents } = await newOrganization(server)
  await addFolders({ folderId: 'f' }, { folderId: 'g', parentFolderId: 'f' })
  const ids = many(25)
  await addDocuments(...ids.map((documentId, at) => ({ documentId, folderId: at % 5 === 0 ? 'f' : 'root' })))
  await addDocuments({ documentId: 'z', folderId: 'g' })
  const inFolder = ids.filter((_, at) => at % 5 === 0)
  const listed = async (data: object) => {
    const pages: string[][] = []
    for (let pageToken: string | undefined; pages.length < 50; ) {
      const answer = await v2('documents/get', { pageSize: 4, ...data, ...(pageToken && { pageToken }) })
      const { data: found, pageToken: next } = answer.body.result as { data: Document[]; pageToken?: string }
      pages.push(found.map(({ id }) => id))
      pageToken = next
      if (pageToken === undefined) break
    }
    return pages
  }
  expect((await listed({})).flat()).toEqual([...ids, 'z'])
  expect((await listed({})).slice(0, -1).every((page) => page.length === 4)).toBe(true)
  expect(await listed({ folderId: 'f' })).toEqual([inFolder.slice(0, 4), inFolder.slice(4)])
  expect((await listed({ folderId: 'root' })).flat()).toEqual(ids.filter((id) => !inFolder.includes(id)))
  expect((await documents({ documentIds: ['z', 'none', 'd0000'] })).map(({ id }) => id)).toEqual([
    'z',
    'd0000',
  ])
  expect(statusOf(await v2('documents/get', { folderId: 'none' }))).toBe('NOT_FOUND')
  expect(statusOf(await v2('documents/get', { folderId: 'f', documentIds: ['a'] }))).toBe('INVALID_ARGUMENT')
  const { pageToken } = (await v2('documents/get', { pageSize: 4 })).body.result as { pageToken?: string }
  expect(statusOf(await v2('documents/get', { pageSize: 4, folderId: 'f', pageToken }))).toBe(
    'INVALID_ARGUMENT',
  )
})

it('[DOC-6] changes the given members of a document and keeps the others; does not update an unknown document', async () => {
  const { addFolders, addDocuments, updateDocuments, documents } = await newOrganization(server)
  await addFolders({ folderId: 'f' })
  await addDocuments({ documentId: 'a', documentName: 'Before', metadata: { kept: true } })
  const [before] = await documents()
  await new Promise((resolve) => setTimeout(resolve, 2))
  expect(
    await updateDocuments(
      { documentId: 'a', documentName: 'After', disabled: true },
      { documentId: 'none', documentName: 'None' },
    ),
  ).toEqual({ a: true, none: 'the document does not exist' })
  const [after] = await documents()
  expect(after).toEqual({ ...before, documentName: 'After', disabled: true, lastUpdated: expect.any(Number) })
  expect(after?.lastUpdated).toBeGreaterThan(before?.lastUpdated ?? 0)
  await updateDocuments({ documentId: 'a', documentName: 'After' })
  expect(await documents()).toEqual([after])
  await updateDocuments({
    documentId: 'a',
    folderId: 'f',
    accessType: 'restricted',
    metadata: {},
    disabled: false,
  })
  expect(await documents({ folderId: 'f' })).toMatchObject([
    {
      id: 'a',
      folderId: 'f',
      accessType: 'restricted',
      metadata: {},
      disabled: false,
      documentName: 'After',
    },
  ])
  expect(await updateDocuments({ documentId: 'a', folderId: 'none' })).toEqual({
    a: 'the folder does not exist',
  })
})

it('[DOC-7] in version 1, updates the same members as in version 2', async () => {
  const { addDocuments, documents, v1 } = await newOrganization(server)
  await addDocuments({ documentId: 'a', documentName: 'Before' })
  const answer = await v1('documents/update', {
    documents: [
      { documentId: 'a', documentName: 'After', accessType: 'restricted', metadata: { pages: 3 } },
      { documentId: 'none' },
    ],
  })
  expect(dataOf(answer)).toEqual({
    a: { success: true, id: 'a', message: expect.any(String) },
    none: {
      success: false,
      id: 'none',
      message: 'the document does not exist',
      details: { code: 'document/not-found' },
    },
  })
  expect(await documents()).toMatchObject([
    { documentName: 'After', disabled: false, accessType: 'restricted', metadata: { pages: 3 } },
  ])
  expect(outcomes(await v1('documents/update', { documents: [{ documentId: 'a' }] }))).toEqual({ a: true })
  expect(await documents()).toMatchObject([{ documentName: 'After' }])
})

it('[DOC-8] moves documents into a folder and out of every folder', async () => {
  const { addFolders, addDocuments, documents, v2 } = await newOrganization(server)
  await addFolders({ folderId: 'f' }, { folderId: 'g' })
  await addDocuments({ documentId: 'a' }, { documentId: 'b', folderId: 'g' })
  const move = (folderId: string, ...documentIds: string[]) => v2('documents/move', { folderId, documentIds })
  expect(outcomes(await move('f', 'a', 'b', 'none'))).toEqual({
    a: true,
    b: true,
    none: 'the document does not exist',
  })
  expect((await documents({ folderId: 'f' })).map(({ id }) => id)).toEqual(['a', 'b'])
  expect(await documents({ folderId: 'g' })).toEqual([])
  expect(outcomes(await move('root', 'a'))).toEqual({ a: true })
  expect((await documents({ folderId: 'root' })).map(({ id }) => id)).toEqual(['a'])
  expect(statusOf(await move('none', 'a'))).toBe('NOT_FOUND')
})

it('[DOC-9] returns the effective access type: the type of the document, or the inherited type of its folders', async () => {
  const { addFolders, addDocuments, documents, v2 } = await newOrganization(server)
  await addFolders({ folderId: 'f' }, { folderId: 'g', parentFolderId: 'f' })
  await addDocuments(
    { documentId: 'own', folderId: 'g', accessType: 'public' },
    { documentId: 'child', folderId: 'g' },
  )
  const types = async () =>
    Object.fromEntries((await documents()).map(({ id, accessType }) => [id, accessType]))
  const setFolder = (folderId: string, data: object) =>
    v2('folders/access/update', { folderIds: [folderId], ...data })
  expect(await types()).toEqual({ own: 'public', child: 'public' })
  await setFolder('f', { accessType: 'restricted' })
  expect(await types()).toEqual({ own: 'public', child: 'restricted' })
  const answer = await v2('documents/access/update', {
    documentIds: ['own', 'none'],
    accessType: 'organizationPrivate',
  })
  expect(outcomes(answer)).toEqual({ own: true, none: 'the document does not exist' })
  expect(await types()).toEqual({ own: 'organizationPrivate', child: 'restricted' })
  await setFolder('g', { accessType: 'public', inheritAccessFromParent: false })
  expect(await types()).toEqual({ own: 'organizationPrivate', child: 'public' })
})

it('[DOC-10] deletes records and content of all editors of a document, and nothing else', async () => {
  const { organizationId, addDocuments, documents, v2 } = await newOrganization(server)
  await addDocuments({ documentId: 'a' }, { documentId: 'a ' }, { documentId: 'b' })
  const content = (documentId: string, editorId: string) => ({ organizationId, documentId, editorId })
  for (const documentId of ['a', 'a '])
    for (const editorId of ['one', 'two'])
      await server.post('/v2/crdt/add', { ...content(documentId, editorId), type: 'text', data: 'text' })
  const answer = await v2('documents/delete', { documentIds: ['a', 'b', 'none'] })
  expect(outcomes(answer)).toEqual({ a: true, b: true, none: 'the document does not exist' })
  expect((await documents()).map(({ id }) => id)).toEqual(['a '])
  const read = (documentId: string) => server.post('/v2/crdt/get', { organizationId, documentId })
  expect(statusOf(await read('a'))).toBe('NOT_FOUND')
  expect(dataOf(await read('a '))).toHaveLength(2)
  expect(await addDocuments({ documentId: 'a' })).toEqual({ a: true })
  expect(statusOf(await read('a'))).toBe('NOT_FOUND')
})

it('[DOC-11] returns NOT_FOUND for every call with an unknown organization', async () => {
  const { v1, v2 } = organizationCalls(server, 'nowhere')
  const documents: object[] = []
  const documentIds = ['any']
  for (const answer of [
    await v1('documents/get'),
    await v1('documents/get', { documentIds }),
    await v1('documents/update', { documents }),
    await v2('documents/add', { documents }),
    await v2('documents/get'),
    await v2('documents/get', { documentIds }),
    await v2('documents/update', { documents }),
    await v2('documents/delete', { documentIds }),
    await v2('documents/move', { documentIds, folderId: 'root' }),
    await v2('documents/access/update', { documentIds, accessType: 'public' }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { error: { status: 'NOT_FOUND' } } })
})

it('[API-50] treats ids as opaque: returns any id as it was sent, and finds nothing for a different id', async () => {
  const { addDocuments, documents } = await newOrganization(server)
  await addDocuments(...oddIds.map((documentId) => ({ documentId, documentName: documentId })))
  const found = await documents({ documentIds: oddIds })
  expect(found.map(({ id, documentName }) => [id, documentName])).toEqual(oddIds.map((id) => [id, id]))
  expect(await documents()).toHaveLength(oddIds.length)
})

it('[ACC-10] does not show documents of another API key', async () => {
  const { organizationId, addDocuments, documents } = await newOrganization(server)
  await addDocuments({ documentId: 'mine' })
  const other = await startTestServer()
  await other.post('/v2/organizations/add', { organizations: [{ organizationId }] })
  const theirs = organizationCalls(other, organizationId)
  expect(await theirs.documents({ documentIds: ['mine'] })).toEqual([])
  expect(outcomes(await theirs.v2('documents/delete', { documentIds: ['mine'] }))).toEqual({
    mine: 'the document does not exist',
  })
  expect(await documents()).toHaveLength(1)
  await other.stop()
})

it('[API-62] when many batches are concurrent, processes each of their items once', async () => {
  const { addFolders, addDocuments, documents, folders } = await newOrganization(server)
  const callers = Array.from({ length: 40 }, (_, caller) => caller)
  const results = await Promise.all(
    callers.flatMap((caller) => [
      addFolders({ folderId: `f${caller}` }, { folderId: 'one for all' }),
      addDocuments({ documentId: `d${caller}` }, { documentId: 'one for all' }),
    ]),
  )
  for (const id of ['f', 'd'])
    for (const caller of callers) expect(results.some((each) => each[`${id}${caller}`] === true)).toBe(true)
  expect(results.filter((each) => each['one for all'] === true)).toHaveLength(2)
  expect(await folders()).toHaveLength(41)
  expect(await documents()).toHaveLength(41)
})

it.each([
  ['v2', 'add', { documents: [{}] }, '/data/documents/0/documentId'],
  ['v2', 'add', { documents: [{ documentId: 'a', accessType: 'private' }] }, '/data/documents/0/accessType'],
  ['v2', 'add', { documents: [{ documentId: 'a', metadata: { a: 'x'.repeat(16_400) } }] }, '16384'],
  ['v2', 'add', { documents: many(501).map((documentId) => ({ documentId })) }, '500'],
  ['v2', 'update', { documents: [{ documentId: 'a', disabled: 1 }] }, '/data/documents/0/disabled'],
  ['v2', 'get', { documentIds: many(31) }, '30'],
  ['v2', 'delete', {}, '/data/documentIds'],
  ['v2', 'delete', { documentIds: many(501) }, '500'],
  ['v2', 'move', { documentIds: ['a'] }, '/data/folderId'],
  ['v2', 'access/update', { documentIds: ['a'] }, '/data/accessType'],
  ['v1', 'update', {}, '/data/documents'],
  ['v1', 'update', { documents: [{ documentName: 'a' }] }, '/data/documents/0/documentId'],
] as const)(
  '[API-61] rejects an invalid document call with INVALID_ARGUMENT and the name of the member: %s %s %#',
  async (version, operation, data, says) => {
    const answer = await organizationCalls(server, 'any')[version](`documents/${operation}`, data)
    expect(statusOf(answer)).toBe('INVALID_ARGUMENT')
    expect(answer.body.error?.message).toContain(says)
  },
)
