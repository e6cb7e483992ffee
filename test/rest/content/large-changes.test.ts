import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { WebsocketProvider } from 'y-websocket'
import * as Y from 'yjs'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong, times } from '../../support/time/full-run.ts'

/** Size of each document: elements, entries or UTF-16 units. A call accepts at most 200,000 values. */
const units = 199_000
const key = 'content'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

let documents = 0
const nextEditor = () => {
  documents += 1
  return { organizationId: 'acme', documentId: `large ${documents}`, editorId: 'main' }
}
type EditorIds = ReturnType<typeof nextEditor>

const done = async (operation: string, data: object): Promise<unknown> =>
  dataOf(await server.post(`/v2/crdt/${operation}`, data))

/** A client that must stay connected. */
interface Watcher {
  readonly doc: Y.Doc
  readonly provider: WebsocketProvider
  readonly closes: number[]
}

/** Opens an editor in which one client makes all content in one transaction. */
async function written(editor: EditorIds, make: (doc: Y.Doc) => void): Promise<Watcher> {
  const doc = new Y.Doc()
  const provider = new WebsocketProvider(`${server.wsUrl}/sync`, `acme/${editor.documentId}/main`, doc, {
    params: { token: await server.token('ann') },
    WebSocketPolyfill: WebSocket as never,
    disableBc: true,
  })
  const closes: number[] = []
  provider.on('connection-close', (event) => closes.push(event?.code ?? 0))
  await eventually(() => provider.synced)
  doc.transact(() => make(doc))
  const vector = Buffer.from(Y.encodeStateVector(doc)).toString('base64')
  await eventually(async () => {
    const { body } = await server.post('/v2/crdt/get', editor)
    return (body.result?.data as { stateVector: string }[] | undefined)?.[0]?.stateVector === vector
  })
  return { doc, provider, closes }
}

/** Checks that the client has the state of the server, and was never closed. */
async function expectShown({ doc, closes, provider }: Watcher, editor: EditorIds): Promise<void> {
  const [found] = (await done('get', { ...editor, format: 'update' })) as { data: string }[]
  const stored = new Y.Doc()
  Y.applyUpdate(stored, Buffer.from(found?.data ?? '', 'base64'))
  await eventually(() => Y.equalSnapshots(Y.snapshot(doc), Y.snapshot(stored)))
  expect(closes).toEqual([])
  provider.destroy()
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index)
const everyNth = (count: number, nth: number): unknown[] =>
  numbers(count).map((index) => (index % nth === 0 ? `new ${index}` : index))
const withoutNth = (count: number, nth: number): number[] =>
  numbers(count).filter((index) => index % nth !== 0)

it.each([
  ['every 100th of 100,000 items changes', 100_000, everyNth(100_000, 100)],
  ['every 2nd of 20,000 items changes', 20_000, everyNth(20_000, 2)],
  ...times([], [
    ['every 100th of 199,000 items is removed', units, withoutNth(units, 100)],
    ['every 2nd of 199,000 items changes', units, everyNth(units, 2)],
    ['every 2nd of 199,000 items is removed', units, withoutNth(units, 2)],
  ] as const),
] as const)(
  '[CRDT-60] an array that one client inserted at once is replaced, and no client is closed: %s',
  async (_name, count, target) => {
    const editor = nextEditor()
    const watcher = await written(editor, (doc) => doc.getArray(key).push(numbers(count)))
    expect(await done('update', { ...editor, type: 'array', data: target })).toMatchObject({ changed: true })
    await expectShown(watcher, editor)
    expect(watcher.doc.getArray(key).toJSON()).toEqual(target)
  },
)

const words = (count: number): string[] =>
  numbers(count / 5).map((index) => String(10_000 + (index % 90_000)))
const text = words(units).join('')
const changedText = words(units)
  .map((word, index) => (index % 20 === 0 ? 'other' : word))
  .join('')

it.each(['text', 'delta'] as const)(
  '[CRDT-60] a text of 200,000 characters that one client inserted at once is replaced, and no client is closed: %s',
  async (type) => {
    const editor = nextEditor()
    const watcher = await written(editor, (doc) => {
      doc.getText(key).insert(0, text)
      if (type === 'delta') doc.getText(key).format(0, 10, { bold: true })
    })
    const data = type === 'text' ? changedText : [{ insert: changedText }, { insert: '\n' }]
    expect(await done('update', { ...editor, type, data })).toMatchObject({ changed: true })
    await expectShown(watcher, editor)
  },
)

