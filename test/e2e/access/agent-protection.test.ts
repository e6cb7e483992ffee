import { afterAll, beforeAll, expect, it } from 'vitest'
import type * as Y from 'yjs'
import { eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { ContentStream } from '../../support/clients/content-stream.ts'
import { connectMcp } from '../../support/clients/mcp-client.ts'
import { agentToken, callsWith, codeOf, withoutKey } from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const permissionDenied = [2, 0]
/** A schema with clauses of a contract that agents must not change. */
const contract = {
  nodes: {
    doc: { content: 'block+' },
    paragraph: { content: 'text*', group: 'block', attributes: { locked: { default: false } } },
    text: {},
  },
  marks: { approved: { attributes: { by: { type: 'string' } } }, bold: {} },
  contentKey: 'default',
  protected: ['approved', 'locked'],
}
const approved = (text: string): string => `<approved by="ann">${text}</approved>`
const content =
  '<paragraph>First</paragraph>' +
  `<paragraph>We pay ${approved('100 euros')} each month.</paragraph>` +
  '<paragraph locked="yes">The law of Malta applies.</paragraph>' +
  '<paragraph>Last</paragraph>'

let server: TestServer
let count = 0

beforeAll(async () => {
  server = await startTestServer()
  dataOf(await server.post('/v2/crdt/schemas/set', { name: 'contract', schema: contract }))
})
afterAll(() => server.stop())

interface Made {
  readonly type?: string
  readonly data?: unknown
  readonly schema?: string
  readonly names?: readonly string[]
}

/** Creates a document, and an agent that edits it. */
async function make({ type = 'xml', data = content, schema = 'contract', names }: Made = {}) {
  count += 1
  const place = { organizationId: 'acme', documentId: `protected-${count}`, editorId: 'main' }
  const attached = schema === '' ? {} : { schema, contentKey: 'default' }
  const { version } = dataOf(await server.post('/v2/crdt/add', { ...place, type, data, ...attached })) as {
    version: string
  }
  const token = await agentToken(server, 'bot', names && { protected: names })
  const call = callsWith(server, token)
  const read = async (editorId = 'main') => {
    const answer = await server.post('/v2/crdt/get', {
      ...place,
      editorId,
      format: type === 'map' ? 'json' : type,
    })
    return (dataOf(answer) as { data: unknown }[])[0]?.data
  }
  const edit = (edit: object, members: object = {}) =>
    call('/v2/crdt/edit', { ...place, edits: [edit], ...members })
  const stream = { ...withoutKey, authorization: `Bearer ${token}` }
  return { place, version, token, call, read, edit, stream }
}

const bold = { name: 'bold', value: {} }

it.each([
  ['replaces protected text', { replace: { find: '100 euros', with: '200 euros' } }],
  ['replaces a part of it', { replace: { find: '100', with: '200' } }],
  ['removes it', { remove: { target: '100 euros' } }],
  ['removes its block', { remove: { target: { block: 1 } } }],
  ['inserts text into it', { insert: { after: '100', content: ' or 200' } }],
  ['formats it', { mark: { find: 'euros', ...bold } }],
  ['removes the mark', { mark: { find: '100 euros', name: 'approved', value: null } }],
  ['changes the mark', { mark: { find: '100 euros', name: 'approved', value: { by: 'bot' } } }],
  ['adds the mark', { mark: { find: 'month', name: 'approved', value: { by: 'bot' } } }],
  ['changes a protected block', { replace: { find: 'Malta', with: 'Italy' } }],
  ['formats a protected block', { mark: { find: 'Malta', ...bold } }],
  ['removes the attribute', { attributes: { target: { block: 2 }, set: { locked: null } } }],
  ['adds the attribute', { attributes: { target: { block: 0 }, set: { locked: 'yes' } } }],
])('[AGT-25] [AGT-26] rejects an edit of an agent that %s', async (_, change) => {
  const { edit, read } = await make()
  const before = await read()
  for (const dryRun of [true, false])
    expect(codeOf(await edit(change, { dryRun }))).toBe('agent/protected-content')
  expect(await read()).toBe(before)
})

it('[AGT-25] an agent changes all other content, also directly before and after protected content', async () => {
  const { edit, read } = await make()
  for (const change of [
    { insert: { before: '100 euros', content: 'about ' } },
    { insert: { after: '100 euros', content: ' net' } },
    { replace: { find: 'each month', with: 'each year' } },
    { remove: { target: { block: 0 } } },
    { insert: { after: { block: 1 }, content: 'Signed.' } },
  ])
    expect(dataOf(await edit(change))).toMatchObject({ changed: true })
  const text = await read()
  expect(text).toContain(`We pay about ${approved('100 euros')} net each year.`)
  expect(text).toContain('<paragraph locked="yes">The law of Malta applies.</paragraph>')
})

const text = (value: string, ...names: readonly string[]) => ({
  type: 'text',
  text: value,
  ...(names.length > 0 && { marks: names.map((type) => ({ type })) }),
})
const paragraph = (...children: readonly object[]) => ({ type: 'paragraph', content: children })
const quoted = (...children: readonly object[]) => ({ type: 'blockquote', content: children })
const locked = { ...paragraph(text('Malta')), attrs: { locked: true } }
const euros = text('100 euros', 'approved')
const [pays, gets] = [paragraph(text('We pay '), euros, text(' to Bob.')), paragraph(text('We get nothing.'))]
const prosemirror = { type: 'prosemirror', schema: '', names: ['approved', 'locked'] }

const replaceBlock = (block: number, ...data: readonly object[]) => ({
  replace: { find: { block }, with: data, format: 'prosemirror' },
})
const insertAfter = (block: number, ...data: readonly object[]) => ({
  insert: { after: { block }, content: data, format: 'prosemirror' },
})
const removeBlock = (block: number) => ({ remove: { target: { block } } })

it.each([
  [
    'text to another block',
    [pays, gets],
    [{ remove: { target: '100 euros' } }, replaceBlock(1, paragraph(text('We get '), euros))],
  ],
  ['text with its block', [pays, gets], [insertAfter(1, pays), removeBlock(0)]],
  [
    'text into another kind of block',
    [pays],
    [replaceBlock(0, { ...pays, type: 'heading', attrs: { level: 1 } })],
  ],
  ['a block', [locked, gets], [removeBlock(0), insertAfter(0, locked)]],
  ['a block out of a quote', [quoted(gets, locked), pays], [removeBlock(1), insertAfter(1, locked)]],
  ['a block into a quote', [locked, quoted(gets)], [removeBlock(0), insertAfter(0, locked)]],
])('[AGT-25] an agent must not move %s', async (_, data, edits) => {
  const { place, call, read } = await make({ ...prosemirror, data })
  const before = await read()
  const result = await call('/v2/crdt/edit', { ...place, edits })
  expect(codeOf(result)).toBe('agent/protected-content')
  expect(result.body.error?.message).toContain('must not change or move')
  expect(await read()).toEqual(before)
})

it.each([
  ['rewrites the text around it', paragraph(text('They get '), euros, text(' from Ann'))],
  ['breaks the line next to it', paragraph(text('We pay '), euros, { type: 'hardBreak' }, text('to Bob.'))],
])('[AGT-25] an agent %s', async (_, next) => {
  const { edit, read } = await make({ ...prosemirror, data: [gets, pays] })
  dataOf(await edit(replaceBlock(1, next, gets)))
  expect(await read()).toMatchObject({ content: [gets, next, gets] })
})

it('[AGT-25] the attribute of a line of Quill protects the whole line', async () => {
  const line = [{ insert: 'We pay ' }, { insert: '100', attributes: { bold: true } }]
  const end = { insert: '\n', attributes: { locked: true } }
  const data = [{ insert: 'First\n' }, ...line, end, { insert: 'Last\n' }]
  const { edit, read } = await make({ type: 'delta', schema: '', names: ['locked'], data })
  for (const change of [
    { replace: { find: '100', with: '200' } },
    { insert: { after: 'We pay', content: ' Bob' } },
    { mark: { find: 'pay', name: 'bold', value: true } },
    { remove: { target: '100' } },
    { text: { index: 6, delete: 11 } },
  ])
    expect([change, codeOf(await edit(change))]).toEqual([change, 'agent/protected-content'])
  dataOf(await edit({ replace: { find: 'First', with: 'Begin' } }))
  dataOf(await edit({ text: { index: 6, insert: 'New\n' } }))
  dataOf(await edit({ replace: { find: 'Last', with: 'End' } }))
  expect(await read()).toEqual([{ insert: 'Begin\nNew\nWe pay ' }, line[1], end, { insert: 'End\n' }])
})

it('[AGT-25] a mark over several lines of a text protects only the text that has it', async () => {
  const marked = { insert: 'first\nsecond', attributes: { locked: true } }
  const data = [{ insert: 'Intro ' }, marked, { insert: ' end\n' }]
  const { edit, read } = await make({ type: 'delta', schema: '', names: ['locked'], data })
  expect(codeOf(await edit({ replace: { find: 'second', with: 'third' } }))).toBe('agent/protected-content')
  dataOf(await edit({ replace: { find: 'Intro', with: 'Preface' } }))
  expect(await read()).toEqual([{ insert: 'Preface ' }, marked, { insert: ' end\n' }])
})

it('[AGT-26] the error names the place, and a user may make the same change', async () => {
  const { edit, place, read } = await make()
  const change = { replace: { find: '100', with: '200' } }
  const { body, status } = await edit(change)
  expect(status).toBe(403)
  expect(body.error?.details).toMatchObject({
    contentKey: 'default',
    path: '/1/0',
    name: 'approved',
    text: '100 euros',
  })
  expect(body.error?.message).toContain('leave it as it is')
  dataOf(await server.post('/v2/crdt/edit', { ...place, edits: [change] }))
  expect(await read()).toContain(approved('200 euros'))
})

it('[AGT-25] compares large documents, edits with a base version, and edits of a branch', async () => {
  const filler = `<paragraph>${'Some text that fills the document. '.repeat(20)}</paragraph>`.repeat(200)
  const { edit, call, place, version, read } = await make({ data: content + filler })
  const change = { replace: { find: '100', with: '200' } }
  expect(codeOf(await edit(change))).toBe('agent/protected-content')
  dataOf(await edit({ replace: { find: 'First', with: 'Begin' } }))
  expect(codeOf(await edit(change, { baseVersion: version }))).toBe('agent/protected-content')
  dataOf(await edit({ replace: { find: 'Last', with: 'End' } }, { baseVersion: version }))
  dataOf(await call('/v2/crdt/branches/create', { ...place, name: 'idea' }))
  const branch = { editorId: 'main@idea' }
  expect(codeOf(await edit(change, branch))).toBe('agent/protected-content')
  dataOf(await edit({ replace: { find: 'Begin', with: 'Start' } }, branch))
  expect(await read()).toContain(approved('100 euros'))
})

it('[AGT-25] the token of an agent protects content of editors without a schema', async () => {
  const { edit, place } = await make({ type: 'delta', schema: '', names: ['approved'], data: [] })
  const data = [
    { insert: 'We pay ' },
    { insert: '100 euros', attributes: { approved: true } },
    { insert: '.\n' },
  ]
  dataOf(await server.post('/v2/crdt/update', { ...place, type: 'delta', data }))
  expect(codeOf(await edit({ replace: { find: '100', with: '200' } }))).toBe('agent/protected-content')
  expect(codeOf(await edit({ text: { index: 10, insert: '0' } }))).toBe('agent/protected-content')
  dataOf(await edit({ replace: { find: 'We pay', with: 'They pay' } }))
  const nodes = { a: { locked: true, text: 'One' }, b: { text: 'Two' } }
  const map = await make({ type: 'map', schema: '', names: ['locked'], data: nodes })
  expect(dataOf(await server.post('/v2/auth/inspect_token', { token: map.token }))).toMatchObject({
    agent: { protected: ['locked'] },
  })
  dataOf(await map.edit({ patch: [{ op: 'replace', path: '/b/text', value: 'New' }] }))
  expect(await map.read()).toMatchObject({ b: { text: 'New' } })
})

it('[AGT-25] rejects an undo that changes protected content', async () => {
  const { edit, call, place, version } = await make({ data: '<paragraph>We pay.</paragraph>' })
  dataOf(await edit({ replace: { find: 'pay', with: 'pay 100 euros' } }))
  const mark = { find: '100 euros', name: 'approved', value: { by: 'ann' } }
  dataOf(await server.post('/v2/crdt/edit', { ...place, edits: [{ mark }] }))
  const undone = await call('/v2/crdt/undo', { ...place, from: version })
  expect(codeOf(undone)).toBe('agent/protected-content')
})

it('[AGT-27] a stream writes next to protected content, and not into it or in place of it', async () => {
  const { place, read, stream } = await make()
  const open = (edit: object) => ContentStream.open(server, { ...place, edit }, stream)
  const after = await open({ insert: { after: '100 euros' } })
  await after.text(' net').text(' of tax').end()
  expect(await read()).toContain(`${approved('100 euros')} net of tax each month.`)
  const replacing = await open({ replace: { find: 'First' } })
  await replacing.text('Begin').end()
  expect(await read()).toContain('>Begin</paragraph>')
  const before = await read()
  const inside = await open({ insert: { after: '100' } })
  expect(await inside.text('0').error()).toMatchObject({ details: { code: 'agent/protected-content' } })
  const replaced = ContentStream.send(server, { ...place, edit: { replace: { find: 'Malta' } } }, stream)
  expect(await replaced.error()).toMatchObject({ details: { code: 'agent/protected-content' } })
  expect(await read()).toBe(before)
})

it('[AGT-27] a stream ends when a user protects its place, and must not remove what is protected', async () => {
  const { place, read, stream } = await make()
  const writer = await ContentStream.open(server, { ...place, edit: { insert: { after: 'First' } } }, stream)
  await writer.text(' part').received(5)
  const attributes = { target: { block: 0 }, set: { locked: 'yes' } }
  dataOf(await server.post('/v2/crdt/edit', { ...place, edits: [{ attributes }] }))
  writer.text('.')
  expect(await writer.error()).toMatchObject({ details: { code: 'agent/protected-content' } })
  const edit = { insert: { after: 'Last' } }
  const withdrawn = await ContentStream.open(server, { ...place, edit }, stream)
  await withdrawn.text(' word').received(5)
  const mark = { find: 'word', name: 'approved', value: { by: 'ann' } }
  dataOf(await server.post('/v2/crdt/edit', { ...place, edits: [{ mark }] }))
  withdrawn.line({ withdraw: true })
  expect(await withdrawn.error()).toMatchObject({ details: { code: 'agent/protected-content' } })
  const text = await read()
  expect(text).toContain('<paragraph locked="yes">First part</paragraph>')
  expect(text).toContain(`Last ${approved('word')}`)
})

it('[AGT-27] a stream ends when a schema protects its place', async () => {
  const name = 'streamed'
  const { protected: _names, ...open } = contract
  dataOf(await server.post('/v2/crdt/schemas/set', { name, schema: open }))
  const { place, read, stream } = await make({ schema: name })
  const opening = { ...place, edit: { insert: { after: 'Malta' } }, streamId: name }
  const writer = await ContentStream.open(server, opening, stream)
  await writer.text(' and').received(4)
  dataOf(await server.post('/v2/crdt/schemas/set', { name, schema: contract }))
  expect(await writer.text(' Italy').error()).toMatchObject({ status: 'UNAVAILABLE' })
  const again = await ContentStream.open(server, opening, stream)
  expect(await again.text(' Italy').error()).toMatchObject({ details: { code: 'agent/protected-content' } })
  expect(await read()).toContain('The law of Malta and applies.')
})

it('[AGT-28] on a websocket, an agent is a viewer of an editor with protected names', async () => {
  const { place, token, read } = await make()
  const path = `${server.wsUrl}/sync/acme/${place.documentId}/main`
  const before = await read()
  const client = await RawClient.connect(`${path}?token=${token}`)
  client.sendUpdate(typed('mine', 7))
  await eventually(() => client.bodies(...permissionDenied).length > 0)
  expect(Buffer.from(client.bodies(...permissionDenied)[0] as Uint8Array).toString()).toContain(
    'it can have protected content',
  )
  expect(await read()).toBe(before)
  client.socket.close()
})

it('[AGT-28] a schema that names protected content makes connected agents viewers', async () => {
  const name = 'later'
  const { protected: _names, ...open } = contract
  dataOf(await server.post('/v2/crdt/schemas/set', { name, schema: open }))
  const { place, token, read } = await make({ schema: name })
  const path = `acme/${place.documentId}/main`
  const agent = await syncedEditor(server.wsUrl, path, token)
  const paragraph = agent.doc.getXmlFragment('default').get(0) as Y.XmlElement
  const text = paragraph.get(0) as Y.XmlText
  text.insert(0, 'The ')
  await eventually(async () => String(await read()).includes('The First'))
  dataOf(await server.post('/v2/crdt/schemas/set', { name, schema: contract }))
  text.insert(0, 'Not ')
  const person = await syncedEditor(server.wsUrl, path, await server.token('ann'))
  const theirs = (person.doc.getXmlFragment('default').get(0) as Y.XmlElement).get(0) as Y.XmlText
  theirs.insert(theirs.length, ' word')
  await eventually(async () => String(await read()).includes('The First word'))
  expect(await read()).not.toContain('Not')
  agent.close()
  person.close()
})

it('[AGT-26] a tool of MCP returns what the model must not change', async () => {
  const { place } = await make()
  const mcp = await connectMcp(server.url, await agentToken(server, 'reader'))
  const edits = [{ replace: { find: 'Malta', with: 'Italy' } }]
  for (const tool of ['edit_document', 'suggest']) {
    const result = await mcp.call(tool, { organizationId: 'acme', documentId: place.documentId, edits })
    expect(JSON.stringify(result)).toContain('agent/protected-content')
    expect(JSON.stringify(result)).toContain('The law of Malta applies.')
    expect(JSON.stringify(result)).toContain('leave it as it is')
  }
  await mcp.client.close()
})

it('[AGT-25] a schema names only marks and attributes that it has, and only agents have protected names', async () => {
  const schema = { ...contract, protected: ['approved', 'lokced'] }
  const { body } = await server.post('/v2/crdt/schemas/set', { name: 'wrong', schema })
  expect(body.error).toMatchObject({ details: { code: 'schema/invalid', path: '/protected/1' } })
  const person = { userId: 'ann', userProperties: { name: 'Ann', email: '' }, protected: ['locked'] }
  expect((await server.post('/v2/auth/generate_token', person)).status).toBe(400)
})
