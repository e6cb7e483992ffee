import { afterAll, beforeAll, expect, it } from 'vitest'
import { agentToken, callsWith, codeOf, grantOn } from '../../support/servers/agents.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let count = 0

/** Creates a document, and returns a function that edits it as an agent that must not delete content. */
async function editsOf(type: string, data: unknown) {
  count += 1
  const place = { organizationId: 'acme', documentId: `doc-${count}`, editorId: 'main' }
  const { version } = dataOf(await server.post('/v2/crdt/add', { ...place, type, data })) as {
    version: string
  }
  const resources = [grantOn('editor', place.documentId)]
  const call = callsWith(server, await agentToken(server, 'bot', { resources, policy: 'no-delete' }))
  const read = async () => {
    const format = type === 'text' || type === 'xml' ? type : 'json'
    const [entry] = dataOf(await server.post('/v2/crdt/get', { ...place, format })) as { data: unknown }[]
    return entry?.data
  }
  const edit = (edits: readonly object[], members: object = {}) =>
    call('/v2/crdt/edit', { ...place, edits, ...members })
  return { place, version, read, edit }
}

const paragraph = '<paragraph align="left">One <em>two</em> three</paragraph>'
const long = `${'A line of text that fills the document. '.repeat(10)}\n`.repeat(600)

it.each([
  ['removed text', 'text', 'Hello world', { remove: { target: 'world' } }],
  ['replaced text', 'text', 'Hello world', { replace: { find: 'Hello', with: 'Hallo' } }],
  ['removed text of a large document', 'text', `Hello ${long}`, { remove: { target: 'Hello' } }],
  ['deleted characters', 'text', 'Hello', { text: { index: 0, delete: 1, insert: 'J' } }],
  ['a removed element', 'xml', paragraph, { remove: { target: { block: 0 } } }],
  [
    'a replaced attribute',
    'xml',
    paragraph,
    { attributes: { target: { block: 0 }, set: { align: 'right' } } },
  ],
  ['a removed attribute', 'xml', paragraph, { attributes: { target: { block: 0 }, set: { align: null } } }],
  ['a replaced entry', 'map', { a: 1 }, { patch: [{ op: 'replace', path: '/a', value: 2 }] }],
  ['a removed entry', 'map', { a: 1 }, { patch: [{ op: 'remove', path: '/a' }] }],
  ['a removed element of a list', 'array', [1, 2], { patch: [{ op: 'remove', path: '/0' }] }],
])('[AGT-21] an agent that must not delete content gets an error for %s', async (_, type, data, edit) => {
  const { read, edit: send } = await editsOf(type, data)
  const before = await read()
  for (const dryRun of [true, false])
    expect(codeOf(await send([edit], { dryRun }))).toBe('agent/delete-not-allowed')
  const inserted = type === 'text' ? [{ insert: { at: 'end', content: ' Yes.' } }, edit] : [edit, edit]
  expect((await send(inserted)).status).not.toBe(200)
  expect(await read()).toEqual(before)
})

it.each([
  ['text', 'Hello', { insert: { at: 'end', content: ' world' } }, 'Hello world'],
  ['text', `Hello${long}`, { insert: { after: 'Hello', content: ' world' } }, `Hello world${long}`],
  [
    'xml',
    paragraph,
    { insert: { after: 'two', content: '!' } },
    '<paragraph align="left">One <em>two!</em> three</paragraph>',
  ],
  ['map', { a: 1 }, { patch: [{ op: 'add', path: '/b', value: 2 }] }, { a: 1, b: 2 }],
  ['array', [1], { patch: [{ op: 'add', path: '/-', value: 2 }] }, [1, 2]],
])(
  '[AGT-21] an agent that must not delete content may insert and format: %s',
  async (type, data, edit, after) => {
    const { read, edit: send } = await editsOf(type, data)
    expect(dataOf(await send([edit]))).toMatchObject({ changed: true })
    expect(await read()).toEqual(after)
  },
)

it('[AGT-21] an agent that must not delete content may set and remove formatting', async () => {
  const { read, edit: send } = await editsOf('xml', '<paragraph>One two</paragraph>')
  const mark = (value: unknown) => send([{ mark: { find: 'two', name: 'bold', value } }])
  expect(dataOf(await mark({}))).toMatchObject({ changed: true })
  expect(await read()).toContain('bold')
  expect(dataOf(await mark(null))).toMatchObject({ changed: true })
  expect(await read()).toBe('<paragraph>One two</paragraph>')
})

it('[AGT-21] a base version does not let an agent replace an entry that others have set since then', async () => {
  const { place, version, read, edit } = await editsOf('map', { a: 1 })
  // Which of two concurrent values wins depends on random ids of clients.
  for (let round = 0; round < 12; round += 1) {
    const name = `entry-${round}`
    const data = { ...((await read()) as object), [name]: 'user' }
    dataOf(await server.post('/v2/crdt/update', { ...place, type: 'map', data }))
    const added = await edit([{ patch: [{ op: 'add', path: `/${name}`, value: 'agent' }] }], {
      baseVersion: version,
    })
    if (added.status !== 200) expect(added.status).toBeLessThan(500)
    expect(await read()).toMatchObject({ [name]: 'user' })
  }
})

it('[AGT-21] insertions with a base version keep the content of others', async () => {
  const { place, version, read, edit } = await editsOf('text', 'Hello')
  const edits = [{ insert: { at: 'start', content: 'Oh. ' } }]
  dataOf(await server.post('/v2/crdt/edit', { ...place, edits }))
  const inserted = [{ insert: { after: 'Hello', content: ' world' } }]
  expect(dataOf(await edit(inserted, { baseVersion: version }))).toMatchObject({ changed: true })
  const removed = [{ remove: { target: 'Hello' } }]
  expect(codeOf(await edit(removed, { baseVersion: version }))).toBe('agent/delete-not-allowed')
  expect(await read()).toBe('Oh. Hello world')
})
