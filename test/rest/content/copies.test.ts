import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import {
  type Answer,
  dataOf,
  metric,
  startTestServer,
  type TestServer,
} from '../../support/servers/server.ts'
import { otherKey } from '../../support/servers/tenants.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

interface Copied {
  readonly editors: readonly {
    readonly editorId: string
    readonly result: string
    readonly version?: string
  }[]
}

interface Thread {
  readonly annotationId: string
  readonly anchor?: { readonly editorId: string; readonly position: string }
  readonly anchorPlace?: { readonly quote: string }
  readonly comments: readonly { readonly text: string; readonly reactions: readonly object[] }[]
}

let documents = 0
const next = (editorId = 'main') => {
  documents += 1
  return { organizationId: 'acme', documentId: `copied-${documents}`, editorId }
}
type Editor = ReturnType<typeof next>

const call = (operation: string, data: object): Promise<Answer> => server.post(`/v2/${operation}`, data)
const done = async (operation: string, data: object): Promise<unknown> => dataOf(await call(operation, data))
const codeOf = ({ body }: Answer): unknown => body.error?.details?.code
const copy = async (to: object, from: object, more: object = {}): Promise<Copied> =>
  (await done('crdt/copy', { ...to, from, ...more })) as Copied
const add = (editor: Editor, data: unknown, more: object = {}) =>
  done('crdt/update', { ...editor, type: 'text', data, upsert: true, ...more })
const entryOf = async (editor: Editor, more: object = {}) =>
  ((await done('crdt/get', { ...editor, ...more })) as Record<string, unknown>[])[0]
const textOf = async (editor: Editor) => (await entryOf(editor))?.data
const threadsOf = async ({ organizationId, documentId }: Editor) =>
  (await done('commentannotations/get', { organizationId, documentId })) as readonly Thread[]
const toDocument = ({ organizationId, documentId }: Editor) => ({ organizationId, documentId })

it('[COPY-4] copies all editors of a document, without branches; stock clients read the copy, and both go their own ways', async () => {
  const [source, target] = [next(), next()]
  await add(source, 'One of Ann. ', { userId: 'ann', meta: { job: 1 } })
  await done('crdt/edit', {
    ...source,
    userId: 'bob',
    edits: [{ insert: { at: 'end', content: 'Two of Bob.' } }],
  })
  await done('crdt/update', {
    ...source,
    editorId: 'table',
    type: 'map',
    data: { rows: [1, 2] },
    upsert: true,
  })
  await done('crdt/branches/create', { ...source, name: 'draft', userId: 'ann' })
  const answer = await call('crdt/copy', { ...toDocument(target), from: toDocument(source), userId: 'cy' })
  expect(dataOf(answer)).toMatchObject({
    editors: [
      { editorId: 'main', result: 'created' },
      { editorId: 'table', result: 'created' },
    ],
  })
  expect(answer.body.result).toMatchObject({ created: { document: target.documentId } })
  const original = await entryOf(source, { attribution: true })
  const copied = await entryOf(target, { attribution: true })
  expect([copied?.data, copied?.attribution]).toEqual([original?.data, original?.attribution])
  expect(copied).toMatchObject({ lastUpdatedBy: 'cy' })
  expect((await entryOf({ ...target, editorId: 'table' }))?.data).toEqual({ rows: [1, 2] })
  const token = await server.token('dan')
  const [there, here] = await Promise.all(
    [target, source].map(({ documentId }) => syncedEditor(server.wsUrl, `acme/${documentId}/main`, token)),
  )
  expect(there?.text.toString()).toBe('One of Ann. Two of Bob.')
  there?.text.insert(0, 'Copy. ')
  here?.text.insert(0, 'Original. ')
  await eventually(async () => (await textOf(target)) === 'Copy. One of Ann. Two of Bob.')
  await eventually(async () => (await textOf(source)) === 'Original. One of Ann. Two of Bob.')
  const clients = [there, here].map((editor) => [...(editor?.doc.store.clients.keys() ?? [])])
  expect(clients[0]?.filter((client) => clients[1]?.includes(client))).toEqual([])
  there?.close()
  here?.close()
})