it('[CRDT-60] XML of 200,000 characters that one client inserted at once is replaced, and no client is closed', async () => {
  const editor = nextEditor()
  const paragraphs = 200
  const partOf = (whole: string, index: number): string => {
    const size = units / paragraphs
    return whole.slice(index * size, (index + 1) * size)
  }
  const watcher = await written(editor, (doc) =>
    doc.getXmlFragment(key).insert(
      0,
      numbers(paragraphs).map((index) => {
        const paragraph = new Y.XmlElement('paragraph')
        paragraph.insert(0, [new Y.XmlText(partOf(text, index))])
        return paragraph
      }),
    ),
  )
  const data = numbers(paragraphs)
    .map((index) => `<paragraph>${partOf(index % 3 === 0 ? changedText : text, index)}</paragraph>`)
    .join('')
  expect(await done('update', { ...editor, type: 'xml', data })).toMatchObject({ changed: true })
  await expectShown(watcher, editor)
})

itLong('[CRDT-60] a map with arrays of 200,000 items is replaced, and no client is closed', async () => {
  const editor = nextEditor()
  const watcher = await written(editor, (doc) => {
    for (const name of ['a', 'b', 'c', 'd']) {
      const nested = new Y.Array<unknown>()
      doc.getMap(key).set(name, nested)
      nested.push(numbers(units / 4))
    }
    for (const index of numbers(500)) doc.getMap(key).set(`entry ${index}`, index)
  })
  const nested = everyNth(units / 4, 10)
  const entries = Object.fromEntries(numbers(500).map((index) => [`entry ${index}`, index + (index % 2)]))
  const data = { a: nested, b: nested, c: nested, d: nested, ...entries }
  expect(await done('update', { ...editor, type: 'map', data })).toMatchObject({ changed: true })
  await expectShown(watcher, editor)
  expect(watcher.doc.getMap(key).toJSON()).toEqual(data)
})

itLong('[CRDT-60] edits in an array of 200,000 items, their undo and a restore close no client', async () => {
  const editor = nextEditor()
  const watcher = await written(editor, (doc) => doc.getArray(key).push(numbers(units)))
  const saved = (await done('versions/create', editor)) as { versionId: string }
  const [{ version }] = (await done('get', { ...editor, format: 'roots' })) as [{ version: string }]
  const patch = numbers(100).map((index) => ({ op: 'replace', path: `/${index * 1_900}`, value: 'new' }))
  await done('edit', { ...editor, edits: [{ patch }], userId: 'bot' })
  expect(await done('undo', { ...editor, from: version, by: 'bot' })).toMatchObject({
    undone: expect.anything(),
  })
  await done('update', { ...editor, type: 'array', data: withoutNth(units, 50) })
  await done('versions/restore', { ...editor, versionId: saved.versionId })
  await expectShown(watcher, editor)
  expect(watcher.doc.getArray(key).toJSON()).toEqual(numbers(units))
})

it('[CRDT-60] a merge with a base version, and the merge of a branch, close no client', async () => {
  const editor = nextEditor()
  const watcher = await written(editor, (doc) => doc.getArray(key).push(numbers(units)))
  const [{ version }] = (await done('get', { ...editor, format: 'roots' })) as [{ version: string }]
  watcher.doc.getArray(key).push(['typed meanwhile'])
  await eventually(async () => {
    const [found] = (await done('get', { ...editor, format: 'roots' })) as [{ version: string }]
    return found.version !== version
  })
  await done('update', { ...editor, type: 'array', data: everyNth(units, 100), baseVersion: version })
  await done('branches/create', { ...editor, name: 'draft', userId: 'ann' })
  const inBranch = [...everyNth(units, 100), 'typed meanwhile'].filter((_, index) => index % 97 !== 5)
  await done('update', { ...editor, editorId: 'main@draft', type: 'array', data: inBranch })
  await done('branches/merge', { ...editor, name: 'draft', userId: 'ann' })
  await expectShown(watcher, editor)
  expect(watcher.doc.getArray(key).toJSON()).toEqual(inBranch)
})
