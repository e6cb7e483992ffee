import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { schemasMax } from '../../../src/core/directory/schemas/schema-service.ts'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

interface Address {
  readonly organizationId: string
  readonly documentId: string
  readonly editorId: string
}

beforeAll(async () => {
  server = await startTestServer({ engine: 'level' })
})

afterAll(() => server.stop())

const newAddress = (): Address => ({
  organizationId: 'acme',
  documentId: `schema-${++documents}`,
  editorId: 'main',
})

const add = (address: Address, data: string, more: object = {}) =>
  server.post('/v2/crdt/add', { ...address, type: 'xml', data, ...more })

const update = (address: Address, data: unknown, more: object = {}) =>
  server.post('/v2/crdt/update', { ...address, type: 'xml', data, ...more })

async function read(address: Address): Promise<Record<string, unknown>> {
  const answer = await server.post('/v2/crdt/get', { ...address })
  return (dataOf(answer) as Record<string, unknown>[])[0] ?? {}
}

const small = {
  nodes: { doc: { content: 'line+' }, line: { content: 'text*' }, text: {} },
  marks: { bold: {} },
  contentKey: 'lines',
}

const errorOf = ({ body }: { body: unknown }): Record<string, unknown> =>
  (body as { error: { details: Record<string, unknown> } }).error.details

it('[FMT-87] stores, lists, replaces and deletes schemas when a backend asks for it', async () => {
  expect(dataOf(await server.post('/v2/crdt/schemas/set', { name: 'a', schema: small }))).toEqual({
    name: 'a',
    created: true,
  })
  const changed = { ...small, marks: {} }
  expect(dataOf(await server.post('/v2/crdt/schemas/set', { name: 'a', schema: changed }))).toMatchObject({
    created: false,
  })
  await server.post('/v2/crdt/schemas/set', { name: 'b', schema: small })
  expect(dataOf(await server.post('/v2/crdt/schemas/get', { name: 'a' }))).toMatchObject({
    name: 'a',
    schema: changed,
  })
  const first = await server.post('/v2/crdt/schemas/list', { pageSize: 1 })
  expect(dataOf(first)).toMatchObject([{ name: 'a' }])
  const { pageToken } = (first.body as unknown as { result: { pageToken: string } }).result
  expect(dataOf(await server.post('/v2/crdt/schemas/list', { pageSize: 1, pageToken }))).toMatchObject([
    { name: 'b' },
  ])
  expect((await server.post('/v2/crdt/schemas/delete', { name: 'a' })).status).toBe(200)
  const again = await server.post('/v2/crdt/schemas/delete', { name: 'a' })
  expect([again.status, errorOf(again).code]).toEqual([404, 'schema/not-found'])
  await server.post('/v2/crdt/schemas/delete', { name: 'b' })
  expect(dataOf(await server.post('/v2/crdt/schemas/list', {}))).toEqual([])
})

it('[FMT-87] rejects a schema that is invalid, has the name of a preset, or exceeds the number', async () => {
  const invalid = await server.post('/v2/crdt/schemas/set', { name: 'a', schema: { nodes: {} } })
  expect([invalid.status, errorOf(invalid)]).toMatchObject([400, { code: 'schema/invalid', path: '/nodes' }])
  const taken = await server.post('/v2/crdt/schemas/set', { name: 'tiptap', schema: small })
  expect([taken.status, errorOf(taken).code]).toEqual([400, 'schema/name-taken'])
  for (let at = 0; at < schemasMax; at += 1)
    await server.post('/v2/crdt/schemas/set', { name: `full-${at}`, schema: small })
  const further = await server.post('/v2/crdt/schemas/set', { name: 'further', schema: small })
  expect([further.status, errorOf(further).code]).toEqual([400, 'schema/too-many'])
  for (let at = 0; at < schemasMax; at += 1)
    await server.post('/v2/crdt/schemas/delete', { name: `full-${at}` })
})

