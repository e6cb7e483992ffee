import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readContent } from '../../../src/content/read.ts'
import { checkContent } from '../../../src/content/replace.ts'
import { ApiError } from '../../../src/errors.ts'
import { readAs, replace } from './json-support.ts'
import { key, loaded, unitsOf, updatesOf } from './support.ts'

/** A document as a server holds it. */
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

function refusal(type: string, data: unknown): string {
  try {
    checkContent({ type, contentKey: key, data })
  } catch (error) {
    if (error instanceof ApiError && error.status === 'INVALID_ARGUMENT') return error.message
    throw error
  }
  throw new Error('it was accepted')
}

/** `depth` arrays, one in the other. */
function nested(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

test('[R1] data of another shape is refused, saying what it is', () => {
  expect(refusal('map', [])).toBe('data must be an object for type "map", not an array')
  expect(refusal('map', 'x')).toBe('data must be an object for type "map", not a string')
  expect(refusal('map', null)).toBe('data must be an object for type "map", not null')
  expect(refusal('array', { length: 0 })).toBe('data must be an array for type "array", not an object')
  expect(refusal('array', 7)).toBe('data must be an array for type "array", not a number')
})

test('[R1] what JSON cannot hold is refused, saying where', () => {
  expect(refusal('map', { a: [1, { b: Number.NaN }] })).toBe('data at /a/1/b must be a JSON value, not NaN')
  expect(refusal('array', [() => 1])).toMatch(/^data at \/0 must be a JSON value/)
  expect(refusal('array', [new Date(0)])).toBe('data at /0 must be a JSON value')
  expect(refusal('array', [undefined])).toMatch(/^data at \/0 must be a JSON value, not missing/)
})

test('[R6] nesting and number of values have a limit', () => {
  expect(() => checkContent({ type: 'array', contentKey: key, data: nested(65) })).not.toThrow()
  expect(refusal('array', nested(66))).toBe('data must be nested at most 64 levels deep; it is deeper')
  expect(refusal('map', { a: nested(20_000) })).toMatch(/at most 64 levels/)
  expect(
    refusal(
      'array',
      Array.from({ length: 200_000 }, () => 0),
    ),
  ).toMatch(/at most 200000 values/)
  expect(() =>
    checkContent({ type: 'array', contentKey: key, data: Array.from({ length: 199_999 }, () => 0) }),
  ).not.toThrow()
})

test('[R6] keys of shared maps have 1 to 500 characters, those of plain objects any number', () => {
  const long = 'k'.repeat(501)
  expect(refusal('map', { '': 1 })).toBe('a key of data must not be empty')
  expect(refusal('map', { [long]: 1 })).toBe('a key of data must have at most 500 characters; one has 501')
  const doc = mapWith({ shared: new Y.Map([['a', 1]]), plain: {} })
  replace(doc, 'map', { shared: { a: 1 }, plain: { '': 1, [long]: 2 } })
  expect(readAs('map', doc)).toEqual({ shared: { a: 1 }, plain: { '': 1, [long]: 2 } })
  const updates = updatesOf(doc, () => {
    for (const name of ['', long]) {
      expect(() => replace(doc, 'map', { shared: { a: 2, [name]: 1 }, plain: 1 })).toThrow(
        /^data at \/shared\/.*must have 1 to 500 characters$/,
      )
    }
  })
  expect(updates).toEqual([])
})

test('[R14] the key __proto__ is refused wherever it is, others that objects have are ordinary', () => {
  expect(refusal('map', JSON.parse('{ "__proto__": 1 }'))).toBe(
    'data at /__proto__: the key __proto__ is not allowed',
  )
  expect(refusal('map', JSON.parse('{ "a/~": [{ "__proto__": {} }] }'))).toMatch(
    /^data at \/a~1~0\/0\/__proto__: /,
  )
  expect(refusal('array', JSON.parse('[{ "__proto__": 1 }]'))).toMatch(/^data at \/0\/__proto__: /)
  const odd = {
    constructor: { constructor: 1 },
    toString: [{ constructor: 'c' }],
    hasOwnProperty: null,
    valueOf: 1,
  }
  const doc = mapWith({ shared: new Y.Map([['constructor', new Y.Map()]]), list: new Y.Array() })
  const client = loaded(doc, 3)
  const target = { ...odd, shared: { constructor: odd, prototype: odd }, list: [odd, { constructor: 2 }] }
  for (const update of updatesOf(doc, () => void replace(doc, 'map', target))) Y.applyUpdate(client, update)
  expect(readAs('map', client)).toEqual(target)
  expect(client.getMap(key).get('list')).toBeInstanceOf(Y.Array)
})

test('[R14] an entry __proto__ that somebody else made is not shown and stays', () => {
  const doc = mapWith({ a: 1 })
  doc.getMap(key).set('__proto__', { bad: true })
  expect(readAs('map', doc)).toEqual({ a: 1 })
  replace(doc, 'map', { a: 2 })
  expect([...doc.getMap(key).keys()].sort()).toEqual(['__proto__', 'a'])
})

test('[R10] unpaired surrogates in values become U+FFFD, in keys they are refused', () => {
  const doc = mapWith({ text: new Y.Text('x'), plain: 'x' })
  replace(doc, 'map', { text: 'a\ud800', plain: ['\udc00b'] })
  expect(readAs('map', doc)).toEqual({ text: 'a\ufffd', plain: ['\ufffdb'] })
  expect(replace(doc, 'map', { text: 'a\ud800', plain: ['\udc00b'] }).changed).toBe(false)
  expect(refusal('map', { a: { '\ud800': 1 } })).toBe('data at /a/\ufffd: a key must be well-formed Unicode')
})

test('[R3] an empty target makes no root where there is none', () => {
  const doc = new Y.Doc()
  expect(replace(doc, 'map', {}).changed).toBe(false)
  expect(replace(doc, 'array', []).changed).toBe(false)
  expect(doc.share.size).toBe(0)
})

test('[R5] maps and arrays leave the root without a type, and refuse one of another kind', () => {
  const doc = mapWith({ a: 1 })
  replace(doc, 'map', { a: 2 })
  expect(doc.share.get(key)?.constructor).toBe(Y.AbstractType)
  expect(() => replace(doc, 'array', [])).toThrow(
    'the content at contentKey "content" is of type "map", not "array"',
  )
  expect(() => replace(arrayWith([1]), 'map', {})).toThrow('is of type "array", not "map"')
})

test('[R11] an object in a Y.Map, an array in a Y.Array and a string in a Y.Text are changed in place', () => {
  const doc = mapWith({
    object: new Y.Map<unknown>([
      ['x', 1],
      ['y', 2],
    ]),
    array: Y.Array.from([1, 2, 3]),
    text: new Y.Text('one two three'),
  })
  const map = doc.getMap(key)
  const before = [map.get('object'), map.get('array'), map.get('text')]
  const change = replace(doc, 'map', { object: { x: 1, y: 3 }, array: [1, 3, 4], text: 'one 2 three' })
  expect([map.get('object'), map.get('array'), map.get('text')]).toEqual(before)
  expect(map.toJSON()).toEqual({ object: { x: 1, y: 3 }, array: [1, 3, 4], text: 'one 2 three' })
  // y, the element 4 and "2"; the old y, the element 2 and "two".
  expect(change).toEqual({ changed: true, insertions: 3, deletions: 5 })
})

test('[R11] a shared value gives way to one of another kind, and a plain one stays plain', () => {
  const doc = mapWith({
    map: new Y.Map(),
    list: new Y.Array(),
    text: new Y.Text('x'),
    plain: { a: 1 },
    string: 's',
  })
  replace(doc, 'map', { map: [1], list: 'text', text: null, plain: { a: 2 }, string: 't' })
  const map = doc.getMap(key)
  expect(map.toJSON()).toEqual({ map: [1], list: 'text', text: null, plain: { a: 2 }, string: 't' })
  expect(map.get('plain')).not.toBeInstanceOf(Y.Map)
  expect(map.get('string')).toBe('t')
})

test('[R11] text in a map keeps its formatting, its embeds and the cursors in it', () => {
  const text = new Y.Text()
  text.applyDelta([
    { insert: 'Hello ' },
    { insert: 'world', attributes: { bold: true } },
    { insert: { image: 'x' } },
  ])
  const doc = mapWith({ text })
  const stored = doc.getMap(key).get('text') as Y.Text
  const cursor = Y.createRelativePositionFromTypeIndex(stored, 8)
  replace(doc, 'map', { text: 'Hello, dear world' })
  expect(stored.toDelta()).toEqual([
    { insert: 'Hello, dear ' },
    { insert: 'world', attributes: { bold: true } },
    { insert: { image: 'x' } },
  ])
  expect(Y.createAbsolutePositionFromRelativePosition(cursor, doc)?.index).toBe(14)
})

test('[R12] new values are plain, unless every value of their kind in the container is shared', () => {
  const doc = mapWith({ one: new Y.Map([['text', new Y.Text('a')]]), plain: [1] })
  replace(doc, 'map', { one: { text: 'a' }, plain: [1], two: { text: 'b' }, list: [{}], string: 's' })
  const map = doc.getMap(key)
  const two = map.get('two') as Y.Map<unknown>
  expect(two).toBeInstanceOf(Y.Map)
  expect(two.get('text')).toBeInstanceOf(Y.Text)
  expect(map.get('list')).toEqual([{}])
  expect(map.get('string')).toBe('s')
  const mixed = mapWith({ one: new Y.Map(), other: {} })
  replace(mixed, 'map', { one: {}, other: {}, two: {} })
  expect(mixed.getMap(key).get('two')).not.toBeInstanceOf(Y.Map)
})

test('[R12] a new item is built as its siblings are, key by key', () => {
  const item = (name: string): Y.Map<unknown> =>
    new Y.Map<unknown>([
      ['id', name],
      ['title', new Y.Text(name)],
      ['position', { x: 0 }],
      ['tags', Y.Array.from([new Y.Text('t')])],
      [
        'data',
        new Y.Map<unknown>([
          ['note', new Y.Text('n')],
          ['kind', 'k'],
        ]),
      ],
    ])
  const doc = arrayWith([item('1'), item('2')])
  const target = readAs('array', doc) as unknown[]
  const fresh = {
    id: '3',
    title: 'three',
    position: { x: 1 },
    tags: ['new'],
    data: { note: 'm', kind: 'l', more: 'p' },
  }
  replace(doc, 'array', [fresh, ...target])
  const built = doc.getArray<Y.Map<unknown>>(key).get(0)
  expect(built.toJSON()).toEqual(fresh)
  expect(built.get('id')).toBe('3')
  expect(built.get('title')).toBeInstanceOf(Y.Text)
  expect(built.get('position')).toEqual({ x: 1 })
  expect((built.get('tags') as Y.Array<unknown>).get(0)).toBeInstanceOf(Y.Text)
  const data = built.get('data') as Y.Map<unknown>
  expect([data.get('note'), data.get('kind'), data.get('more')]).toEqual([expect.any(Y.Text), 'l', 'p'])
})

test('[R13] the order of keys and the sign of zero make no difference; null is a value; an absent key is deleted', () => {
  const doc = mapWith({ a: { x: 1, y: [{ p: 1, q: -0 }] }, b: null, c: -0 })
  expect(replace(doc, 'map', { c: 0, b: null, a: { y: [{ q: 0, p: 1 }], x: 1 } }).changed).toBe(false)
  replace(doc, 'map', { a: null, c: -0 })
  expect(readAs('map', doc)).toEqual({ a: null, c: 0 })
  expect(doc.getMap(key).has('b')).toBe(false)
  expect(replace(arrayWith([0, null]), 'array', [-0, null]).changed).toBe(false)
})

test('[R13] what is undefined reads as absent and is left alone', () => {
  const doc = made((author) => {
    author.getMap(key).set('a', undefined)
    author.getMap(key).set('b', { c: undefined, d: Number.NaN })
  })
  expect(readAs('map', doc)).toEqual({ b: { d: null } })
  expect(replace(doc, 'map', { b: { d: null } }).changed).toBe(false)
  replace(doc, 'map', { b: { d: null }, a: null })
  expect(doc.getMap(key).get('a')).toBe(null)
})

/** Ids of the items that hold the elements of a root, in order. */
function elementIds(doc: Y.Doc): string[] {
  const ids: string[] = []
  for (let item = doc.get(key)._start; item !== null; item = item.right) {
    if (item.deleted) continue
    for (let offset = 0; offset < item.length; offset++)
      ids.push(`${item.id.client}:${item.id.clock + offset}`)
  }
  return ids
}

test('[R15] equal elements stay, duplicates in order', () => {
  const doc = arrayWith([1, 1, { a: 1 }, 'x', { a: 1 }])
  const before = elementIds(doc)
  replace(doc, 'array', [0, 1, 1, 'new', { a: 1 }, { a: 1 }, 1])
  const after = elementIds(doc)
  expect([1, 2, 4, 5].map((index) => after[index])).toEqual([0, 1, 2, 4].map((index) => before[index]))
  expect(readAs('array', doc)).toEqual([0, 1, 1, 'new', { a: 1 }, { a: 1 }, 1])
})

test('[R15] shared items that changed are found again by their id, whatever it is called', () => {
  for (const name of ['id', '_id', 'key', 'uid', 'uuid', 'name', 'slug', 'title']) {
    const doc = arrayWith(
      [1, 2, 3].map(
        (id) =>
          new Y.Map([
            [name, id],
            ['v', 0],
          ]),
      ),
    )
    const [, two, three] = doc.getArray(key).toArray()
    replace(doc, 'array', [
      { [name]: 9, v: 9 },
      { [name]: 2, v: 2 },
      { [name]: 8, v: 8 },
      { [name]: 3, v: 3 },
    ])
    const after = doc.getArray<Y.Map<unknown>>(key).toArray()
    expect([after[1], after[3]]).toEqual([two, three])
    expect(after[1] === two && after[3] === three).toBe(true)
    expect(after.map((map) => map.get('v'))).toEqual([9, 2, 8, 3])
  }
})

test('[R15] an item that is renamed is the same one', () => {
  const doc = arrayWith([new Y.Map([['title', new Y.Text('one')]]), new Y.Map([['name', 'a']])])
  const before = doc.getArray(key).toArray()
  replace(doc, 'array', [{ title: 'one!' }, { name: 'b' }])
  const after = doc.getArray(key).toArray()
  expect(after[0] === before[0] && after[1] === before[1]).toBe(true)
})

test('[R15] items with other ids are never taken for one another, those without are paired by position', () => {
  const doc = arrayWith([
    new Y.Map([['id', 'a']]),
    new Y.Map([['v', 1]]),
    new Y.Text('one two'),
    Y.Array.from([1]),
  ])
  const [first, second, third, fourth] = doc.getArray(key).toArray()
  replace(doc, 'array', [{ id: 'b' }, { v: 2 }, 'one 2', [1, 2]])
  const after = doc.getArray(key).toArray()
  expect(after[0]).not.toBe(first)
  expect(after[1] === second && after[2] === third && after[3] === fourth).toBe(true)
  expect(readAs('array', doc)).toEqual([{ id: 'b' }, { v: 2 }, 'one 2', [1, 2]])
})

/** A fragment as a rich-text editor makes it. */
function fragmentOf(text: string): Y.XmlFragment {
  const [fragment, paragraph, content] = [new Y.XmlFragment(), new Y.XmlElement('paragraph'), new Y.XmlText()]
  content.insert(0, text, { bold: {} })
  paragraph.insert(0, [content])
  fragment.insert(0, [paragraph])
  return fragment
}

test('[R11] what JSON cannot hold is read in words, and fed back it stays', () => {
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

test('[R11] a fragment of XML is read as XML and changed in place; a new one follows its siblings', () => {
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

test('[R7] many edits in one array are cheap, and beyond what is affordable plain elements are written anew', () => {
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

test('[R7] after a replacement the positions that Yjs remembers are still right', () => {
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

test('[R11] a diagram of nodes and edges: moving, renaming and adding nodes touches nothing else', () => {
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
  const data = readContent(doc, key).data as {
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

test('[R4] concurrent edits of other entries and elements all stay', () => {
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
