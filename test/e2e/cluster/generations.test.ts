import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import * as Y from 'yjs'
import { endpointUrl } from '../../../src/client/endpoint/endpoint-request.ts'
import { DocumentProvider } from '../../../src/client/provider/index.ts'
import { SuggestionStore } from '../../../src/client/suggestions/index.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { settled } from '../../support/clients/provider.ts'
import { agentToken, callsWith, codeOf } from '../../support/servers/agents.ts'
import {
  type CommentApplication,
  startCommentApplication,
} from '../../support/servers/comment-application.ts'
import { documentOf, pathOf, textAt } from '../../support/servers/document-owners.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

type Ids = ReturnType<typeof documentOf>

let postgres: PostgresServer
let directory: string
/** The nodes of one cluster over PostgreSQL. */
const cluster: { servers: TestServer[]; nodes: { engine: Engine }[] } = { servers: [], nodes: [] }

beforeAll(async () => {
  postgres = await startPostgres()
  directory = await mkdtemp(join(tmpdir(), 'weft-generations-'))
  const schema = postgres.newSchema()
  for (const name of ['one', 'two']) {
    const engine = await openPostgresEngine({ url: postgres.url, schema, nodes: { name } })
    cluster.nodes.push({ engine })
    cluster.servers.push(await startTestServer({ dataDir: join(directory, name) }, { engine }))
  }
  await eventually(() => cluster.nodes.every(({ engine }) => engine.cluster.nodes().length === 2))
}, 60_000)

afterAll(async () => {
  await Promise.all(cluster.servers.map((server) => server.stop()))
  await postgres?.remove()
  await rm(directory, { recursive: true, force: true, maxRetries: 20 })
})

/** Returns a new document of the first node, the server that owns it, and the other one. */
function newDocument() {
  const [owner, other] = cluster.servers as [TestServer, TestServer]
  return { ids: documentOf(cluster, 0), owner, other }
}

const call = async (at: TestServer, operation: string, data: object): Promise<unknown> =>
  dataOf(await at.post(`/v2/${operation}`, data))

const xmlAt = async (at: TestServer, ids: Ids): Promise<string> =>
  ((await call(at, 'crdt/get', { ...ids, format: 'xml' })) as [{ data: string }])[0].data

const open = async (at: TestServer, ids: Ids, userId: string, parameters = {}): Promise<Editor> =>
  syncedEditor(at.wsUrl, pathOf(ids), await at.token(userId), { parameters })

/** Disconnects an editor. Returns a function that connects it to a node. */
async function leave({ provider }: Editor, from: TestServer): Promise<(to: TestServer) => void> {
  provider.disconnect()
  await eventually(() => !provider.wsconnected)
  return (to) => {
    provider.serverUrl = provider.serverUrl.replace(from.wsUrl, to.wsUrl)
    provider.connect()
  }
}

/** Waits until all clients and both nodes have the same text. Returns it. */
async function same(ids: Ids, clients: readonly Editor[], length: number): Promise<string> {
  let texts: string[] = []
  await eventually(
    async () => {
      const served = await Promise.all(cluster.servers.map((server) => textAt(server, ids)))
      texts = [...served, ...clients.map(({ text }) => text.toString())]
      return texts.every((text) => text === texts[0] && text.length >= length)
    },
    () => texts,
  )
  return texts[0] as string
}

it('[PRUNE-3] at two nodes, an edit from before a prune is made once, whichever node its client returns to', async () => {
  const { ids, owner, other } = newDocument()
  const [ann, ben] = [await open(owner, ids, 'ann'), await open(other, ids, 'ben')]
  const [cleo, dan] = [await open(owner, ids, 'cleo'), await open(other, ids, 'dan')]
  const clients = [ann, ben, cleo, dan]
  ann.text.insert(0, 'one two three four')
  await same(ids, clients, 18)
  ben.text.insert(0, 'deleted ')
  await same(ids, clients, 26)
  ben.text.delete(0, 8)
  await same(ids, clients, 18)
  const [cleoReturns, danReturns] = [await leave(cleo, owner), await leave(dan, other)]
  cleo.text.insert(4, 'C')
  dan.text.insert(8, 'D')
  const typed: string[] = ['C', 'D']
  for (const [round, server] of [other, owner].entries()) {
    const pruning = call(server, 'crdt/prune', ids)
    for (const [at, { text }] of [ann, ben].entries()) {
      const mark = String.fromCodePoint(0x4e00 + 2 * round + at)
      typed.push(mark)
      text.insert(text.length, mark)
    }
    expect(await pruning).toMatchObject({ generation: round + 1 })
  }
  cleoReturns(other)
  danReturns(owner)
  const text = await same(ids, clients, 18 + typed.length)
  expect(text).toContain('one Ctwo Dthree four')
  expect(text.split('').toSorted()).toEqual([...'one two three four'.split(''), ...typed].toSorted())
  for (const client of clients) client.close()
})

