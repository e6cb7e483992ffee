import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRoot } from '../../../src/core/content/read-document.ts'
import { readAs, replace } from './json-support.ts'
import { key, loaded, unitsOf, updatesOf } from './support.ts'

/** A document in the form of the server. */
function made(make: (doc: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  make(author)
  return loaded(author)
}

const mapWith = (entries: Record<string, unknown>): Y.Doc =>
  made((doc) => {
    for (const [name, value] of Object.entries(entries)) doc.getMap(key).set(name, value)
  })

const arrayWith = (elements: unknown[]): Y.Doc => made((doc) => doc.getArray(key).push(elements))

/** A fragment as a rich-text editor creates it. */
function fragmentOf(text: string): Y.XmlFragment {
  const [fragment, paragraph, content] = [new Y.XmlFragment(), new Y.XmlElement('paragraph'), new Y.XmlText()]
  content.insert(0, text, { bold: {} })
  paragraph.insert(0, [content])
  fragment.insert(0, [paragraph])
  return fragment
}

test('[R11] returns a JSON form of values that JSON cannot hold, and keeps these values when that form is written back', () => {
  const doc = mapWith({
    bytes: new Uint8Array([1, 2, 3]),
    element: new Y.XmlElement('p'),
    string: new Y.XmlText('text'),
    page: new Y.Doc({ guid: 'page-1' }),
    list: Y.Array.from([new Uint8Array(1)]),
  })
  const read = readAs('map', doc) as Record<string, unknown>
  expect(read).toEqual({
    bytes: 'AQID',
    element: '',
    string: 'text',
    page: { subdocument: 'page-1' },
    list: ['AA=='],
  })
  expect(replace(doc, 'map', read).changed).toBe(false)
  const before = [...doc.getMap(key).values()]
  replace(doc, 'map', { ...read, more: 1 })
  expect([...doc.getMap(key).values()].slice(0, 5).every((value, index) => value === before[index])).toBe(
    true,
  )
})

test('[R11] reads and changes an XML fragment as XML, and builds a new fragment in the same way as its siblings', () => {
  const doc = mapWith({ one: fragmentOf('Hello'), two: fragmentOf('there') })
  const one = doc.getMap(key).get('one') as Y.XmlFragment
  expect(readAs('map', doc)).toEqual({
    one: '<paragraph><bold>Hello</bold></paragraph>',
    two: '<paragraph><bold>there</bold></paragraph>',
  })
  const paragraph = one.get(0)
  const target = {
    one: '<paragraph><bold>Hello world</bold></paragraph>',
    two: '<paragraph>\n  <bold>there</bold></paragraph>',
    three: '<heading level="2">New</heading>',
    title: 'AT&T',
  }
  const change = replace(doc, 'map', target)
  expect(change).toMatchObject({ changed: true, deletions: 0 })
  expect(one.get(0)).toBe(paragraph)
  expect(doc.getMap(key).get('three')).toBeInstanceOf(Y.XmlFragment)
  expect(doc.getMap(key).get('title')).toBe('AT&T')
  expect(readAs('map', doc)).toMatchObject({ one: target.one, three: target.three })
  expect(replace(doc, 'map', readAs('map', doc)).changed).toBe(false)
  const fresh = mapWith({ one: fragmentOf('Hello') })
  const updates = updatesOf(fresh, () => {
    expect(() => replace(fresh, 'map', { one: '<p>' })).toThrow(
      /^data at \/one: data is not well-formed XML at 1:/,
    )
    expect(() => replace(fresh, 'map', { one: '<p/>', four: '<p>&' })).toThrow(
      /^data at \/four: data is not well-formed XML at 1:/,
    )
  })
  expect(updates).toEqual([])
})

test('[R7] makes many edits in one array at low cost, and writes plain elements again when the budget is exceeded', () => {
  const plain = Array.from({ length: 100_000 }, (_, index) => index)
  const one = arrayWith(plain)
  const target = plain.map((value) => (value % 2 === 0 ? value : -value))
  replace(one, 'array', target)
  expect(
    isDeepStrictEqual(
      readAs('array', one),
      target.map((value) => value + 0),
    ),
  ).toBe(true)
  const author = new Y.Doc()
  const shared = Array.from({ length: 10_000 }, (_, index) => new Y.Map([['id', index]]))
  author.getArray(key).push([...plain.slice(0, 20_000), ...shared])
  const many = loaded(author)
  const before = many.getArray(key).toArray().slice(20_000)
  const wanted = [...target.slice(0, 20_000), ...shared.map((_, id) => ({ id }))]
  replace(many, 'array', wanted)
  expect(isDeepStrictEqual(readAs('array', many), wanted)).toBe(true)
  expect(
    many
      .getArray(key)
      .toArray()
      .slice(20_000)
      .every((value, index) => value === before[index]),
  ).toBe(true)
})

test('[R7] returns correct index lookups after a replacement, although Yjs caches positions', () => {
  const doc = arrayWith(Array.from({ length: 500 }, (_, index) => index))
  const array = doc.getArray(key)
  for (const index of [10, 300, 499]) expect(array.get(index)).toBe(index)
  replace(
    doc,
    'array',
    Array.from({ length: 500 }, (_, index) => index + 100),
  )
  for (const index of [0, 10, 300, 499]) expect(array.get(index)).toBe(index + 100)
  array.insert(250, ['here'])
  expect(array.toArray().indexOf('here')).toBe(250)
})

test('[R11] replaces an XML fragment by a string of line breaks, although XML ignores such a string', () => {
  const doc = arrayWith([new Y.XmlFragment(), fragmentOf('Hello')])
  const target = ['\n', ' \r\n ']
  expect(replace(doc, 'array', target)).toMatchObject({ changed: true })
  expect(doc.getArray(key).toArray()).toEqual(target)
  expect(readAs('array', doc)).toEqual(target)
})

test('[R11] in a diagram, changes only nodes that are moved, renamed or added', () => {
  const node = (id: string, x: number): Y.Map<unknown> =>
    new Y.Map<unknown>([
      ['id', id],
      ['type', 'default'],
      ['position', { x, y: 0 }],
      ['data', new Y.Map([['label', new Y.Text(`Node ${id}`)]])],
    ])
  const doc = made((author) => {
    author.getMap(key).set(
      'nodes',
      new Y.Map([
        ['1', node('1', 0)],
        ['2', node('2', 100)],
      ]),
    )
    author.getMap(key).set(
      'edges',
      Y.Array.from([
        new Y.Map([
          ['id', 'e1-2'],
          ['source', '1'],
          ['target', '2'],
        ]),
      ]),
    )
  })
  const client = loaded(doc, 3)
  const nodes = client.getMap(key).get('nodes') as Y.Map<Y.Map<Y.Map<Y.Text>>>
  const label = nodes.get('1')?.get('data')?.get('label') as Y.Text
  label.insert(0, 'My ')
  const data = readRoot(doc, key).data as {
    nodes: Record<string, { position: object; data: { label: string } }>
    edges: object[]
  }
  const target = structuredClone(data)
  Object.assign(target.nodes['1']?.position as object, { x: 50 })
  Object.assign(target.nodes['1']?.data as object, { label: 'Node one' })
  Object.assign(target.nodes, {
    3: { id: '3', type: 'default', position: { x: 9, y: 9 }, data: { label: 'Three' } },
  })
  target.edges.push({ id: 'e2-3', source: '2', target: '3' })
  for (const update of updatesOf(doc, () => void replace(doc, 'map', target))) Y.applyUpdate(client, update)
  expect(label.toJSON()).toBe('My Node one')
  const wanted = structuredClone(target)
  Object.assign(wanted.nodes['1']?.data as object, { label: 'My Node one' })
  expect(readAs('map', client)).toEqual(wanted)
})

test('[R4] keeps all concurrent edits of other entries and elements', () => {
  const doc = mapWith({ list: Y.Array.from([1, 2, 3]), text: new Y.Text('one two three') })
  const client = loaded(doc, 3)
  const mine = client.getMap(key)
  ;(mine.get('list') as Y.Array<number>).push([4])
  ;(mine.get('text') as Y.Text).insert(13, ' four')
  mine.set('client', true)
  replace(doc, 'map', { list: [0, 1, 3], text: 'zero two three', server: true })
  Y.applyUpdate(doc, Y.encodeStateAsUpdate(client))
  expect(readAs('map', doc)).toEqual({
    list: [0, 1, 3, 4],
    text: 'zero two three four',
    client: true,
    server: true,
  })
  expect(unitsOf(doc)).toEqual([])
})