it('[FMT-88] attaches a schema to an editor, and rejects each later write that it does not allow', async () => {
  const address = newAddress()
  const added = await add(address, '<paragraph>a</paragraph>', { schema: 'tiptap' })
  expect(dataOf(added)).toMatchObject({ contentKey: 'default' })
  const before = await read(address)
  expect(before).toMatchObject({ schema: 'tiptap', contentKey: 'default', data: '<paragraph>a</paragraph>' })
  const rejected = await update(address, '<paragraph>a</paragraph><h2>b</h2>')
  expect([rejected.status, errorOf(rejected)]).toEqual([
    400,
    expect.objectContaining({
      code: 'crdt/schema-violation',
      path: '/doc/h2[1]',
      schema: 'tiptap',
      allowed: expect.arrayContaining(['heading']),
    }),
  ])
  expect(await read(address)).toEqual(before)
  expect((await update(address, '<paragraph>a</paragraph><heading level="2">b</heading>')).status).toBe(200)
})

it('[FMT-88] checks edits, and changes nothing when an edit breaks the schema', async () => {
  const address = newAddress()
  await server.post('/v2/crdt/add', { ...address, type: 'delta', data: [{ insert: 'a' }], schema: 'quill' })
  const before = await read(address)
  const mark = (name: string) =>
    server.post('/v2/crdt/edit', { ...address, edits: [{ mark: { find: 'a', name, value: true } }] })
  const rejected = await mark('shout')
  expect([rejected.status, errorOf(rejected)]).toMatchObject([
    400,
    { code: 'crdt/schema-violation', path: '/text/@shout' },
  ])
  expect(await read(address)).toEqual(before)
  expect((await mark('bold')).status).toBe(200)
})

it('[FMT-88] attaches the schema of an edit, unless the result of the edit breaks it', async () => {
  const address = newAddress()
  await add(address, '<paragraph>a</paragraph>', { contentKey: 'default' })
  const before = await read(address)
  const insert = (content: string) =>
    server.post('/v2/crdt/edit', {
      ...address,
      schema: 'tiptap',
      edits: [{ insert: { at: 'end', format: 'xml', content } }],
    })
  const rejected = await insert('<h2>b</h2>')
  expect([rejected.status, errorOf(rejected)]).toMatchObject([
    400,
    { code: 'crdt/schema-violation', path: '/doc/h2[1]' },
  ])
  expect(await read(address)).toEqual(before)
  expect((await insert('<heading level="2">b</heading>')).status).toBe(200)
  expect(await read(address)).toMatchObject({
    schema: 'tiptap',
    data: '<paragraph>a</paragraph><heading level="2">b</heading>',
  })
})

it('[FMT-88] attaches nothing when the write is rejected or is a dry run', async () => {
  const address = newAddress()
  expect((await add(address, '<h2>a</h2>', { schema: 'tiptap' })).status).toBe(400)
  expect((await server.post('/v2/crdt/get', { ...address })).status).toBe(404)
  await add(address, '<line>a</line>', { contentKey: 'default' })
  const tried = await update(address, '<paragraph>a</paragraph>', { schema: 'tiptap', dryRun: true })
  expect(tried.status).toBe(200)
  expect(await read(address)).not.toHaveProperty('schema')
})

it('[FMT-88] checks large content on a thread', async () => {
  const address = newAddress()
  const many = '<paragraph>some words</paragraph>'.repeat(5_000)
  expect((await add(address, many, { schema: 'tiptap' })).status).toBe(200)
  const before = await read(address)
  const rejected = await update(address, `${many}<h2>b</h2>`)
  expect([rejected.status, errorOf(rejected)]).toMatchObject([
    400,
    { code: 'crdt/schema-violation', path: '/doc/h2[5000]' },
  ])
  expect(await read(address)).toEqual(before)
})

