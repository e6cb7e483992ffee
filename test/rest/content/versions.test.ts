import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { versionLimits } from '../../../src/capabilities/history/limits.ts'
import { versionIdOf, versionKeys } from '../../../src/capabilities/history/version-keys.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { directoryOn } from '../../support/data/directory.ts'
import { statusOf } from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { HeldClock } from '../../support/time/clock.ts'

interface Version {
  readonly versionId: string
  readonly kind: string
  readonly label: string
  readonly createdAt: string
  readonly createdBy: string
  readonly sizeBytes: number
  readonly version: string
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

let clock: HeldClock
let engine: Engine
let server: TestServer
beforeAll(async () => {
  // The server checks tokens by this clock.
  clock = new HeldClock(Math.floor(Date.now() / 1000) * 1000)
  engine = await openMemoryEngine({ clock })
  server = await startTestServer({}, { engine, clock })
})
afterAll(() => server.stop())

let documents = 0
const nextEditor = () => {
  documents += 1
  return { organizationId: 'acme', documentId: `document ${documents}`, editorId: 'main' }
}
type EditorIds = ReturnType<typeof nextEditor>

const call = (operation: string, data: object) => server.post(`/v2/crdt/${operation}`, data)
const done = async (operation: string, data: object) => dataOf(await call(operation, data))
const create = async (editor: EditorIds, more: object = {}) =>
  (await done('versions/create', { ...editor, ...more })) as Version
const list = async (editor: EditorIds) => (await done('versions/list', editor)) as Version[]
const write = (editor: EditorIds, data: unknown, more: object = {}) =>
  done('update', { ...editor, type: 'text', data, upsert: true, ...more })
const textOf = async (editor: EditorIds) => ((await done('get', editor)) as { data: unknown }[])[0]?.data
const restore = (editor: EditorIds, { versionId }: Version, more: object = {}) =>
  done('versions/restore', { ...editor, versionId, ...more })
const pathOf = ({ organizationId, documentId, editorId }: EditorIds) =>
  [organizationId, documentId, editorId].map(encodeURIComponent).join('/')
const addressOf = (editor: EditorIds) => ({
  workspaceId: server.credentials.workspaceId,
  apiKey: server.credentials.apiKey,
  ...editor,
})

it('[VER-1] creates a version of the current content with label, metadata, time, creator, size, version and authors', async () => {
  const editor = nextEditor()
  await write(editor, 'first', { userId: 'ann' })
  const [{ version }] = (await done('get', editor)) as [{ version: string }]
  const made = await create(editor, { label: 'Sent', metadata: { ticket: 1 }, userId: 'bob' })
  expect(made).toEqual({
    versionId: expect.any(String),
    kind: 'manual',
    label: 'Sent',
    metadata: { ticket: 1 },
    createdAt: new Date(clock.now()).toISOString(),
    createdBy: 'bob',
    sizeBytes: expect.any(Number),
    version,
    authors: [{ userId: 'ann' }],
  })
  clock.advance(1)
  await write(editor, 'second')
  const read = (format: string) => done('versions/get', { ...editor, versionId: made.versionId, format })
  expect(await read('json')).toEqual({ ...made, data: 'first', type: 'text', contentKey: 'content' })
  expect(await read('delta')).toMatchObject({ data: [{ insert: 'first' }] })
  const { data } = (await read('update')) as { data: string }
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(data, 'base64'))
  expect(doc.getText('content').toString()).toBe('first')
  expect(Buffer.from(data, 'base64')).toHaveLength(made.sizeBytes)
  expect(statusOf(await call('versions/get', { ...editor, versionId: made.versionId, format: 'xml' }))).toBe(
    'INVALID_ARGUMENT',
  )
})

