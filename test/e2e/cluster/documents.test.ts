import { afterEach, expect, it } from 'vitest'
import * as Y from 'yjs'
import { addressKey } from '../../../src/core/model/address.ts'
import { parseVersion } from '../../../src/core/model/version.ts'
import { loadVersion } from '../../../src/core/rooms/log/load-room.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { startCluster, type TestCluster } from '../../support/servers/in-process-cluster.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import type { Weather } from '../../support/servers/simulated-network.ts'
import { times } from '../../support/time/full-run.ts'

const path = 'acme/copies/main'
const document = { organizationId: 'acme', documentId: 'copies', editorId: 'main' }
const opened: { close(): void }[] = []
let cluster: TestCluster

afterEach(async () => {
  for (const editor of opened.splice(0)) editor.close()
  await cluster.stop()
})

const server = (index: number): TestServer => cluster.servers[index % cluster.servers.length] as TestServer

async function editorAt(index: number, userId = `user-${index}`, at = path): Promise<Editor> {
  const { wsUrl, token } = server(index)
  const editor = await syncedEditor(wsUrl, at, await token(userId))
  opened.push(editor)
  return editor
}

interface Read {
  readonly data: string
  readonly version: string
}

async function readAt(index: number): Promise<Read> {
  const [read] = dataOf(await server(index).post('/v2/crdt/get', { ...document, type: 'text' })) as Read[]
  if (read === undefined) throw new Error('there is nothing')
  return read
}

const textsOf = (editors: readonly Editor[]): string[] => editors.map(({ text }) => text.toString())
const isOne = (values: readonly unknown[]): boolean => new Set(values).size === 1

/** Returns the content of the log, merged from its entries. */
async function stored({ log }: Engine, ids = document, root = 'content'): Promise<string> {
  const doc = new Y.Doc()
  const loaded = await log.load(addressKey({ ...(await keyed()), ...ids }))
  if (loaded.state !== 'live') throw new Error(loaded.state)
  if (loaded.snapshot !== null) Y.applyUpdate(doc, loaded.snapshot)
  for (const { bytes } of loaded.entries) Y.applyUpdate(doc, bytes)
  return doc.getText(root).toString()
}

const keyed = async () => {
  const { workspaceId, apiKey } = server(0).credentials
  return { workspaceId, apiKey }
}

/** Loses, repeats and delays messages. */
const storm: Weather = () =>
  Math.random() < 0.3 ? [] : Array.from({ length: Math.random() < 0.2 ? 2 : 1 }, () => Math.random() * 40)

it('[CR-1] shows an edit at one node to the clients of other nodes, by websocket and by REST', async () => {
  cluster = await startCluster(3, {}, { distanceMs: 5 })
  const editors = await Promise.all([0, 1, 2].map((index) => editorAt(index)))
  for (const [index, { text }] of editors.entries()) text.insert(0, `from ${index}. `)
  await eventually(
    () => isOne(textsOf(editors)) && textsOf(editors)[0]?.length === 24,
    () => textsOf(editors),
  )
  for (const index of [0, 1, 2]) expect((await readAt(index)).data).toBe(textsOf(editors)[0])
  await server(1).post('/v2/crdt/update', { ...document, type: 'text', data: 'from REST' })
  await eventually(
    () => textsOf(editors).every((text) => text === 'from REST'),
    () => textsOf(editors),
  )
})

it('[CR-2] all clients converge when they type at all nodes while the bus loses, repeats and reorders messages', async () => {
  cluster = await startCluster(3, {}, { weather: storm, distanceMs: 5 })
  const editors = await Promise.all([0, 1, 2, 3, 4, 5].map((index) => editorAt(index)))
  const typed: string[] = []
  for (let round = 0; round < times(20, 40); round++) {
    for (const [index, { text }] of editors.entries()) {
      const word = `<${index}.${round}>`
      typed.push(word)
      text.insert(Math.floor(Math.random() * (text.length + 1)), word)
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
  }
  const length = typed.join('').length
  const done = (): boolean => isOne(textsOf(editors)) && editors[0]?.text.length === length
  await eventually(done, () => textsOf(editors).map((text) => text.length), 8_000)
  const text = textsOf(editors)[0] ?? ''
  expect(await stored((cluster.nodes[0] as { engine: Engine }).engine)).toBe(text)
  for (const index of [0, 1, 2]) expect((await readAt(index)).data).toBe(text)
})

it('[CR-4] when several nodes replace content concurrently, keeps the content of one replacement, and repeats no part of it', async () => {
  cluster = await startCluster(3, {}, { weather: storm, distanceMs: 5 })
  const editor = await editorAt(0)
  await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'the beginning of it all' })
  for (let round = 0; round < times(4, 8); round++) {
    const targets = [0, 1, 2].map((index) => `round ${round}: the words of node ${index}, and no others`)
    const answers = await Promise.all(
      targets.map((data, index) =>
        server(index).post('/v2/crdt/update', { ...document, type: 'text', data }),
      ),
    )
    for (const { status, body } of answers) if (status !== 200) expect(body.error?.status).toBe('ABORTED')
    const made = targets.filter((_, index) => answers[index]?.status === 200)
    expect(made.length).toBeGreaterThan(0)
    expect(made).toContain(await stored((cluster.nodes[0] as { engine: Engine }).engine))
  }
  const last = await stored((cluster.nodes[0] as { engine: Engine }).engine)
  await eventually(
    () => editor.text.toString() === last,
    () => [editor.text.toString(), last],
  )
})