it('[COPY-4] copies a saved version of one editor, to another organization or to the same document', async () => {
  const source = next()
  await add(source, 'first', { userId: 'ann' })
  const { versionId } = (await done('crdt/versions/create', source)) as { versionId: string }
  await add(source, 'second', { userId: 'bob' })
  const from = { documentId: source.documentId, editorId: 'main' }
  expect(await copy({ ...source, editorId: 'old' }, { ...from, versionId })).toMatchObject({
    editors: [{ editorId: 'old', result: 'created' }],
  })
  const away = { ...next(), organizationId: 'other' }
  await copy(toDocument(away), { ...from, organizationId: 'acme' })
  expect([await textOf({ ...source, editorId: 'old' }), await textOf(away)]).toEqual(['first', 'second'])
  const runs = (await entryOf({ ...source, editorId: 'old' }, { attribution: true }))?.attribution
  expect(runs).toMatchObject([{ text: 'first', userId: 'ann' }])
  await done('crdt/delete', toDocument(away))
  await copy(toDocument(away), { ...from, organizationId: 'acme' })
  expect((await entryOf(away, { attribution: true }))?.attribution).toMatchObject([{ userId: 'bob' }])
  const missing = await call('crdt/copy', { ...next(), from: { ...from, versionId: 'none' } })
  expect(codeOf(missing)).toBe('version/not-found')
  expect(codeOf(await call('crdt/copy', { ...next(), from: next() }))).toBe('document/not-found')
  expect(codeOf(await call('crdt/copy', { ...source, from }))).toBe('crdt/content-exists')
  const unnamed = { ...next(), from: { documentId: source.documentId } }
  expect(codeOf(await call('crdt/copy', unnamed))).toBe('request/invalid-member')
})

it('[COPY-5] fails before it writes, skips, or replaces the content of editors that exist', async () => {
  const [source, target] = [next(), next()]
  await add(source, 'new text')
  await add({ ...source, editorId: 'notes' }, 'new notes')
  await add({ ...target, editorId: 'notes' }, 'old notes')
  const failed = await call('crdt/copy', { ...toDocument(target), from: toDocument(source) })
  expect(codeOf(failed)).toBe('crdt/content-exists')
  expect(codeOf(await call('crdt/get', target))).toBe('crdt/no-content')
  const token = await server.token('dan')
  const live = await syncedEditor(server.wsUrl, `acme/${target.documentId}/notes`, token)
  expect((await copy(toDocument(target), toDocument(source), { onConflict: 'skip' })).editors).toMatchObject([
    { editorId: 'main', result: 'created' },
    { editorId: 'notes', result: 'skipped' },
  ])
  expect(live.text.toString()).toBe('old notes')
  const again = await copy(toDocument(target), toDocument(source), { onConflict: 'replace', userId: 'cy' })
  expect(again.editors).toMatchObject([{ result: 'replaced' }, { editorId: 'notes', result: 'replaced' }])
  await eventually(() => live.text.toString() === 'new notes')
  live.close()
  const notes = { ...target, editorId: 'notes' }
  expect(await done('crdt/versions/list', notes)).toMatchObject([{ kind: 'automatic', createdBy: 'cy' }])
  expect(await done('crdt/versions/list', target)).toEqual([])
})