it('[VER-2] lists versions in pages, the newest first, and includes versions of the same moment', async () => {
  const editor = nextEditor()
  await write(editor, 'text')
  const made: string[] = []
  for (let number = 0; number < 7; number++) {
    made.push((await create(editor, { label: `${number}` })).versionId)
    if (number % 3 === 0) clock.advance(1)
  }
  const listed: string[] = []
  for (let pageToken: string | undefined; ; ) {
    const { body } = await call('versions/list', { ...editor, pageSize: 3, pageToken })
    const result = body.result as unknown as { data: Version[]; pageToken?: string }
    expect(result.data.length).toBeLessThanOrEqual(3)
    listed.push(...result.data.map(({ versionId }) => versionId))
    pageToken = result.pageToken
    if (pageToken === undefined) break
  }
  expect(listed).toEqual(made.toReversed())
})

it('[VER-3] returns NOT_FOUND if the editor has no content, or if the version is unknown, deleted or from another editor', async () => {
  const [editor, other] = [nextEditor(), nextEditor()]
  for (const operation of ['create', 'list'])
    expect(statusOf(await call(`versions/${operation}`, editor))).toBe('NOT_FOUND')
  await write(editor, 'text')
  await write(other, 'text')
  const { versionId } = await create(other)
  for (const operation of ['get', 'restore', 'delete'])
    for (const id of [versionId, 'none'])
      expect(statusOf(await call(`versions/${operation}`, { ...editor, versionId: id }))).toBe('NOT_FOUND')
  expect(await done('versions/delete', { ...other, versionId })).toEqual({ versionId })
  expect(await list(other)).toEqual([])
  for (const operation of ['get', 'restore', 'delete'])
    expect(statusOf(await call(`versions/${operation}`, { ...other, versionId }))).toBe('NOT_FOUND')
})

it('[VER-4] stores the content of equal versions only once, and keeps it until the last of these versions is deleted', async () => {
  const editor = nextEditor()
  const blobs = () => engine.blobs.list(['versions', ...Object.values(addressOf(editor))], { limit: 10 })
  await write(editor, 'text')
  const made = [await create(editor), await create(editor)]
  expect(await blobs()).toHaveLength(1)
  await write(editor, 'other')
  await create(editor)
  expect(await blobs()).toHaveLength(2)
  const [first, second] = made as [Version, Version]
  await done('versions/delete', { ...editor, versionId: first.versionId })
  expect(await done('versions/get', { ...editor, versionId: second.versionId })).toMatchObject({
    data: 'text',
  })
  await done('versions/delete', { ...editor, versionId: second.versionId })
  expect(await blobs()).toHaveLength(1)
})

it('[VER-5] limits labels, metadata, and the number of versions that callers create', async () => {
  const editor = nextEditor()
  await write(editor, 'text')
  const refused = async (more: object) => statusOf(await call('versions/create', { ...editor, ...more }))
  expect(await refused({ label: 'x'.repeat(versionLimits.labelCharacters + 1) })).toBe('INVALID_ARGUMENT')
  expect(await refused({ metadata: { text: 'x'.repeat(16_384) } })).toBe('INVALID_ARGUMENT')
  const { versionId } = await create(editor)
  const address = addressOf(editor)
  const { store } = directoryOn(engine, clock)
  await store.carryOut(address, async (transaction) => {
    const record = await transaction.get(versionKeys.version(address, versionId))
    for (let number = 1; number < versionLimits.manual; number++) {
      const id = versionIdOf(number, 'x')
      transaction.put(versionKeys.version(address, id), { ...record, versionId: id, createdAt: number })
    }
  })
  expect(await refused({})).toBe('FAILED_PRECONDITION')
  await done('versions/delete', { ...editor, versionId })
  expect(await refused({})).toBe('success')
})

