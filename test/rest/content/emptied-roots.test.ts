import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-emptied-'))
const dataDir = join(root, 'data')
let server: TestServer
const start = () =>
  startTestServer({ engine: 'level', dataDir, idleUnloadSeconds: 0, compactAfterUpdates: 3 })
beforeAll(async () => {
  server = await start()
})
afterAll(async () => {
  await server.stop()
  rmSync(root, { recursive: true, force: true, maxRetries: 20 })
})

interface Entry {
  readonly data: unknown
  readonly type: string
  readonly stateVector: string
  readonly version: string
}

let documents = 0
const nextDocument = () => ({ organizationId: 'acme', documentId: `emptied-${++documents}` })
type Document = ReturnType<typeof nextDocument>

const call = (operation: string, document: Document, more: object = {}) =>
  server.post(`/v2/crdt/${operation}`, { ...document, editorId: 'main', ...more })
const read = async (document: Document, format: string): Promise<Entry> => {
  const [entry] = dataOf(await call('get', document, { format })) as readonly Entry[]
  return entry as Entry
}

/** Edits with y-websocket, and waits until the server has the edit. */
async function typed({ organizationId, documentId }: Document, edit: (doc: Y.Doc) => void): Promise<void> {
  const token = await server.token('ann')
  const editor = await syncedEditor(server.wsUrl, `${organizationId}/${documentId}/main`, token)
  const { doc } = editor
  edit(doc)
  const known = new Y.Doc()
  await eventually(async () => {
    const answer = await call('get', { organizationId, documentId }, { format: 'update' })
    if (answer.status !== 200) return false
    const [entry] = dataOf(answer) as readonly Entry[]
    Y.applyUpdate(known, Buffer.from(entry?.data as string, 'base64'))
    return Y.snapshotContainsUpdate(Y.snapshot(known), Y.encodeStateAsUpdate(doc))
  })
  editor.close()
}

type Edit = (doc: Y.Doc) => void
const emptied: readonly (readonly [type: string, data: unknown, fill: Edit, clear: Edit])[] = [
  [
    'array',
    [],
    (doc) => doc.getArray('root').push(['a', { b: 1 }, 'c']),
    (doc) => doc.getArray('root').delete(0, 3),
  ],
  [
    'array',
    [],
    (doc) => doc.getArray('root').push([new Y.Map([['a', 1]]), new Y.Text('x')]),
    (doc) => doc.getArray('root').delete(0, 2),
  ],
  [
    'xml',
    '',
    (doc) => {
      const paragraph = new Y.XmlElement('paragraph')
      paragraph.insert(0, [new Y.XmlText('words')])
      doc.getXmlFragment('root').insert(0, [paragraph, new Y.XmlText('more')])
    },
    (doc) => doc.getXmlFragment('root').delete(0, 2),
  ],
  [
    'xmltext',
    {},
    (doc) => {
      const paragraph = new Y.XmlText('words')
      paragraph.setAttribute('__type', 'paragraph')
      doc.get('root', Y.XmlText).insertEmbed(0, paragraph)
    },
    (doc) => doc.get('root', Y.XmlText).delete(0, 1),
  ],
]

async function expectEmpty(document: Document, type: string, data: unknown): Promise<void> {
  expect(await read(document, 'roots')).toMatchObject({ data: [{ contentKey: 'root', type }] })
  expect(await read(document, type === 'xmltext' ? type : 'json')).toMatchObject({ type, data })
  const refused = await call('update', document, { type: 'text', data: 'x' })
  expect(refused.body.error?.details).toMatchObject({ code: 'crdt/root-kind-mismatch' })
}

const stateOf = async (document: Document): Promise<Buffer> =>
  Buffer.from((await read(document, 'update')).data as string, 'base64')

it.each(emptied)(
  '[CRDT-44] keeps the type of a root of type %s that clients created and emptied',
  async (type, data, fill, clear) => {
    const document = nextDocument()
    await typed(document, fill)
    await typed(document, clear)
    await expectEmpty(document, type, data)
    const { version } = await read(document, 'roots')
    const state = await stateOf(document)
    for (const open of [(doc: Y.Doc) => doc.getXmlFragment('root'), (doc: Y.Doc) => doc.getArray('root')]) {
      const doc = new Y.Doc({ gc: false })
      Y.applyUpdate(doc, state)
      expect(open(doc).length).toBe(0)
    }
    const copy = nextDocument()
    await call('apply', copy, { update: state.toString('base64'), create: true })
    await expectEmpty(copy, type, data)
    const { versionId } = dataOf(await call('versions/create', document)) as { versionId: string }
    const format = type === 'xmltext' ? type : 'json'
    expect(dataOf(await call('versions/get', document, { versionId, format }))).toMatchObject({ type, data })

    await server.stop()
    const address = `acme/${document.documentId}/main`
    const printed = await runCli(['doc', 'get', address, '--data-dir', dataDir, '--json'], root)
    expect(JSON.parse(printed.out)).toMatchObject(
      type === 'xmltext' ? { contentKey: 'root' } : { type, data },
    )
    server = await start()
    await expectEmpty(document, type, data)
    expect((await read(document, 'roots')).version).toBe(version)
    expect((await stateOf(document)).equals(state)).toBe(true)

    for (let round = 0; round < 3; round++) {
      await typed(document, fill)
      await typed(document, clear)
    }
    await expectEmpty(document, type, data)
    expect((await stateOf(document)).toString('latin1').split('weft:kind=')).toHaveLength(2)
  },
)

it('[CRDT-44] an array root that clients created and emptied accepts other content from clients', async () => {
  const document = nextDocument()
  await typed(document, (doc) => doc.getArray('root').push([1]))
  await typed(document, (doc) => doc.getArray('root').delete(0, 1))
  expect(await read(document, 'json')).toMatchObject({ type: 'array', data: [] })
  await typed(document, (doc) => doc.getText('root').insert(0, 'words'))
  expect(await read(document, 'json')).toMatchObject({ type: 'text', data: 'words' })
  await typed(document, (doc) => doc.getText('root').delete(0, 5))
  expect(await read(document, 'json')).toMatchObject({ type: 'text', data: '' })
})

it('[CRDT-44] gives no type to a root that a client filled and emptied before it connected', async () => {
  const document = nextDocument()
  await typed(document, (doc) => {
    doc.transact(() => {
      doc.getArray('root').push([1])
      doc.getArray('root').delete(0, 1)
    })
  })
  expect(await read(document, 'roots')).toMatchObject({ data: [{ contentKey: 'root', type: 'none' }] })
})

it('[CRDT-45] when REST empties a root, keeps its latest type, regardless of earlier types', async () => {
  const document = nextDocument()
  const empty = async (type: string, data: unknown): Promise<void> => {
    expect(dataOf(await call('update', document, { contentKey: 'root', type, data }))).toMatchObject({
      changed: true,
    })
    expect(await read(document, 'json')).toMatchObject({ type, data })
  }
  await typed(document, (doc) => doc.getArray('root').push([1]))
  await typed(document, (doc) => doc.getArray('root').delete(0, 1))
  await typed(document, (doc) => doc.getMap('root').set('key', 1))
  await empty('map', {})
  await typed(document, (doc) => doc.getArray('root').push([2]))
  await empty('array', [])
  await typed(document, (doc) => doc.getMap('root').set('key', 3))
  await empty('map', {})
  await typed(document, (doc) => doc.getText('root').insert(0, 'words'))
  await empty('text', '')
  await server.stop()
  server = await start()
  expect(await read(document, 'json')).toMatchObject({ type: 'text', data: '' })
})