it('[CR-5] when several nodes add a document, adds it once; when several nodes change the same version, applies only one change', async () => {
  cluster = await startCluster(3, {}, { distanceMs: 5 })
  for (let round = 0; round < times(4, 10); round++) {
    const ids = { ...document, editorId: `round-${round}` }
    const adds = await Promise.all(
      [0, 1, 2].map((index) =>
        server(index).post('/v2/crdt/add', { ...ids, type: 'text', data: `by ${index}` }),
      ),
    )
    expect(adds.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    const { version } = dataOf(adds.find(({ status }) => status === 200) as never) as { version: string }
    const changes = await Promise.all(
      [0, 1, 2].map((index) =>
        server(index).post('/v2/crdt/update', {
          ...ids,
          type: 'text',
          data: `now ${index}`,
          ifVersion: version,
        }),
      ),
    )
    expect(changes.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
  }
})

it('[CR-6] closes a deleted document at all nodes, and a later edit does not restore it', async () => {
  cluster = await startCluster(3, {}, { distanceMs: 5 })
  const editors = await Promise.all([0, 1, 2].map((index) => editorAt(index)))
  const closed = editors.map(
    ({ provider }) =>
      new Promise<number>((resolve) => {
        provider.on('connection-close', (event) => resolve(event?.code ?? 0))
      }),
  )
  editors[1]?.text.insert(0, 'soon gone')
  await eventually(() => textsOf(editors).every((text) => text === 'soon gone'))
  await server(0).post('/v2/organizations/documents/delete', {
    organizationId: 'acme',
    documentIds: ['copies'],
  })
  editors[2]?.text.insert(0, 'too late, ')
  expect(await Promise.all(closed)).toEqual([4404, 4404, 4404])
  expect((await server(1).post('/v2/crdt/get', { ...document, type: 'text' })).status).toBe(404)
})

it('[CR-7] while clients at all nodes type, returns content together with the version of exactly this content', async () => {
  cluster = await startCluster(2, {}, { distanceMs: 5 })
  const editors = await Promise.all([0, 1].map((index) => editorAt(index)))
  editors[0]?.text.insert(0, 'x')
  await eventually(() => textsOf(editors).every((text) => text === 'x'))
  const enough = new AbortController()
  const typist = async ({ text }: Editor): Promise<void> => {
    while (!enough.signal.aborted) {
      text.insert(0, Math.random().toString(36).slice(2, 5))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const typists = editors.map(typist)
  const { log } = (cluster.nodes[0] as { engine: Engine }).engine
  const doc = addressKey({ ...(await keyed()), ...document })
  for (let round = 0; round < 20; round++) {
    const { data, version } = await readAt(round)
    const state = await loadVersion(log, doc, parseVersion(version) as never)
    expect(state?.doc.getText('content').toString()).toBe(data)
  }
  enough.abort()
  await Promise.all(typists)
})

it('[CR-9] completes replacements while a client types without a pause at another node', async () => {
  cluster = await startCluster(2, {}, { distanceMs: 5 })
  const editor = await editorAt(0)
  await server(1).post('/v2/crdt/add', { ...document, type: 'text', data: 'start' })
  const enough = new AbortController()
  const typist = async (): Promise<void> => {
    while (!enough.signal.aborted) {
      editor.text.insert(0, '.')
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }
  const done = typist()
  const statuses: number[] = []
  for (let round = 0; round < 20; round++) {
    const data = `round ${round}: ${'all of it '.repeat(round)}`
    statuses.push((await server(1).post('/v2/crdt/update', { ...document, type: 'text', data })).status)
  }
  enough.abort()
  await done
  expect(statuses).toEqual(statuses.map(() => 200))
})

it('[CR-19] a REST read at one node includes all edits that another node has acknowledged', async () => {
  cluster = await startCluster(3, {}, { distanceMs: 5 })
  await Promise.all([0, 1, 2].map((index) => editorAt(index)))
  await server(0).post('/v2/crdt/add', { ...document, type: 'text', data: 'start' })
  for (let round = 0; round < 12; round++) {
    const data = `round ${round}`
    const { version } = dataOf(
      await server(round).post('/v2/crdt/update', { ...document, type: 'text', data }),
    ) as { version: string }
    expect(await readAt(round + 1)).toMatchObject({ data, version })
  }
})

it('[COPY-9] copies documents whose source and target belong to different nodes, with all acknowledged edits and their authors', async () => {
  cluster = await startCluster(2, {}, { distanceMs: 5 })
  for (let round = 0; round < 8; round++) {
    const source = { ...document, documentId: `source-${round}` }
    const editor = await editorAt(round, `user-${round}`, `acme/${source.documentId}/main`)
    editor.text.insert(0, `by user ${round}`)
    const read = async (index: number, ids: object): Promise<unknown> =>
      dataOf(await server(index).post('/v2/crdt/get', { ...ids, attribution: true }))
    await eventually(async () => JSON.stringify(await read(round, source)).includes(`by user ${round}`))
    const copy = { ...document, documentId: `copy-${round}` }
    const { status } = await server(round + 1).post('/v2/crdt/copy', { ...copy, from: source })
    expect(status).toBe(200)
    const runs = [{ text: `by user ${round}`, userId: `user-${round}` }]
    expect(await read(round, copy)).toMatchObject([{ attribution: runs }])
  }
})
