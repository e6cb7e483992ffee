import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { documentPrefix } from '../../../src/core/model/address.ts'
import { readAttribution } from '../../../src/core/rooms/log/read-attribution.ts'
import { type Engine, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { documentKeyPages, entryPages } from '../../../src/core/store/pages.ts'
import { eventually, RawClient, syncedEditor } from '../../support/clients/clients.ts'
import { statusOf } from '../../support/data/folder-tree.ts'
import { fillOrganization, zoe } from '../../support/data/user-data.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { times } from '../../support/time/full-run.ts'

interface Deletion {
  readonly deletionId: string
  readonly type: string
  readonly id: string
  readonly name: string
  readonly documentId?: string
  readonly deletedAt: number
  readonly expiresAt: number
}

const document = { organizationId: 'acme', documentId: 'd1' }
const editor = { ...document, editorId: 'main' }

const deletions = async ({ post }: TestServer, data: object = {}): Promise<readonly Deletion[]> =>
  dataOf(await post('/v2/workspace/deleted/get', data)) as Deletion[]

const scopeOf = ({ credentials: { workspaceId, apiKey } }: TestServer) => ({
  workspaceId,
  apiKey,
  organizationId: 'acme',
})

/** Returns all entries of the organization by key, without the ones that record changes themselves. */
async function entriesOf(server: TestServer, engine: Engine): Promise<ReadonlyMap<string, string>> {
  const scan = (range: { readonly limit: number }) => engine.kv.scan(organizationPart(scopeOf(server)), range)
  const found = new Map<string, string>()
  for await (const page of entryPages(scan, { limit: 500 }))
    for (const { key, value } of page)
      if (!/^(accessMark|counts|restored)$/.test(key[0] ?? ''))
        found.set(
          key.join(' '),
          Buffer.from(value)
            .toString()
            .replace(/"epoch":\d+/, ''),
        )
  return found
}

/** Waits until the store has recorded Bob as an author of the next version, which it does after his edit. */
const authorsAreRecorded = (server: TestServer, engine: Engine): Promise<void> =>
  eventually(async () => {
    const state = (await entriesOf(server, engine)).get('versionsState d1 main')
    return state?.includes('bob') === true
  })

async function authorsOf(server: TestServer, engine: Engine): Promise<unknown> {
  const prefix = documentPrefix(scopeOf(server), 'd1')
  const all = []
  for await (const docs of documentKeyPages(engine.log, prefix, 100))
    for (const doc of docs) all.push([doc.at(-1), await readAttribution(engine.log, doc)])
  return all
}

/** Fills a document in a folder with all kinds of data. */
async function fill(server: TestServer): Promise<void> {
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  await fillOrganization(post, 'acme')
  const folders = [
    { folderId: 'top', folderName: 'Top' },
    { folderId: 'in', parentFolderId: 'top' },
  ]
  await post('/v1/organizations/folders/add', { organizationId: 'acme', folders })
  await post('/v2/organizations/documents/move', {
    organizationId: 'acme',
    documentIds: ['d1'],
    folderId: 'in',
  })
  await post('/v2/organizations/documents/update', {
    organizationId: 'acme',
    documents: [{ documentId: 'd1', documentName: 'Plan', metadata: { by: 'us' } }],
  })
  await post('/v2/organizations/documents/add', {
    organizationId: 'acme',
    documents: [{ documentId: 'other' }],
  })
  const typed = await syncedEditor(server.wsUrl, 'acme/d1/main', await server.token('bob'))
  typed.doc.getText('content').insert(0, 'Typed. ')
  const typedIn = async () =>
    JSON.stringify(dataOf(await server.post('/v2/crdt/get', editor))).includes('Typed')
  await eventually(typedIn)
  typed.close()
  await post('/v2/crdt/branches/create', { ...editor, name: 'draft', userId: 'bob' })
  await post('/v2/crdt/update', { ...editor, editorId: 'main@draft', type: 'text', data: 'Draft' })
}

it.each([
  ['document', '/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['d1'] }, 'Plan'],
  ['folder', '/v2/organizations/folders/delete', { organizationId: 'acme', folderId: 'top' }, 'Top'],
  ['organization', '/v2/organizations/delete', { organizationIds: ['acme'] }, ''],
])('[DEL-1] restores a deleted %s with all its data', async (type, path, data, name) => {
  const engine = await openMemoryEngine()
  const server = await startTestServer({}, { engine })
  await fill(server)
  await authorsAreRecorded(server, engine)
  const socket = await RawClient.connect(
    `${server.wsUrl}/sync/acme/d1/main?token=${await server.token('bob')}`,
  )
  const read = async () => dataOf(await server.post('/v2/crdt/get', editor)) as [{ version: string }]
  const content = await read()
  const before = await entriesOf(server, engine)
  const authors = await authorsOf(server, engine)
  expect(statusOf(await server.post(path, data))).toBe('success')
  expect((await socket.closed).code).toBe(4404)
  expect(statusOf(await server.post('/v2/crdt/get', editor))).toBe('NOT_FOUND')
  const [deletion] = await deletions(server)
  expect(deletion).toMatchObject({
    type,
    id: { document: 'd1', folder: 'top', organization: 'acme' }[type],
    name,
  })
  expect((deletion?.expiresAt ?? 0) - (deletion?.deletedAt ?? 0)).toBe(7 * 86_400_000)
  dataOf(await server.post('/v2/workspace/deleted/restore', { deletionId: deletion?.deletionId }))
  expect(await deletions(server)).toEqual([])
  expect(await read()).toEqual(
    content.map((each) => ({ ...each, version: expect.any(String), lastUpdate: expect.any(String) })),
  )
  expect(await authorsOf(server, engine)).toEqual(authors)
  const after = await entriesOf(server, engine)
  const changed = [...before].flatMap(([key, value]) =>
    after.get(key) === value ? [] : [[key, value, after.get(key)]],
  )
  expect(changed).toEqual([])
  const [version] = dataOf(await server.post('/v2/crdt/versions/list', editor)) as [{ versionId: string }]
  const { versionId } = version
  dataOf(
    await server.post('/v2/crdt/versions/get', { ...editor, versionId, type: 'text', contentKey: 'content' }),
  )
  dataOf(await server.post('/v2/crdt/branches/merge', { ...editor, name: 'draft', userId: 'bob' }))
  expect(JSON.stringify(await read())).toContain('Draft')
  await server.stop()
})

const draft = { ...editor, name: 'draft' }
const branch = { ...editor, editorId: 'main@draft' }

it('[DEL-8] restores a deleted branch with all its data', async () => {
  const engine = await openMemoryEngine()
  const server = await startTestServer({}, { engine })
  const call = (path: string, data: object) => server.post(`/v2/crdt/${path}`, data)
  await fill(server)
  await call('versions/create', { ...branch, label: 'kept', userId: 'bob' })
  await authorsAreRecorded(server, engine)
  const socket = await RawClient.connect(
    `${server.wsUrl}/sync/acme/d1/main@draft?token=${await server.token('bob')}`,
  )
  await socket.roundTrip()
  const listed = async () => dataOf(await call('branches/list', editor))
  const [records, before, authors] = [
    await listed(),
    await entriesOf(server, engine),
    await authorsOf(server, engine),
  ]
  dataOf(await call('branches/delete', draft))
  expect((await socket.closed).code).toBe(4404)
  expect(await listed()).toEqual([])
  expect(statusOf(await call('get', branch))).toBe('NOT_FOUND')
  const [deletion] = await deletions(server)
  expect(deletion).toMatchObject({ type: 'branch', id: 'main@draft', documentId: 'd1', name: '' })
  expect((deletion?.expiresAt ?? 0) - (deletion?.deletedAt ?? 0)).toBe(7 * 86_400_000)
  const typed = await syncedEditor(server.wsUrl, 'acme/d1/main', await server.token('bob'))
  typed.doc.getText('title').insert(0, 'Later')
  const shown = async (address: object, contentKey: string) =>
    JSON.stringify((await call('get', { ...address, type: 'text', contentKey })).body)
  await eventually(async () => (await shown(editor, 'title')).includes('Later'))
  typed.close()
  dataOf(await restore(server, deletion?.deletionId))
  expect(await deletions(server)).toEqual([])
  expect(await listed()).toEqual(records)
  const after = await entriesOf(server, engine)
  const changed = [...before].filter(([key, value]) => after.get(key) !== value)
  expect(changed.map(([key]) => key)).toEqual([])
  expect(((await authorsOf(server, engine)) as [string, unknown][])[1]).toEqual(
    (authors as [string, unknown][])[1],
  )
  const [version] = dataOf(await call('versions/list', branch)) as [{ versionId: string }]
  const { versionId } = version
  dataOf(await call('versions/get', { ...branch, versionId, type: 'text', contentKey: 'content' }))
  // It follows its editor again.
  expect(await shown(branch, 'title')).toContain('Later')
  expect(await shown(branch, 'content')).toContain('Draft')
  dataOf(await call('branches/merge', { ...draft, userId: 'bob' }))
  dataOf(await call('branches/delete', draft))
  dataOf(await restore(server, (await deletions(server))[0]?.deletionId))
  expect(await listed()).toMatchObject([{ name: 'draft', status: 'merged' }])
  await server.stop()
})

it('[DEL-9] restores no branch whose name is in use again, or whose editor is another one', async () => {
  const server = await startTestServer()
  const call = (path: string, data: object) => server.post(`/v2/crdt/${path}`, data)
  const documents = { organizationId: 'acme', documentIds: ['d1'] }
  const remove = async (): Promise<string | undefined> => {
    const known = new Set((await deletions(server)).map(({ deletionId }) => deletionId))
    dataOf(await call('branches/delete', draft))
    return (await deletions(server)).find(({ deletionId }) => !known.has(deletionId))?.deletionId
  }
  const create = async (text: string) => {
    dataOf(await call('branches/create', { ...draft, userId: 'bob' }))
    dataOf(await call('update', { ...branch, type: 'text', data: text }))
  }
  const refusal = async (id: string | undefined) => (await restore(server, id)).body.error?.details?.code
  const textOf = async (address: object) => dataOf(await call('get', { ...address, type: 'text' }))
  await add(server, 'd1')
  await create('first')
  const first = await remove()
  await create('second')
  expect(await refusal(first)).toBe('deletion/id-exists')
  expect(await textOf(branch)).toMatchObject([{ data: 'second' }])
  const second = await remove()
  // An ordinary editor with the id of the branch.
  dataOf(await call('add', { ...branch, type: 'text', data: 'other' }))
  expect(await refusal(first)).toBe('deletion/id-exists')
  expect(await textOf(branch)).toMatchObject([{ data: 'other' }])
  dataOf(await call('delete', { ...document, editorIds: [branch.editorId] }))
  dataOf(await restore(server, first))
  expect(await textOf(branch)).toMatchObject([{ data: 'first' }])
  const again = await remove()
  // The document comes back without the branch, which can be restored afterwards.
  dataOf(await server.post('/v2/organizations/documents/delete', documents))
  expect(await refusal(again)).toBe('deletion/no-parent')
  const whole = (await deletions(server)).find(({ type }) => type === 'document')
  dataOf(await restore(server, whole?.deletionId))
  expect(dataOf(await call('branches/list', editor))).toEqual([])
  dataOf(await restore(server, again))
  expect(await textOf(branch)).toMatchObject([{ data: 'first' }])
  const pruned = await remove()
  dataOf(await call('prune', editor))
  expect(await refusal(pruned)).toBe('deletion/editor-changed')
  expect(await refusal(second)).toBe('deletion/editor-changed')
  await create('third')
  const third = await remove()
  // A branch that is deleted with its editor is not kept.
  await create('fourth')
  dataOf(await call('delete', { ...document, editorIds: ['main'] }))
  expect((await deletions(server)).length).toBe(3)
  expect(await refusal(third)).toBe('deletion/editor-changed')
  await add(server, 'd1', { data: 'new' })
  expect(await refusal(third)).toBe('deletion/editor-changed')
  expect(dataOf(await call('branches/list', editor))).toEqual([])
  expect(statusOf(await call('get', branch))).toBe('NOT_FOUND')
  for (const { deletionId } of await deletions(server)) dataOf(await purge(server, deletionId))
  await server.stop()
})

it('[DEL-8] restores a branch with each edit that was acknowledged while it was deleted', async () => {
  const server = await startTestServer()
  await add(server, 'd1')
  dataOf(await server.post('/v2/crdt/branches/create', { ...draft, userId: 'bob' }))
  for (let run = 0; run < 5; run += 1) {
    const doc = new Y.Doc()
    const acknowledged: string[] = []
    let removal: Promise<unknown> = Promise.resolve()
    const write = async (writer: number) => {
      for (let index = 0; index < 12; index += 1) {
        const word = `${run}.${writer}.${index}`
        doc.getMap('words').set(word, true)
        const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
        const { status } = await server.post('/v2/crdt/apply', { ...branch, update })
        if (status === 200) acknowledged.push(word)
        if (writer === 0 && index === run) removal = server.post('/v2/crdt/branches/delete', draft)
      }
    }
    await Promise.all([0, 1, 2].map(write))
    await removal
    dataOf(await restore(server, (await deletions(server))[0]?.deletionId))
    const { body } = await server.post('/v2/crdt/get', { ...branch, type: 'json', contentKey: 'words' })
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((word) => !JSON.stringify(body).includes(`"${word}"`))).toEqual([])
  }
  await server.stop()
})

it('[DEL-9] restores no branch after a migration of its editor', async () => {
  const server = await startTestServer()
  const call = async (path: string, data: object) => dataOf(await server.post(`/v2/crdt/${path}`, data))
  const nodes = (name: string) => ({ doc: { content: `${name}+` }, [name]: { content: 'text*' }, text: {} })
  const set = (name: string, version: number) =>
    call('schemas/set', { name: 'board', schema: { nodes: nodes(name), marks: {} }, version })
  await set('p', 1)
  const content = { type: 'xml', contentKey: 'default', data: '<p>one</p>', schema: 'board', upsert: true }
  await call('update', { ...editor, ...content })
  await call('branches/create', { ...draft, userId: 'bob' })
  await call('branches/delete', draft)
  const [deletion] = await deletions(server)
  dataOf(await restore(server, deletion?.deletionId))
  await call('branches/delete', draft)
  await set('row', 2)
  const rules = [{ rule: 'renameNode', name: 'p', to: 'row' }]
  await call('schemas/migrate', { name: 'board', toVersion: 2, rules })
  await eventually(async () => JSON.stringify(await call('get', editor)).includes('<row>'))
  const [second] = await deletions(server)
  const refused = await restore(server, second?.deletionId)
  expect(refused.body.error?.details?.code).toBe('deletion/editor-changed')
  await server.stop()
})

it('[DEL-10] keeps the last 100 deleted branches of a document, and none with the option 0', async () => {
  const server = await startTestServer()
  await add(server, 'd1')
  const create = async ({ post }: TestServer, name: string) =>
    dataOf(await post('/v2/crdt/branches/create', { ...editor, name, userId: 'bob' }))
  const remove = async ({ post }: TestServer, name: string) =>
    dataOf(await post('/v2/crdt/branches/delete', { ...editor, name }))
  const names = Array.from({ length: 106 }, (_, index) => `b${index}`)
  for (const name of names) await create(server, name)
  for (const name of names.slice(0, 100)) await remove(server, name)
  await Promise.all(names.slice(100).map((name) => remove(server, name)))
  const listed = async () => (await deletions(server, { pageSize: 1000 })).map(({ id }) => id).toSorted()
  await eventually(async () => (await listed()).length === 100)
  expect(await listed()).toEqual(
    names
      .slice(6)
      .map((name) => `main@${name}`)
      .toSorted(),
  )
  await server.stop()
  const engine = await openMemoryEngine()
  const without = await startTestServer({ deletedRetentionDays: 0 }, { engine })
  await add(without, 'd1')
  const place = { logs: [[without.credentials.workspaceId]], blobs: [['versions']], parts: [] }
  const before = await engine.storedBytes(place)
  await create(without, 'draft')
  await remove(without, 'draft')
  expect(await deletions(without)).toEqual([])
  expect(await engine.storedBytes(place)).toBe(before)
  dataOf(await without.post('/v2/crdt/branches/create', { ...draft, userId: 'bob' }))
  await without.stop()
})

const restore = ({ post }: TestServer, deletionId: string | undefined) =>
  post('/v2/workspace/deleted/restore', { deletionId })
const purge = ({ post }: TestServer, deletionId: string | undefined) =>
  post('/v2/workspace/deleted/purge', { deletionId })

const add = async ({ post }: TestServer, documentId: string, more: object = {}) =>
  void dataOf(
    await post('/v2/crdt/add', {
      organizationId: 'acme',
      documentId,
      editorId: 'main',
      type: 'text',
      data: documentId,
      ...more,
    }),
  )

it('[DEL-2] restores nothing while an id is in use again, or the parent is missing', async () => {
  const server = await startTestServer()
  const v2 = (path: string, data: object) =>
    server.post(`/v2/organizations/${path}`, { organizationId: 'acme', ...data })
  await add(server, 'a')
  await server.post('/v1/organizations/folders/add', { organizationId: 'acme', folders: [{ folderId: 'f' }] })
  await v2('documents/add', {
    documents: [
      { documentId: 'b', folderId: 'f' },
      { documentId: 'c', folderId: 'f' },
    ],
  })
  await v2('documents/delete', { documentIds: ['a', 'b'] })
  const [a, b] = (await deletions(server)).toSorted((one, two) => (one.id < two.id ? -1 : 1))
  await add(server, 'a', { data: 'new' })
  const refused = await restore(server, a?.deletionId)
  expect([statusOf(refused), refused.body.error?.details?.code]).toEqual([
    'FAILED_PRECONDITION',
    'deletion/id-exists',
  ])
  expect(refused.body.error?.message).toContain('"a"')
  await v2('folders/delete', { folderId: 'f' })
  expect((await restore(server, b?.deletionId)).body.error?.details?.code).toBe('deletion/no-parent')
  const folder = (await deletions(server)).find(({ type }) => type === 'folder')
  // A document of the folder: the records that the restore has written before must go again.
  await add(server, 'c')
  expect((await restore(server, folder?.deletionId)).body.error?.details?.code).toBe('deletion/id-exists')
  expect(dataOf(await v2('documents/get', { folderId: 'root' }))).toMatchObject([{ id: 'a' }, { id: 'c' }])
  expect(statusOf(await v2('documents/get', { folderId: 'f' }))).toBe('NOT_FOUND')
  await v2('documents/delete', { documentIds: ['a', 'c'] })
  for (const each of [folder, b, a]) dataOf(await restore(server, each?.deletionId))
  expect(dataOf(await v2('documents/get', { folderId: 'f' }))).toMatchObject([{ id: 'b' }, { id: 'c' }])
  expect(
    dataOf(await server.post('/v2/crdt/get', { ...document, documentId: 'a', editorId: 'main' })),
  ).toMatchObject([{ data: 'a' }])
  await server.post('/v2/organizations/delete', { organizationIds: ['acme'] })
  await add(server, 'z')
  const organization = (await deletions(server)).find(({ type }) => type === 'organization')
  expect((await restore(server, organization?.deletionId)).body.error?.details?.code).toBe(
    'deletion/id-exists',
  )
  expect(dataOf(await v2('documents/get', {}))).toMatchObject([{ id: 'z' }])
  expect((await restore(server, 'unknown')).body.error?.details?.code).toBe('deletion/not-found')
  await server.stop()
})

it('[DEL-3] after a purge or the time of the option, nothing is left', async () => {
  const engine = await openMemoryEngine()
  const server = await startTestServer({}, { engine })
  const v2 = (path: string, data: object) => server.post(`/v2/organizations/${path}`, data)
  const place = { logs: [[server.credentials.workspaceId]], blobs: [['versions']], parts: [['organization']] }
  await fill(server)
  await add(server, 'kept')
  await v2('documents/delete', { organizationId: 'acme', documentIds: ['d1', 'kept'] })
  const [one, two] = (await deletions(server)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
  expect([one?.id, two?.id]).toEqual(['d1', 'kept'])
  dataOf(await purge(server, one?.deletionId))
  expect((await deletions(server)).map(({ id }) => id)).toEqual(['kept'])
  for (const call of [restore, purge])
    expect((await call(server, one?.deletionId)).body.error?.details?.code).toBe('deletion/not-found')
  await v2('delete', { organizationIds: ['acme'] })
  expect(await engine.storedBytes(place)).toBeGreaterThan(0)
  for (const { deletionId } of await deletions(server)) dataOf(await purge(server, deletionId))
  expect(await engine.storedBytes(place)).toBe(0)
  await server.stop()
})

it('[DEL-3] with the option 0, a deletion keeps nothing', async () => {
  const engine = await openMemoryEngine()
  const server = await startTestServer({ deletedRetentionDays: 0 }, { engine })
  await fill(server)
  await server.post('/v2/organizations/delete', { organizationIds: ['acme'] })
  expect(await deletions(server)).toEqual([])
  const { workspaceId } = server.credentials
  const place = { logs: [[workspaceId]], blobs: [['versions']], parts: [['organization']] }
  expect(await engine.storedBytes(place)).toBe(0)
  await server.stop()
})

it('[DEL-4] a restored document gives no access to users and groups that were removed meanwhile', async () => {
  const server = await startTestServer()
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  await fillOrganization(post, 'acme')
  const grants = () =>
    post('/v2/auth/permissions/get', { organizationId: 'acme', userIds: [zoe.userId], documentIds: ['d1'] })
  const before = JSON.stringify(await grants())
  expect(before).toContain('d1')
  await post('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['d1'] })
  await post('/v2/users/delete', { organizationId: 'acme', userIds: [zoe.userId] })
  await restore(server, (await deletions(server))[0]?.deletionId)
  await post('/v2/users/add', { organizationId: 'acme', users: [{ userId: zoe.userId }] })
  expect(JSON.stringify(await grants())).not.toContain('viewer')
  await server.stop()
})

/** A store that rejects one write. */
function failingStore(engine: Engine): { readonly engine: Engine; failAt(write: number): void } {
  let left = 0
  const failing = <T extends object>(target: T, names: readonly string[]): T =>
    new Proxy(target, {
      get(_, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...given: readonly unknown[]) => {
          if (names.includes(String(name)) && left > 0) left -= 1
          else return value.apply(target, given)
          return left === 0
            ? Promise.reject(new StoreUnavailableError('the test rejects it'))
            : value.apply(target, given)
        }
      },
    })
  const failAt = (write: number): void => {
    left = write
  }
  const kv = failing(engine.kv, ['commit'])
  const log = failing(engine.log, ['append', 'compact', 'destroy', 'destroyPrefix'])
  const blobs = failing(engine.blobs, ['put', 'delete'])
  return { engine: { ...engine, kv, log, blobs }, failAt }
}

/** Deletes and restores with a failure of the given write, and returns whether that write happened. */
async function deleteAndRestore(
  path: string,
  data: object,
  at: { deleting: number; restoring: number },
): Promise<void> {
  const store = failingStore(await openMemoryEngine())
  const server = await startTestServer({}, { engine: store.engine })
  await fill(server)
  const recorded = async () =>
    (await entriesOf(server, store.engine)).get('versionsState d1 main')?.includes('bob')
  await eventually(async () => (await recorded()) === true)
  const before = await entriesOf(server, store.engine)
  const authors = await authorsOf(server, store.engine)
  store.failAt(at.deleting)
  await eventually(async () => {
    await server.post(path, data)
    return (await deletions(server)).length > 0
  })
  store.failAt(at.restoring)
  await eventually(async () => {
    for (const { deletionId } of await deletions(server)) await restore(server, deletionId)
    store.failAt(0)
    return statusOf(await server.post('/v2/crdt/get', 'name' in data ? branch : editor)) === 'success'
  })
  await eventually(async () => (await deletions(server)).length === 0)
  expect(await authorsOf(server, store.engine)).toEqual(authors)
  const after = await entriesOf(server, store.engine)
  const changed = [...before].filter(([key, value]) => after.get(key) !== value)
  expect(changed.map(([key, value]) => [key, value, after.get(key)])).toEqual([])
  await server.stop()
}

const steps = times(3, 24)
// They mostly wait for jobs.
it.concurrent.each([
  ['document', '/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['d1'] }],
  ['folder', '/v2/organizations/folders/delete', { organizationId: 'acme', folderId: 'top' }],
  ['organization', '/v2/organizations/delete', { organizationIds: ['acme'] }],
  ['branch', '/v2/crdt/branches/delete', draft],
])(
  '[DEL-5] loses nothing of a deleted %s when a step of the deletion or of the restore fails',
  async (_, path, data) => {
    for (let step = 0; step < steps; step += 3)
      await Promise.all(
        [1, 2, 3].map((more) => {
          const at = Math.ceil(((step + more) * 60) / steps)
          return deleteAndRestore(path, data, { deleting: at, restoring: Math.ceil(at / 2) })
        }),
      )
  },
)

it('[DEL-6] exports and erases the data of a user also in deleted documents and organizations', async () => {
  const engine = await openMemoryEngine()
  const server = await startTestServer({}, { engine })
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  for (const organizationId of ['acme', 'globex']) await fillOrganization(post, organizationId)
  const typing = await syncedEditor(server.wsUrl, 'globex/d1/main', await server.token(zoe.userId, zoe))
  typing.close()
  const text = { type: 'text', data: 'Draft', userId: zoe.userId }
  await post('/v2/crdt/update', { ...editor, ...text })
  await post('/v2/crdt/branches/create', { ...editor, name: 'draft', userId: zoe.userId })
  await post('/v2/crdt/update', { ...editor, editorId: 'main@draft', ...text, data: 'Later' })
  const other = { organizationId: 'acme', documentId: 'd2', editorId: 'main' }
  await post('/v2/crdt/add', { ...other, type: 'text', data: 'Two', userId: zoe.userId })
  await post('/v2/crdt/branches/create', { ...other, name: 'draft', userId: zoe.userId })
  await post('/v2/crdt/update', { ...other, editorId: 'main@draft', ...text })
  await post('/v2/crdt/branches/delete', { ...other, name: 'draft' })
  await post('/v2/organizations/documents/delete', { organizationId: 'acme', documentIds: ['d1'] })
  await post('/v2/organizations/delete', { organizationIds: ['globex'] })
  const data = (await post('/v2/users/data/get', { userId: zoe.userId })) as { organizationId?: string }[]
  expect(new Set(data.map(({ organizationId }) => organizationId))).toContain('globex')
  await eventually(async () => {
    const report = (await post('/v2/users/data/delete', { userId: zoe.userId })) as { status: string }
    return report.status === 'done'
  })
  expect(await post('/v2/users/data/get', { userId: zoe.userId })).toEqual([])
  for (const { deletionId } of await deletions(server)) dataOf(await restore(server, deletionId))
  for (const organizationId of ['acme', 'globex']) {
    const part = organizationPart({ ...scopeOf(server), organizationId })
    const scan = (range: { readonly limit: number }) => engine.kv.scan(part, range)
    for await (const page of entryPages(scan, { limit: 500 }))
      for (const { key, value } of page)
        expect(`${key.join(' ')} ${Buffer.from(value).toString()}`).not.toContain(zoe.userId)
  }
  await server.stop()
})