it('[COPY-10] crdt/add creates an editor as a copy, and rejects other content beside it', async () => {
  const [source, target] = [next(), next()]
  const copyFrom = { documentId: source.documentId }
  await add(source, 'Dear Ann', { userId: 'ann' })
  const missing = await call('crdt/add', { ...target, copyFrom: { documentId: 'missing' } })
  expect(codeOf(missing)).toBe('document/not-found')
  const unknown = await call('crdt/add', { ...target, copyFrom: { ...copyFrom, versionId: 'unknown' } })
  expect(codeOf(unknown)).toBe('version/not-found')
  expect(codeOf(await call('crdt/get', target))).toBe('document/not-found')
  const { versionId } = (await done('crdt/versions/create', { ...source, label: 'form' })) as {
    versionId: string
  }
  await add(source, 'Dear Bob', { userId: 'bob' })
  const answer = await call('crdt/add', { ...target, copyFrom, userId: 'cy' })
  expect(answer.body.result).toMatchObject({ created: { document: target.documentId } })
  const [original, copied] = [
    await entryOf(source, { attribution: true }),
    await entryOf(target, { attribution: true }),
  ]
  expect([copied?.data, copied?.attribution]).toEqual([original?.data, original?.attribution])
  expect(dataOf(answer)).toEqual({ version: copied?.version, changed: true })
  expect(codeOf(await call('crdt/add', { ...target, copyFrom }))).toBe('crdt/content-exists')
  const older = { ...target, editorId: 'older' }
  await done('crdt/add', { ...older, copyFrom: { ...copyFrom, editorId: 'main', versionId } })
  expect(await textOf(older)).toBe('Dear Ann')
  for (const wrong of [
    { copyFrom, data: 'x', type: 'text' },
    { copyFrom, schema: 'tiptap' },
    { data: 'x' },
    {},
  ])
    expect(codeOf(await call('crdt/add', { ...next(), ...wrong }))).toBe('request/invalid-member')
})

it('[COPY-6] copies threads once, with anchors at the same text, and leaves the originals', async () => {
  const source = next()
  await add(source, 'The quick brown fox jumps over the lazy dog.')
  await done('crdt/edit', { ...source, edits: [{ replace: { find: 'quick ', with: '' } }] })
  const actionUser = { userId: 'ann', name: 'Ann' }
  const comments = [
    { commentId: 'c1', from: actionUser, text: 'Which fox?' },
    { commentId: 'c2', from: { userId: 'bob' }, text: 'This one.' },
  ]
  const document = toDocument(source)
  await done('commentannotations/add', {
    ...document,
    actionUser,
    annotations: [
      { annotationId: `fox-${documents}`, anchor: { editorId: 'main', quote: 'brown fox' }, comments },
      { annotationId: `all-${documents}`, status: 'resolved', comments: [{ ...comments[0], text: 'Fine.' }] },
    ],
  })
  const reactions = [{ reactionId: 'r1', reaction: '👍', user: actionUser }]
  const at = { ...document, annotationId: `fox-${documents}`, commentId: 'c1' }
  await done('commentannotations/comments/reactions/add', { ...at, actionUser, reactions })
  const before = await threadsOf(source)
  const target = next('copy')
  await copy(toDocument(target), document)
  expect(await threadsOf(target)).toEqual([])
  const full = next()
  const from = { documentId: source.documentId }
  await copy(toDocument(full), from, { withComments: true })
  await copy(toDocument(full), from, { withComments: true, onConflict: 'skip' })
  const copied = await threadsOf(full)
  const withoutIds = (threads: readonly Thread[]) =>
    threads.map(({ annotationId, anchor, ...thread }) => ({
      ...thread,
      isNamed: annotationId !== '',
      isAnchored: anchor !== undefined,
    }))
  const expected = withoutIds(before).map((thread) => ({ ...thread, documentId: full.documentId }))
  expect(withoutIds(copied)).toEqual(expected)
  expect(copied.map(({ anchorPlace }) => anchorPlace?.quote)).toEqual([undefined, 'brown fox'])
  expect(await threadsOf(source)).toEqual(before)
  await done('crdt/edit', { ...full, edits: [{ insert: { at: 'start', content: 'Look: ' } }] })
  expect((await threadsOf(full))[1]?.anchorPlace).toMatchObject({ quote: 'brown fox', before: 'Look: The ' })
  // As after a call that was interrupted between the threads and the content.
  await done('crdt/delete', toDocument(full))
  await copy(toDocument(full), from, { withComments: true })
  expect((await threadsOf(full)).map(({ anchorPlace }) => anchorPlace?.quote)).toEqual([
    undefined,
    'brown fox',
  ])
  await copy(target, { ...from, editorId: 'main' }, { withComments: true })
  expect(await threadsOf(target)).toMatchObject([{ anchor: { editorId: 'copy' }, comments: [{}, {}] }])
})

