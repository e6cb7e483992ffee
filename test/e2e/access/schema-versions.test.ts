import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { openProvider, settled } from '../../support/clients/provider.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0

beforeAll(async () => {
  server = await startTestServer()
})

afterAll(() => server.stop())

const schema = (line: string) => ({
  nodes: { doc: { content: `${line}+` }, [line]: { content: 'text*' }, text: {} },
  contentKey: 'default',
})

/** Adds a document with a schema of its own. Returns its id, which is also the name of the schema. */
async function newDocument(): Promise<string> {
  const name = `outdated-${++documents}`
  await server.post('/v2/crdt/schemas/set', { name, schema: schema('line') })
  const editor = { organizationId: 'acme', documentId: name, editorId: 'main' }
  dataOf(await server.post('/v2/crdt/add', { ...editor, schema: name, type: 'xml', data: '<line>a</line>' }))
  return name
}

async function migrate(name: string): Promise<void> {
  await server.post('/v2/crdt/schemas/set', { name, schema: schema('row'), version: 2 })
  const rules = [{ rule: 'renameNode', name: 'line', to: 'row' }]
  dataOf(await server.post('/v2/crdt/schemas/migrate', { name, toVersion: 2, rules, userId: 'mia' }))
  await eventually(async () => (await contentOf(name)) === '<row>a</row>')
}

const contentOf = async (documentId: string): Promise<string> => {
  const editor = { organizationId: 'acme', documentId, editorId: 'main' }
  const [{ data }] = dataOf(await server.post('/v2/crdt/get', { ...editor, format: 'xml' })) as [
    { data: string },
  ]
  return data
}

/** Adds an element of the old schema. */
const addLine = (doc: Y.Doc): void => doc.getXmlFragment('default').push([new Y.XmlElement('line')])

it('[FMT-207] admits a stock y-websocket client with an older schema as a viewer, and others as before', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const name = await newDocument()
  await migrate(name)
  const open = async (parameters: Record<string, string>) =>
    syncedEditor(server.wsUrl, `acme/${name}/main`, await server.token('ann'), { parameters })
  const old = await open({ schemaVersion: '1' })
  addLine(old.doc)
  await eventually(() => warn.mock.calls.some((call) => String(call).includes('newer schema')))
  expect(await contentOf(name)).toBe('<row>a</row>')
  const others = await Promise.all([open({}), open({ schemaVersion: '2' }), open({ schemaVersion: '3' })])
  for (const [index, { doc }] of others.entries())
    doc.getXmlFragment('default').push([new Y.XmlElement(`row${index}`)])
  await eventually(async () => (await contentOf(name)).length === '<row>a</row><row0/><row1/><row2/>'.length)
  for (const editor of [old, ...others]) editor.close()
  warn.mockRestore()
})

it('[FMT-208] makes a connected Hocuspocus client a viewer when a migration moves its document', async () => {
  const name = await newDocument()
  const socket = hocuspocusSocket(server, 4, '?schemaVersion=1')
  const provider = hocuspocusProvider(server, `acme/${name}/main`, await server.token('ann'), {
    version: 4,
    socket,
  })
  const messages: string[] = []
  provider.on('stateless', ({ payload }: { payload: string }) => messages.push(payload))
  await eventually(() => provider.authorizedScope === 'read-write' && provider.synced)
  await migrate(name)
  await eventually(() => provider.authorizedScope === 'readonly')
  addLine(provider.document)
  await eventually(() => messages.some((each) => each.includes('newer schema')))
  expect(await contentOf(name)).toBe('<row>a</row>')
  provider.destroy()
  socket.destroy()
})

it('[FMT-209] shows the problem schema-outdated in a provider, also after a migration while it is connected', async () => {
  const name = await newDocument()
  const open = (schemaVersion: number) =>
    openProvider({ url: server.url, documentId: name, schemaVersion, getToken: () => server.token('ann') })
  const [old, current] = [open(1), open(2)]
  await Promise.all([settled(old), settled(current)])
  expect([old.problem, old.canWrite, current.problem]).toEqual([null, true, null])
  await migrate(name)
  await eventually(() => old.problem?.code === 'schema-outdated')
  expect(old).toMatchObject({
    status: 'connected',
    role: 'viewer',
    canWrite: false,
    problem: { action: 'wait' },
  })
  addLine(old.doc)
  const late = open(1)
  await eventually(() => late.problem?.code === 'schema-outdated')
  expect([current.problem, current.role]).toEqual([null, 'editor'])
  await eventually(() => current.doc.getXmlFragment('default').toString() === '<row>a</row>')
  expect(await contentOf(name)).toBe('<row>a</row>')
  for (const provider of [old, current, late]) provider.destroy()
})

it('[FMT-210] stores no change of an older client after it has rewritten the document', async () => {
  const name = await newDocument()
  const old = await syncedEditor(server.wsUrl, `acme/${name}/main`, await server.token('ann'), {
    parameters: { schemaVersion: '1' },
  })
  const typing = setInterval(() => addLine(old.doc), 1)
  await server.post('/v2/crdt/schemas/set', { name, schema: schema('row'), version: 2 })
  const rules = [{ rule: 'renameNode', name: 'line', to: 'row' }]
  dataOf(await server.post('/v2/crdt/schemas/migrate', { name, toVersion: 2, rules }))
  await eventually(async () => {
    const { migration } = dataOf(await server.post('/v2/crdt/schemas/get', { name })) as {
      migration: { status: string }
    }
    return migration.status === 'done'
  })
  const migrated = await contentOf(name)
  expect(migrated).not.toContain('<line')
  const { length } = old.doc.getXmlFragment('default')
  await eventually(() => old.doc.getXmlFragment('default').length > length + 20)
  clearInterval(typing)
  expect(await contentOf(name)).toBe(migrated)
  old.close()
})