it('[VER-9] shows a restore to clients live, keeps their cursors, and saves the former content as a version', async () => {
  const editor = nextEditor()
  await write(editor, 'one two three')
  const first = await create(editor)
  clock.advance(1)
  await write(editor, 'one and a half, two three!')
  const client = await syncedEditor(server.wsUrl, pathOf(editor), await server.token('ann'))
  const cursor = Y.createRelativePositionFromTypeIndex(client.text, 'one and a half, two '.length)
  let updates = 0
  client.doc.on('update', () => {
    updates += 1
  })
  const restored = (await restore(editor, first, { userId: 'bob' })) as { previousVersionId: string }
  expect(restored).toMatchObject({ changed: true, previousVersionId: expect.any(String) })
  await eventually(() => client.text.toString() === 'one two three')
  expect(updates).toBe(1)
  expect(Y.createAbsolutePositionFromRelativePosition(cursor, client.doc)?.index).toBe('one two '.length)
  const [entry] = (await done('get', editor)) as [{ lastUpdatedBy: string; version: string }]
  expect(entry.lastUpdatedBy).toBe('bob')

  const before = await list(editor)
  expect(before[0]).toMatchObject({
    versionId: restored.previousVersionId,
    kind: 'automatic',
    createdBy: 'bob',
  })
  expect(await restore(editor, first)).toEqual({
    version: entry.version,
    changed: false,
    bytes: 0,
    insertions: 0,
    deletions: 0,
    previousVersionId: null,
  })
  // The clock stands still, so bob may become an author of the version while the listings are read.
  const idsOf = (versions: readonly Version[]): readonly string[] =>
    versions.map(({ versionId }) => versionId)
  expect(idsOf(await list(editor))).toEqual(idsOf(before))
  clock.advance(1)
  await restore(editor, before[0] as Version)
  expect(await textOf(editor)).toBe('one and a half, two three!')
  client.close()
})

it('[VER-10] restores nothing in a dry run, if ifVersion is outdated, or if the document is disabled', async () => {
  const editor = nextEditor()
  await write(editor, 'first')
  const first = await create(editor)
  await write(editor, 'second')
  expect(await restore(editor, first, { dryRun: true })).toMatchObject({
    changed: true,
    previousVersionId: null,
  })
  expect(await textOf(editor)).toBe('second')
  const moved = await call('versions/restore', {
    ...editor,
    versionId: first.versionId,
    ifVersion: first.version,
  })
  expect(moved.body.error).toMatchObject({ status: 'ABORTED', details: { version: expect.any(String) } })
  expect(await list(editor)).toHaveLength(1)
  const { organizationId, documentId } = editor
  const disable = (disabled: boolean) =>
    server.post('/v2/organizations/documents/update', {
      organizationId,
      documents: [{ documentId, disabled }],
    })
  dataOf(await disable(true))
  expect(statusOf(await call('versions/restore', { ...editor, versionId: first.versionId }))).toBe(
    'FAILED_PRECONDITION',
  )
  dataOf(await disable(false))
  const [{ version }] = (await done('get', editor)) as [{ version: string }]
  expect(await restore(editor, first, { ifVersion: version })).toMatchObject({ changed: true })
  expect(await textOf(editor)).toBe('first')
})

it('[VER-11] lists the known users who edited since the previous version as authors, and passes authors of a deleted version to the next one', async () => {
  const editor = nextEditor()
  const namesOf = ({ authors }: Version) => authors.map(({ userId }) => userId)
  await write(editor, 'a', { userId: 'ann' })
  clock.advance(1)
  await write(editor, 'ab', { userId: 'ann' })
  await write(editor, 'abc')
  expect(namesOf(await create(editor))).toEqual(['ann'])
  clock.advance(1)
  expect(namesOf(await create(editor))).toEqual([])
  clock.advance(1)
  const client = await syncedEditor(server.wsUrl, pathOf(editor), await server.token('bob', { name: 'Bob' }))
  client.text.insert(0, 'x')
  await eventually(async () => (await textOf(editor)) === 'xabc')
  clock.advance(1)
  await write(editor, 'xabcd', { userId: 'ann' })
  const third = await create(editor)
  expect(third.authors).toEqual([{ userId: 'bob', name: 'Bob' }, { userId: 'ann' }])
  clock.advance(1)
  await write(editor, 'xabcde', { userId: 'cy' })
  clock.advance(1)
  const fourth = await create(editor)
  await done('versions/delete', { ...editor, versionId: third.versionId })
  expect(namesOf((await list(editor))[0] as Version)).toEqual(['bob', 'ann', 'cy'])
  await done('versions/delete', { ...editor, versionId: fourth.versionId })
  clock.advance(1)
  expect(namesOf(await create(editor))).toEqual(['bob', 'ann', 'cy'])
  client.close()
})
