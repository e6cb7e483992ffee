import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

const call = (operation: string, documentId: string, more: object = {}) =>
  server.post(`/v2/crdt/${operation}`, { organizationId: 'acme', documentId, editorId: 'main', ...more })
const read = async (documentId: string, format: string): Promise<unknown> =>
  (dataOf(await call('get', documentId, { contentKey: 'r', format })) as [{ data: unknown }])[0].data
const apply = async (documentId: string, doc: Y.Doc) =>
  dataOf(
    await call('apply', documentId, {
      create: true,
      update: Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64'),
    }),
  )

/** Yjs 14 stores each nested type without a name as a fragment, whatever it holds. */
const fragment = (): Y.XmlFragment => new Y.XmlFragment()
const setEntry = (type: Y.XmlFragment, key: string, value: unknown): void => {
  Y.Map.prototype.set.call(type as never, key, value)
}
const insertValues = (type: Y.XmlFragment, values: readonly unknown[]): void =>
  Y.Array.prototype.insert.call(type as never, 0, [...values])
const insertText = (type: Y.XmlFragment, at: number, text: string, attributes?: object): void =>
  Y.Text.prototype.insert.call(type as never, at, text, attributes)

it('[R25] reads a nested type by what it holds, and changes it in place', async () => {
  const doc = new Y.Doc()
  const [map, array, text, xml] = [fragment(), fragment(), fragment(), fragment()]
  const root = doc.getMap('r')
  for (const [key, type] of Object.entries({ map, array, text, xml })) root.set(key, type)
  const inner = fragment()
  setEntry(map, 'title', 'one')
  setEntry(map, 'inner', inner)
  insertValues(inner, [1, { two: 2 }])
  insertValues(array, ['a', fragment()])
  insertText(text, 0, 'some words')
  xml.insert(0, [new Y.XmlElement('p')])
  await apply('nested', doc)
  const stored = {
    map: { title: 'one', inner: [1, { two: 2 }] },
    array: ['a', ''],
    text: 'some words',
    xml: '<p/>',
  }
  expect(await read('nested', 'json')).toEqual(stored)
  const target = {
    map: { title: 'two', inner: [1, { two: 2 }, 3] },
    array: ['a', '', 'b'],
    text: 'some new words',
    xml: '<p/>',
  }
  dataOf(await call('update', 'nested', { contentKey: 'r', type: 'map', data: target }))
  expect(await read('nested', 'json')).toEqual(target)
  const { data } = (dataOf(await call('get', 'nested', { format: 'update' })) as [{ data: string }])[0]
  Y.applyUpdate(doc, Buffer.from(data, 'base64'))
  for (const type of [map, array, text, xml, inner]) expect(type._item?.deleted).toBe(false)
  expect(map._map.get('title')?.content.getContent()).toEqual(['two'])
})

it('[R25] reads text directly in an element in each format of rich text, and refuses to write it', async () => {
  const doc = new Y.Doc()
  const root = doc.getXmlFragment('r')
  const [heading, paragraph] = [new Y.XmlElement('heading'), new Y.XmlElement('paragraph')]
  root.insert(0, [heading, paragraph])
  heading.setAttribute('level', 1 as never)
  insertText(heading, 0, 'Title')
  insertText(paragraph, 0, 'bold', { bold: {} })
  insertText(paragraph, 4, ' and plain', { bold: null })
  await apply('direct', doc)
  expect(await read('direct', 'xml')).toBe(
    '<heading level="1">Title</heading><paragraph><bold>bold</bold> and plain</paragraph>',
  )
  expect(await read('direct', 'markdown')).toBe('# Title\n\n**bold** and plain\n')
  expect(await read('direct', 'html')).toBe('<h1>Title</h1>\n<p><strong>bold</strong> and plain</p>')
  expect(await read('direct', 'prosemirror')).toMatchObject({
    content: [
      { type: 'heading', content: [{ type: 'text', text: 'Title' }] },
      {
        type: 'paragraph',
        content: [
          { type: 'text', text: 'bold', marks: [{ type: 'bold' }] },
          { type: 'text', text: ' and plain' },
        ],
      },
    ],
  })
  const { body } = await call('update', 'direct', { contentKey: 'r', type: 'markdown', data: '# Other' })
  expect(body.error).toMatchObject({ details: { code: 'crdt/unsupported-content', path: '/0/0' } })
})

it('[R25] restores text directly in an element exactly', async () => {
  const doc = new Y.Doc()
  const paragraph = new Y.XmlElement('paragraph')
  doc.getXmlFragment('r').insert(0, [paragraph])
  insertText(paragraph, 0, 'first version')
  await apply('restored', doc)
  const { versionId } = dataOf(await call('versions/create', 'restored')) as { versionId: string }
  insertText(paragraph, 0, 'second, not ')
  doc.getXmlFragment('r').insert(1, [new Y.XmlElement('paragraph')])
  await apply('restored', doc)
  expect(await read('restored', 'xml')).toBe('<paragraph>second, not first version</paragraph><paragraph/>')
  dataOf(await call('versions/restore', 'restored', { versionId, userId: 'ada' }))
  expect(await read('restored', 'xml')).toBe('<paragraph>first version</paragraph>')
})