it('[FMT-93] accepts writes next to a node that an editor has added and the schema lacks', async () => {
  const address = newAddress()
  await add(address, '<paragraph>a</paragraph><paragraph>b</paragraph>', { schema: 'tiptap' })
  const { documentId, editorId } = address
  const editor = await syncedEditor(server.wsUrl, `acme/${documentId}/${editorId}`, await server.token('ada'))
  const poll = new Y.XmlElement('poll')
  poll.insert(0, [new Y.XmlText('which?')])
  editor.doc.getXmlFragment('default').insert(1, [poll])
  await eventually(async () => String((await read(address)).data).includes('poll'))
  const warnings = [
    'the content did not match the schema "tiptap" before, at /doc/poll[1]: the schema has no node "poll"; ' +
      'it stays as it is, and editors may remove it',
  ]
  const edited = await server.post('/v2/crdt/edit', {
    ...address,
    edits: [{ replace: { find: 'a', with: 'new' } }],
  })
  expect(edited.body.result).toMatchObject({ data: { changed: true }, warnings })
  const markdown = await server.post('/v2/crdt/get', { ...address, format: 'markdown' })
  const [{ data }] = dataOf(markdown) as [{ data: string }]
  const appended = await update(address, `${data}\nmore\n`, { type: 'markdown' })
  expect(appended.body.result).toMatchObject({ data: { changed: true }, warnings })
  const poll2 = '<poll>which?</poll>'
  expect((await read(address)).data).toBe(
    `<paragraph>new</paragraph>${poll2}<paragraph>b</paragraph><paragraph>more</paragraph>`,
  )
  const another = await update(address, `<paragraph>new</paragraph>${poll2}<paragraph>b</paragraph>${poll2}`)
  expect([another.status, errorOf(another)]).toMatchObject([400, { path: '/doc/poll[3]' }])
  const same = await update(address, `<paragraph>only</paragraph>${poll2}`)
  expect(same.body.result).toMatchObject({ data: { changed: true }, warnings })
  const without = await update(address, '<paragraph>only</paragraph>')
  expect([without.status, without.body.result]).toEqual([200, expect.not.objectContaining({ warnings })])
  editor.close()
})

it('[FMT-191] checks the merged content of a base version, and accepts what broke the schema before', async () => {
  const address = newAddress()
  const [one, two] = ['<paragraph>one</paragraph>', '<paragraph>two</paragraph>']
  await add(address, one + two, { schema: 'tiptap' })
  const { version: baseVersion } = await read(address)
  const mark = (name: string, find: string, more: object = {}) =>
    server.post('/v2/crdt/edit', { ...address, edits: [{ mark: { find, name, value: {} } }], ...more })
  dataOf(await mark('code', 'one'))
  const refused = await mark('bold', 'one', { baseVersion })
  expect([refused.status, errorOf(refused)]).toMatchObject([
    400,
    { code: 'crdt/schema-violation', path: '/doc/paragraph[0]/text[0]' },
  ])
  expect((await read(address)).data).toBe(`<paragraph><code>one</code></paragraph>${two}`)
  const editor = await syncedEditor(
    server.wsUrl,
    `acme/${address.documentId}/${address.editorId}`,
    await server.token('ada'),
  )
  editor.doc.getXmlFragment('default').insert(1, [new Y.XmlElement('poll')])
  await eventually(async () => String((await read(address)).data).includes('poll'))
  const merged = await mark('bold', 'two', { baseVersion })
  expect(merged.body.result).toMatchObject({
    data: { changed: true },
    warnings: [expect.stringContaining('at /doc/poll[1]')],
  })
  editor.close()
})

it('[FMT-191] applies updates, restores versions, merges branches and undoes next to a node that the schema lacks', async () => {
  const address = newAddress()
  const { documentId, editorId } = address
  await add(address, '<paragraph>a</paragraph><paragraph>b</paragraph>', { schema: 'tiptap' })
  const token = await server.token('ada')
  const editor = await syncedEditor(server.wsUrl, `acme/${documentId}/${editorId}`, token)
  const root = editor.doc.getXmlFragment('default')
  const paragraph = (text: string): Y.XmlElement => {
    const element = new Y.XmlElement('paragraph')
    element.insert(0, [new Y.XmlText(text)])
    return element
  }
  root.insert(1, [new Y.XmlElement('poll')])
  const shown = async (): Promise<string> => String((await read(address)).data)
  await eventually(async () => (await shown()).includes('poll'))
  const call = async (operation: string, data: object = {}) => {
    const { body } = await server.post(`/v2/crdt/${operation}`, { ...address, ...data })
    return { data: body.result?.data as Record<string, string>, error: body.error, result: body.result }
  }
  const warnings = [expect.stringMatching(/before, at .doc.poll.[12].: the schema has no node "poll"/)]
  const changed = { result: { data: { changed: true }, warnings } }
  const update = (change: (fragment: Y.XmlFragment) => void): string => {
    const copy = new Y.Doc()
    Y.applyUpdate(copy, Y.encodeStateAsUpdate(editor.doc))
    const before = Y.encodeStateVector(copy)
    change(copy.getXmlFragment('default'))
    return Buffer.from(Y.encodeStateAsUpdate(copy, before)).toString('base64')
  }
  const version = await call('versions/create')
  expect(await call('apply', { update: update((copy) => copy.push([paragraph('c')])) })).toMatchObject(
    changed,
  )
  await eventually(() => root.length === 4)
  const second = update((copy) => copy.push([new Y.XmlElement('poll')]))
  expect(await call('apply', { update: second })).toMatchObject({
    error: { details: { path: '/doc/poll[4]' } },
  })
  const { versionId } = version.data
  expect(await call('versions/restore', { versionId })).toMatchObject(changed)
  expect(await shown()).toBe('<paragraph>a</paragraph><poll/><paragraph>b</paragraph>')
  const branch = { name: 'draft', userId: 'ada' }
  const { branchEditorId } = (await call('branches/create', branch)).data
  const draft = await syncedEditor(server.wsUrl, `acme/${documentId}/${branchEditorId}`, token)
  const fragment = draft.doc.getXmlFragment('default')
  fragment.push([paragraph('d')])
  fragment.insert(0, [paragraph('e')])
  const hunks = async () =>
    (await call('branches/diff', branch)).data.hunks as unknown as { hunkId: string }[]
  await eventually(async () => (await hunks()).length === 2)
  const [first] = await hunks()
  expect(await call('branches/merge', { ...branch, hunks: [first?.hunkId] })).toMatchObject(changed)
  expect(await call('branches/merge', branch)).toMatchObject(changed)
  const [{ version: from }] = dataOf(await server.post('/v2/crdt/get', address)) as [{ version: string }]
  const edits = [{ replace: { find: 'a', with: 'new' } }]
  expect(await call('edit', { edits, userId: 'bob' })).toMatchObject(changed)
  expect(await call('undo', { from, by: 'bob' })).toMatchObject(changed)
  for (const each of [editor, draft]) each.close()
})