it('[SUG-2] [SUG-3] at two nodes, a suggestion of one node appears, and is accepted, at the other', async () => {
  const { ids, owner, other } = newDocument()
  await call(other, 'crdt/add', { ...ids, contentKey: 'content', type: 'text', data: 'One two three.' })
  const applications = await Promise.all(cluster.servers.map((server) => startCommentApplication(server)))
  const [atOwner, atOther] = applications as [CommentApplication, CommentApplication]
  const shown = (application: CommentApplication, name: string, { url }: TestServer) => {
    const tokenUrl = endpointUrl(application.endpointOf(name), 'token')
    const provider = new DocumentProvider({ url, ...ids, WebSocket: WebSocket as never, tokenUrl })
    const store = new SuggestionStore(application.endpointOf(name), ids)
    store.listenTo(provider)
    store.subscribe(() => {})
    return { provider, store, listed: () => store.get().suggestions }
  }
  const [ada, grace] = [shown(atOwner, 'ada', owner), shown(atOther, 'grace', other)]
  await Promise.all([ada, grace].map(({ provider }) => settled(provider)))
  const editorId = await new SuggestionStore(atOther.endpointOf('sue'), ids).editorFor(true)
  const sue = await open(other, { ...ids, editorId }, 'sue')
  const sueReturns = await leave(sue, other)
  sue.text.insert(0, 'Zero. ')
  sue.text.insert(sue.text.length, ' Four.')
  ada.provider.doc.getText('content').insert(4, 'and ')
  sueReturns(owner)
  for (const { listed } of [ada, grace]) await eventually(() => listed().length === 2)
  const [first, second] = grace.listed()
  await grace.store.accept(first?.hunkId ?? '')
  await ada.store.reject(second?.hunkId ?? '')
  for (const { listed, store } of [ada, grace])
    await eventually(
      () => listed().length === 0,
      () => store.get(),
    )
  expect(await textAt(other, ids)).toBe('Zero. One and two three.')
  for (const { provider } of [ada, grace])
    await eventually(() => provider.doc.getText('content').toString() === 'Zero. One and two three.')
  await eventually(() => sue.text.toString() === 'Zero. One and two three.')
  for (const { provider } of [ada, grace]) provider.destroy()
  sue.close()
  await Promise.all(applications.map((application) => application.stop()))
})

const contract = (names: readonly string[]) => ({
  nodes: { doc: { content: 'paragraph+' }, paragraph: { content: 'text*' }, text: {} },
  marks: { approved: {} },
  contentKey: 'default',
  ...(names.length > 0 && { protected: names }),
})

const paragraphIn = ({ doc }: Editor): Y.XmlText =>
  (doc.getXmlFragment('default').get(0) as Y.XmlElement).get(0) as Y.XmlText

it('[AGT-26] [AGT-28] at two nodes, rejects edits of protected content by an agent, at once after its schema was stored', async () => {
  const { ids, owner, other } = newDocument()
  const name = 'contract'
  await call(owner, 'crdt/schemas/set', { name, schema: contract([]) })
  const data = '<paragraph>We pay <approved>100 euros</approved> each month.</paragraph>'
  await call(owner, 'crdt/add', { ...ids, type: 'xml', data, schema: name })
  const token = await agentToken(other, 'bot')
  const agents = await Promise.all(
    cluster.servers.map(({ wsUrl }) => syncedEditor(wsUrl, pathOf(ids), token)),
  )
  const ann = await open(other, ids, 'ann')
  for (const agent of agents) paragraphIn(agent).insert(0, 'so ')
  await eventually(async () => (await xmlAt(other, ids)).startsWith('<paragraph>so so We'))
  await call(other, 'crdt/schemas/set', { name, schema: contract(['approved']) })
  for (const agent of agents) paragraphIn(agent).insert(0, 'never ')
  const text = paragraphIn(ann)
  text.insert('so so We pay 10'.length, '2')
  // The room has dropped the edits of the agents, and is loaded again.
  await eventually(async () => (await xmlAt(owner, ids).catch(() => '')).includes('1020 euros'))
  for (const server of cluster.servers) {
    const edit = (find: string) => {
      const edits = [{ replace: { find, with: 'nothing' } }]
      return callsWith(server, token)('/v2/crdt/edit', { ...ids, edits })
    }
    expect(codeOf(await edit('1020 euros'))).toBe('agent/protected-content')
    expect(dataOf(await edit(server === owner ? 'so so' : 'each month'))).toMatchObject({ changed: true })
  }
  expect(await xmlAt(owner, ids)).toBe(
    '<paragraph>nothing We pay <approved>1020 euros</approved> nothing.</paragraph>',
  )
  for (const editor of [ann, ...agents]) editor.close()
})

