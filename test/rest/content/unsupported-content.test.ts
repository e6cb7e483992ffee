import { afterAll, beforeAll, expect, it } from 'vitest'
import * as Y from 'yjs'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
let documents = 0
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server?.stop())

const call = (operation: string, documentId: string, more: object) =>
  server.post(`/v2/crdt/${operation}`, { organizationId: 'acme', documentId, editorId: 'main', ...more })

const insertText = (type: Y.XmlFragment, text: string): void =>
  Y.Text.prototype.insert.call(type as never, 0, text)
const insertValue = (type: unknown, value: unknown): void =>
  Y.Array.prototype.insert.call(type as never, 0, [value])
const setEntry = (type: unknown, key: string, value: unknown): void => {
  Y.Map.prototype.set.call(type as never, key, value)
}

/** An element at the start of a fragment. */
function elementIn(fragment: Y.XmlFragment): Y.XmlElement {
  const element = new Y.XmlElement('paragraph')
  fragment.insert(0, [element])
  return element
}

/** Contents that Yjs 14 creates, or that a client creates by mistake, with the place that no format represents. */
const contents: readonly (readonly [
  name: string,
  fill: (doc: Y.Doc) => void,
  type: string,
  data: unknown,
  path: string,
])[] = [
  [
    'text directly in an element',
    (doc) => insertText(elementIn(doc.getXmlFragment('r')), 'old text'),
    'markdown',
    'new text',
    '/0/0',
  ],
  [
    'a map in an element',
    (doc) => insertValue(elementIn(doc.getXmlFragment('r')), new Y.Map([['a', 1]])),
    'xml',
    '<paragraph>new</paragraph>',
    '/0/0',
  ],
  [
    'an array next to an element',
    (doc) => {
      const fragment = doc.getXmlFragment('r')
      elementIn(fragment)
      insertValue(elementIn(fragment), Y.Array.from([1]))
    },
    'prosemirror',
    [],
    '/0/0',
  ],
  [
    'values in an element',
    (doc) => insertValue(elementIn(doc.getXmlFragment('r')), 5),
    'html',
    '<p>new</p>',
    '/0/0',
  ],
  [
    'a hook in XML',
    (doc) => elementIn(doc.getXmlFragment('r')).insert(0, [new Y.XmlHook('custom') as never]),
    'xml',
    '<p/>',
    '/0/0',
  ],
  [
    'an embed in a text in XML',
    (doc) => {
      const text = new Y.XmlText('words')
      doc.getXmlFragment('r').insert(0, [text])
      text.insertEmbed(2, { image: 'a' })
    },
    'xml',
    'new',
    '/0/2',
  ],
  [
    'a map in a text',
    (doc) => {
      doc.getText('r').insert(0, 'words')
      doc.getText('r').insertEmbed(2, new Y.Map([['a', 1]]))
    },
    'text',
    'new',
    '/2',
  ],
  [
    'entries of a text',
    (doc) => {
      doc.getText('r').insert(0, 'words')
      doc.getText('r').setAttribute('lang', 'en')
    },
    'delta',
    [{ insert: 'new' }],
    '/lang',
  ],
  [
    'text in an array',
    (doc) => {
      insertText(doc.getArray('r') as never, 'words')
      doc.getArray('r').insert(0, [1])
    },
    'array',
    [2],
    '/1',
  ],
  [
    'entries of an array',
    (doc) => {
      doc.getArray('r').insert(0, [1])
      setEntry(doc.getArray('r'), 'a', 1)
    },
    'array',
    [2],
    '/a',
  ],
  [
    'a nested type with entries and values',
    (doc) => {
      const nested = new Y.XmlFragment()
      doc.getMap('r').set('deep', Y.Array.from([nested]))
      insertValue(nested, 1)
      setEntry(nested, 'a', 1)
    },
    'map',
    { deep: [] },
    '/deep/0/a',
  ],
  [
    'an array in a text of Lexical',
    (doc) => {
      const text = new Y.XmlText()
      doc.getXmlFragment('r').insert(0, [text])
      text.setAttribute('__type', 'paragraph')
      text.insertEmbed(0, Y.Array.from([1]))
    },
    'xmltext',
    { delta: [] },
    '/0/0',
  ],
]

it.each(contents)(
  '[R24] refuses each write to a root with %s, with the place, and changes nothing',
  async (_, fill, type, data, path) => {
    const documentId = `unsupported-${++documents}`
    const doc = new Y.Doc()
    fill(doc)
    const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
    dataOf(await call('apply', documentId, { update, create: true }))
    const state = async () => dataOf(await call('get', documentId, { format: 'update' }))
    const before = await state()
    const refused = {
      status: 'FAILED_PRECONDITION',
      details: { code: 'crdt/unsupported-content', path },
    }
    const written = await call('update', documentId, { contentKey: 'r', type, data })
    expect(written.body.error).toMatchObject(refused)
    expect(written.body.error?.message).toContain(path)
    const edits = ['map', 'array'].includes(type)
      ? [{ patch: [{ op: 'test', path: '', value: 1 }] }]
      : [{ insert: { at: 'end', content: 'more', format: 'text' } }]
    const edited = await call('edit', documentId, { contentKey: 'r', edits })
    expect(edited.body.error).toMatchObject(refused)
    expect(await state()).toEqual(before)
    const versions = dataOf(await call('versions/create', documentId, {})) as { versionId: string }
    dataOf(await call('versions/restore', documentId, { versionId: versions.versionId, userId: 'ada' }))
  },
)

it('[R24] accepts each write to a root whose content is formatted, embedded, or a value that JSON shows as text', async () => {
  const doc = new Y.Doc()
  doc.getText('text').insert(0, 'bold', { bold: true })
  doc.getText('text').insertEmbed(1, { image: 'a' })
  doc.getMap('map').set('bytes', Uint8Array.of(1, 2))
  doc.getMap('map').set('sub', new Y.Doc({ guid: 'g' }))
  doc.getMap('map').set('xml', new Y.XmlElement('p'))
  const element = elementIn(doc.getXmlFragment('xml'))
  element.insert(0, [new Y.XmlText('words')])
  element.setAttribute('level', 2 as never)
  const update = Buffer.from(Y.encodeStateAsUpdate(doc)).toString('base64')
  dataOf(await call('apply', 'supported', { update, create: true }))
  for (const [contentKey, type, data] of [
    ['text', 'text', 'bald'],
    ['text', 'delta', [{ insert: 'new' }]],
    ['map', 'map', { other: 1 }],
    ['xml', 'markdown', 'new words'],
  ] as const)
    dataOf(await call('update', 'supported', { contentKey, type, data }))
})