it('[FMT-89] replaces the attached schema only if the content matches the new one', async () => {
  await server.post('/v2/crdt/schemas/set', { name: 'lines', schema: small })
  const address = newAddress()
  expect(dataOf(await add(address, '<line>a</line>', { schema: 'lines' }))).toMatchObject({
    contentKey: 'lines',
  })
  const rejected = await update(address, '<line>a</line>', { schema: 'tiptap', contentKey: 'lines' })
  expect([rejected.status, errorOf(rejected)]).toMatchObject([
    400,
    { code: 'crdt/schema-attached', attached: 'lines', schema: 'tiptap', path: '/doc/line[0]' },
  ])
  expect(await read(address)).toMatchObject({ schema: 'lines' })
  const replaced = await update(address, '<paragraph>a</paragraph>', {
    schema: 'tiptap',
    contentKey: 'lines',
  })
  expect(replaced.status).toBe(200)
  expect(await read(address)).toMatchObject({ schema: 'tiptap', contentKey: 'lines' })
})

it('[FMT-89] rejects a write when the schema does not exist, also if it was deleted later', async () => {
  const address = newAddress()
  const unknown = await add(address, '<line>a</line>', { schema: 'nothing' })
  expect([unknown.status, errorOf(unknown).code]).toEqual([404, 'schema/not-found'])
  await server.post('/v2/crdt/schemas/set', { name: 'gone', schema: small })
  await add(address, '<line>a</line>', { schema: 'gone' })
  await server.post('/v2/crdt/schemas/delete', { name: 'gone' })
  const rejected = await update(address, '<line>b</line>')
  expect([rejected.status, errorOf(rejected).code]).toEqual([404, 'schema/not-found'])
})

it('[FMT-89] deletes the attachment of a schema when its document is deleted', async () => {
  const address = newAddress()
  await add(address, '<paragraph>a</paragraph>', { schema: 'tiptap' })
  const { organizationId, documentId } = address
  await server.post('/v2/organizations/documents/delete', { organizationId, documentIds: [documentId] })
  await add(address, '<h2>a</h2>', { contentKey: 'default' })
  expect(await read(address)).not.toHaveProperty('schema')
})

it('[FMT-90] uses the root of the schema when a call names none', async () => {
  const address = newAddress()
  await add(address, '<line>a</line>', { contentKey: 'other' })
  const written = await update(address, '<paragraph>b</paragraph>', { schema: 'prosemirror', newRoot: true })
  expect(dataOf(written)).toMatchObject({ contentKey: 'prosemirror' })
  expect(await read(address)).toMatchObject({ contentKey: 'prosemirror', data: '<paragraph>b</paragraph>' })
  const given = await server.post('/v2/crdt/get', { ...address, contentKey: 'other' })
  expect(dataOf(given)).toMatchObject([{ contentKey: 'other', data: '<line>a</line>' }])
})