const lines = (line: string) => ({
  nodes: { doc: { content: `${line}+` }, [line]: { content: 'text*' }, text: {} },
  contentKey: 'default',
})

it('[FMT-207] [FMT-211] [COPY-9] at two nodes, migrates and copies documents that the called node does not own', async () => {
  const { owner, other } = newDocument()
  const documents = [0, 1].map((node) => documentOf(cluster, node))
  const name = 'lines'
  await call(owner, 'crdt/schemas/set', { name, schema: lines('line') })
  const opened: { ids: Ids; old: Editor; away: Editor; returns: () => void }[] = []
  for (const [node, ids] of documents.entries()) {
    const [owns, far] = node === 0 ? [owner, other] : [other, owner]
    await call(far, 'crdt/add', { ...ids, schema: name, type: 'xml', data: '<line>a</line>' })
    const old = await open(far, ids, 'ann', { schemaVersion: '1' })
    const away = await open(owns, ids, 'ben', { schemaVersion: '1' })
    const back = await leave(away, owns)
    away.doc.getXmlFragment('default').push([new Y.XmlElement('line')])
    opened.push({ ids, old, away, returns: () => back(far) })
  }
  await call(other, 'crdt/schemas/set', { name, schema: lines('row'), version: 2 })
  const rules = [{ rule: 'renameNode', name: 'line', to: 'row' }]
  await call(other, 'crdt/schemas/migrate', { name, toVersion: 2, rules })
  await eventually(async () => {
    const found = (await call(owner, 'crdt/schemas/get', { name })) as { migration: { status: string } }
    return found.migration.status === 'done'
  })
  for (const { ids, old, away, returns } of opened) {
    const fragment = (editor: Editor): string => editor.doc.getXmlFragment('default').toString()
    await eventually(() => fragment(old) === '<row>a</row>')
    returns()
    old.doc.getXmlFragment('default').push([new Y.XmlElement('line')])
    await eventually(() => fragment(away).includes('<row>a</row>'))
    const late = await open(other, ids, 'cleo', { schemaVersion: '2' })
    late.doc.getXmlFragment('default').push([new Y.XmlElement('row')])
    await eventually(() => fragment(old).includes('<row></row>') && fragment(away).includes('<row></row>'))
    for (const server of cluster.servers) {
      expect(await xmlAt(server, ids)).toBe('<row>a</row><row/>')
      for (const node of [0, 1]) {
        const copy = documentOf(cluster, node)
        await call(server, 'crdt/copy', { ...copy, from: ids })
        for (const reader of cluster.servers) expect(await xmlAt(reader, copy)).toBe('<row>a</row><row/>')
      }
    }
    for (const editor of [old, away, late]) editor.close()
  }
})

// The last test, because it ends a node.
it('[PRUNE-3] [PRUNE-5] when the owner of a document ends during a prune, the next owner has all edits of both generations', async () => {
  const { ids, owner, other } = newDocument()
  const [ann, ben] = [await open(other, ids, 'ann'), await open(owner, ids, 'ben')]
  ann.text.insert(0, 'one two')
  await same(ids, [ann, ben], 7)
  const returns = await leave(ben, owner)
  ben.text.insert(4, 'B')
  const pruning = call(other, 'crdt/prune', ids).catch(() => null)
  ann.text.insert(7, ' three')
  cluster.servers.shift()
  await owner.stop()
  await pruning
  returns(other)
  expect(await same(ids, [ann, ben], 14)).toBe('one Btwo three')
  await call(other, 'crdt/prune', ids)
  ben.text.insert(0, 'A ')
  expect(await same(ids, [ann, ben], 16)).toBe('A one Btwo three')
  for (const client of [ann, ben]) client.close()
})