it('[COPY-7] a new document has the access type of its source, and its editors their schemas', async () => {
  const [source, target] = [next(), next()]
  const document = { documentId: source.documentId, accessType: 'restricted' }
  await done('organizations/documents/add', { organizationId: 'acme', documents: [document] })
  const data = '<paragraph>text</paragraph>'
  await done('crdt/add', { ...source, type: 'xml', contentKey: 'default', data, schema: 'tiptap' })
  await copy(toDocument(target), toDocument(source))
  const query = { organizationId: 'acme', documentIds: [target.documentId] }
  const found = await done('organizations/documents/get', query)
  expect(JSON.stringify(found)).toContain('"accessType":"restricted"')
  const wrong = { ...target, type: 'xml', data: '<nonsense>x</nonsense>' }
  expect(codeOf(await call('crdt/update', wrong))).toBe('crdt/schema-violation')
})

it('[COPY-7] does not find content of another API key, and does not change a disabled document', async () => {
  const [source, target] = [next(), next()]
  await add(source, 'text')
  await add(target, 'other')
  const disabled = { documentId: target.documentId, disabled: true }
  await done('organizations/documents/update', { organizationId: 'acme', documents: [disabled] })
  const to = { ...target, editorId: 'copy' }
  const from = { documentId: source.documentId, editorId: 'main' }
  expect(codeOf(await call('crdt/copy', { ...to, from }))).toBe('document/disabled')
  const { headers } = await otherKey(server)
  const strange = { ...next(), organizationId: 'strange', from: { ...from, organizationId: 'acme' } }
  expect(codeOf(await server.post('/v2/crdt/copy', strange, headers))).toBe('organization/not-found')
})

it('[COPY-8] copies a document in pages', async () => {
  const [source, target] = [next(), next()]
  for (const editorId of ['a', 'b', 'c', 'd', 'e']) await add({ ...source, editorId }, `text of ${editorId}`)
  const request = { ...toDocument(target), from: toDocument(source), pageSize: 2, onConflict: 'fail' }
  const copied: string[] = []
  for (let pageToken: string | undefined; ; ) {
    const answer = await call('crdt/copy', { ...request, ...(pageToken !== undefined && { pageToken }) })
    copied.push(...(dataOf(answer) as Copied).editors.map(({ editorId }) => editorId))
    pageToken = (answer.body.result as { pageToken?: string }).pageToken
    if (pageToken === undefined) break
  }
  expect(copied).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(await textOf({ ...target, editorId: 'e' })).toBe('text of e')
})

it('[COPY-4] [COPY-6] copies a large editor on a thread, with its authors and anchors', async () => {
  const [source, target] = [next(), next()]
  const start = 'A paragraph that is long enough. '.repeat(8_000)
  await add(source, `${start}The brown fox.`, { userId: 'ann' })
  await add(source, `${start}The lazy brown fox.`, { userId: 'bob' })
  const anchor = { editorId: 'main', quote: 'brown fox' }
  const actionUser = { userId: 'bob' }
  await done('commentannotations/add', { ...toDocument(source), actionUser, annotations: [{ anchor }] })
  const jobs = 'weft_thread_jobs_total{purpose="read",outcome="done"}'
  const before = await metric(server, jobs)
  await copy(toDocument(target), toDocument(source), { withComments: true })
  expect((await metric(server, jobs)) - before).toBe(1)
  const [original, copied] = await Promise.all(
    [source, target].map((editor) => entryOf(editor, { attribution: true })),
  )
  expect(copied?.attribution).toEqual(original?.attribution)
  expect(copied?.attribution).toMatchObject([{ userId: 'ann' }, { userId: 'bob' }, { userId: 'ann' }])
  expect(await threadsOf(target)).toMatchObject([{ anchorPlace: { quote: 'brown fox' } }])
})
