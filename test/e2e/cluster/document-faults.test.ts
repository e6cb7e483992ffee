import { afterEach, expect } from 'vitest'
import * as Y from 'yjs'
import { systemClock } from '../../../src/core/base/clock.ts'
import { type Engine, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import type { Weather } from '../../support/servers/simulated-network.ts'
import { withLog } from '../../support/stores/pausable-engine.ts'
import { itLong as it } from '../../support/time/full-run.ts'

const path = 'acme/copies/main'
const document = { organizationId: 'acme', documentId: 'copies', editorId: 'main' }
const opened: { close(): void }[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const each of opened.splice(0)) each.close()
  await cluster.stop()
})

const server = (index: number): TestServer => cluster.servers[index] as TestServer

async function editorAt(index: number, at = path): Promise<Editor> {
  const { wsUrl, token } = server(index)
  const editor = await syncedEditor(wsUrl, at, await token(`user-${index}`))
  opened.push(editor)
  return editor
}

const lateMs = 1_000

const replaceAt = (index: number, data: string, ids: object = document) =>
  server(index).post('/v2/crdt/update', { ...document, ...ids, type: 'text', data })

async function readAt(index: number, ids: object = document): Promise<string> {
  const [read] = dataOf(await server(index).post('/v2/crdt/get', { ...document, ...ids, type: 'text' })) as {
    data: string
  }[]
  return read?.data ?? ''
}

/** Returns editors of one document at two nodes. */
async function editorsAtNodes(data: string | null): Promise<readonly [Editor, Editor]> {
  cluster = await startCluster(2)
  if (data !== null) await server(0).post('/v2/crdt/add', { ...document, type: 'text', data })
  return [await editorAt(0), await editorAt(1)]
}

it('[CR-13] checks `ifVersion` against changes at other nodes', async () => {
  const [editor] = await editorsAtNodes(null)
  const added = await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'first' })
  const { status, body } = await replaceAt(1, 'second')
  expect([status, body.error]).toEqual([200, undefined])
  await eventually(() => editor.text.toString() === 'second')
  const { version } = dataOf(await replaceAt(0, 'third')) as { version: string }
  const fourth = { ...document, type: 'text', data: 'fourth', ifVersion: version }
  expect((await server(1).post('/v2/crdt/update', fourth)).status).toBe(200)
  expect((await server(0).post('/v2/crdt/update', fourth)).status).toBe(409)
  expect(dataOf(added)).not.toEqual({ version })
})

it('[CR-13] reads content that another node has just created', async () => {
  await editorsAtNodes(null)
  expect((await server(1).post('/v2/crdt/get', { ...document, type: 'text' })).status).toBe(404)
  await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'first' })
  expect(await readAt(1)).toBe('first')
})

it('[CR-13] applies an update that builds on an update of another node', async () => {
  const [editor] = await editorsAtNodes('first')
  const before = Y.encodeStateVector(editor.doc)
  editor.text.insert(0, 'x')
  const middle = Y.encodeStateVector(editor.doc)
  expect(middle).not.toEqual(before)
  await eventually(async () => (await readAt(0)) === 'xfirst')
  const own = new Y.Doc()
  Y.applyUpdate(own, Y.encodeStateAsUpdate(editor.doc))
  own.getText('content').insert(1, 'y')
  const update = Buffer.from(Y.encodeStateAsUpdate(own, middle)).toString('base64')
  const { status, body } = await server(1).post('/v2/crdt/apply', { ...document, update })
  expect([status, body.error]).toEqual([200, undefined])
})

it('[CR-14] when a late message reports the deletion of a document that was created again, keeps the new document', async () => {
  let news = 0
  // The first message reports the start of the removal, the later ones report deleted logs.
  const weather: Weather = (topic) => (topic === 'documents.removed' && ++news > 1 ? [lateMs] : [0])
  cluster = await startCluster(2, {}, { weather })
  await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'of old' })
  await server(0).post('/v2/organizations/documents/delete', {
    organizationId: 'acme',
    documentIds: ['copies'],
  })
  const { status, body } = await server(1).post('/v2/crdt/add', { ...document, type: 'text', data: 'anew' })
  expect([status, body.error, news > 1]).toEqual([200, undefined, true])
  await new Promise((resolve) => setTimeout(resolve, lateMs + 100))
  await server(1).post('/v2/crdt/apply', { ...document, update: 'AAA=' })
  expect([await readAt(1), await readAt(0)]).toEqual(['anew', 'anew'])
})

/** A store that fails at random and does not report whether it has written. */
function failing(engine: Engine, odds: { of: number }): Engine {
  const away = (): void => {
    if (Math.random() < odds.of) throw new StoreUnavailableError('away for a moment')
  }
  return withLog(engine, (log) => ({
    append: async (...parameters) => {
      away()
      const appended = await log.append(...parameters)
      away()
      return appended
    },
    load: async (...parameters) => {
      away()
      return log.load(...parameters)
    },
    heads: async (...parameters) => {
      away()
      return log.heads(...parameters)
    },
    compact: async (...parameters) => {
      away()
      const compacted = await log.compact(...parameters)
      away()
      return compacted
    },
  }))
}

/** Loses, repeats and delays messages. */
const storm: Weather = () =>
  Math.random() < 0.3 ? [] : Array.from({ length: Math.random() < 0.2 ? 2 : 1 }, () => Math.random() * 40)

it('[CR-15] while the store fails at random, loses no acknowledged edit, and all nodes converge', async () => {
  const odds = { of: 0 }
  const store = failing(await openMemoryEngine({ clock: systemClock }), odds)
  cluster = await startCluster(
    3,
    { compactAfterUpdates: 20, baseVersionSeconds: 0 },
    { weather: storm, distanceMs: 5, store },
  )
  await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: '.' })
  const editors = await Promise.all([0, 1, 2].map((index) => editorAt(index)))
  odds.of = 0.02
  const typed: string[] = []
  const acknowledged: string[] = []
  const apply = async (round: number): Promise<void> => {
    const doc = new Y.Doc()
    const word = `[${round}]`
    doc.getText('content').insert(0, word)
    const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
    const { status } = await server(round % 3).post('/v2/crdt/apply', { ...document, update })
    if (status === 200) acknowledged.push(word)
  }
  const applied: Promise<void>[] = []
  for (let round = 0; round < 150; round++) {
    for (const [index, { text }] of editors.entries()) {
      const word = `<${index}.${round}:${'x'.repeat(200)}>`
      typed.push(word)
      text.insert(0, word)
    }
    applied.push(apply(round))
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20))
  }
  await Promise.all(applied)
  odds.of = 0
  const done = (): boolean => {
    const [text = '', ...others] = editors.map((editor) => editor.text.toString())
    return typed.every((word) => text.includes(word)) && others.every((other) => other === text)
  }
  await eventually(done, () => editors.map(({ text }) => text.length), 20_000)
  const text = await readAt(0)
  expect(text).toBe(editors[0]?.text.toString())
  expect(acknowledged.length).toBeGreaterThan(50)
  for (const word of [...typed, ...acknowledged]) expect(text.split(word).length).toBe(2)
}, 60_000)