/** Returns the update (base64) that inserts an element at the end of a root of the editor. */
async function insertion(address: Address, name: string, attribute?: string): Promise<string> {
  const whole = await server.post('/v2/crdt/get', { ...address, format: 'update' })
  const [{ data }] = dataOf(whole) as [{ data: string }]
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Buffer.from(data, 'base64'))
  const before = Y.encodeStateVector(doc)
  const element = new Y.XmlElement(name)
  if (attribute !== undefined) element.setAttribute('level', attribute)
  const root = doc.getXmlFragment('default')
  root.insert(root.length, [element])
  return Buffer.from(Y.encodeStateAsUpdate(doc, before)).toString('base64')
}

const applied = (address: Address, bytes: string) =>
  server.post('/v2/crdt/apply', { ...address, update: bytes })

it('[FMT-157] rejects an update by a backend when it breaks the schema, and changes nothing', async () => {
  const address = newAddress()
  await add(address, '<paragraph>a</paragraph>', { schema: 'tiptap' })
  const before = await read(address)
  const rejected = await applied(address, await insertion(address, 'h2'))
  expect([rejected.status, errorOf(rejected)]).toMatchObject([
    400,
    { code: 'crdt/schema-violation', path: '/doc/h2[1]', schema: 'tiptap' },
  ])
  expect(await read(address)).toEqual(before)
  const fitting = await applied(address, await insertion(address, 'horizontalRule'))
  expect([fitting.status, (await read(address)).data]).toEqual([
    200,
    '<paragraph>a</paragraph><horizontalRule/>',
  ])
})

it('[FMT-157] checks an update of a large document on a thread', async () => {
  const address = newAddress()
  const long = `<paragraph>${'word '.repeat(20_000)}</paragraph>`
  await add(address, long, { schema: 'tiptap' })
  const before = await read(address)
  const rejected = await applied(address, await insertion(address, 'h2'))
  expect([rejected.status, errorOf(rejected).code]).toEqual([400, 'crdt/schema-violation'])
  expect(await read(address)).toEqual(before)
  expect((await applied(address, await insertion(address, 'horizontalRule'))).status).toBe(200)
  expect((await read(address)).data).toBe(`${long}<horizontalRule/>`)
})

it('[FMT-158] rejects the restoration of a version that does not match the schema, and changes nothing', async () => {
  const address = newAddress()
  await add(address, '<h2>a</h2>', { contentKey: 'default' })
  const { versionId } = dataOf(await server.post('/v2/crdt/versions/create', { ...address })) as {
    versionId: string
  }
  await update(address, '<paragraph>b</paragraph>', { schema: 'tiptap' })
  const before = await read(address)
  const restored = (more: object = {}) =>
    server.post('/v2/crdt/versions/restore', { ...address, versionId, ...more })
  const versions = () => server.post('/v2/crdt/versions/list', { ...address })
  const listed = dataOf(await versions())
  for (const more of [{}, { dryRun: true }]) {
    const rejected = await restored(more)
    expect([rejected.status, errorOf(rejected)]).toMatchObject([
      400,
      { code: 'crdt/schema-violation', path: '/doc/h2[0]', schema: 'tiptap' },
    ])
  }
  expect([await read(address), dataOf(await versions())]).toEqual([before, listed])
})

it('[FMT-158] restores a version that matches the schema', async () => {
  const address = newAddress()
  await add(address, '<paragraph>a</paragraph>', { schema: 'tiptap' })
  const { versionId } = dataOf(await server.post('/v2/crdt/versions/create', { ...address })) as {
    versionId: string
  }
  await update(address, '<paragraph>b</paragraph>')
  expect((await server.post('/v2/crdt/versions/restore', { ...address, versionId })).status).toBe(200)
  expect((await read(address)).data).toBe('<paragraph>a</paragraph>')
})

it.each(['xml', 'markdown', 'html', 'prosemirror', 'update', 'roots'])(
  '[FMT-161] returns the name of the attached schema when the format is %s',
  async (format) => {
    const address = newAddress()
    await add(address, '<paragraph>a</paragraph>', { schema: 'tiptap' })
    const answer = await server.post('/v2/crdt/get', { ...address, format })
    expect(dataOf(answer)).toMatchObject([{ schema: 'tiptap', contentKey: 'default' }])
  },
)
