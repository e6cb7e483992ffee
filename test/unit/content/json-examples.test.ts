import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../src/core/base/errors.ts'
import { checkContent } from '../../../src/core/content/replace.ts'
import { readAs, replace } from './json-support.ts'
import { key, loaded, updatesOf } from './support.ts'

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

test('[R1] rejects data whose form does not fit the type, and states the expected form', () => {
  expect(refusal('map', [])).toBe('data must be an object for type "map", not an array')
  expect(refusal('map', 'x')).toBe('data must be an object for type "map", not a string')
  expect(refusal('map', null)).toBe('data must be an object for type "map", not null')
  expect(refusal('array', { length: 0 })).toBe('data must be an array for type "array", not an object')
  expect(refusal('array', 7)).toBe('data must be an array for type "array", not a number')
})

test('[R1] rejects values that JSON cannot hold, and states the position', () => {
  expect(refusal('map', { a: [1, { b: Number.NaN }] })).toBe('data at /a/1/b must be a JSON value, not NaN')
  expect(refusal('array', [() => 1])).toMatch(/^data at \/0 must be a JSON value/)
  expect(refusal('array', [new Date(0)])).toBe('data at /0 must be a JSON value')
  expect(refusal('array', [undefined])).toMatch(/^data at \/0 must be a JSON value, not missing/)
})

test('[R6] limits nesting and the number of values', () => {
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

test('[R6] accepts map keys of any length, including empty keys', () => {
  const long = 'k'.repeat(5_000)
  const doc = mapWith({ shared: new Y.Map([['a', 1]]), plain: {} })
  const target = { '': 1, [long]: { '': '' }, shared: { '': 1, [long]: 2 }, plain: { '': 1, [long]: 2 } }
  replace(doc, 'map', target)
  expect(readAs('map', doc)).toEqual(target)
  expect(updatesOf(doc, () => replace(doc, 'map', target))).toEqual([])
})

test('[R14] accepts keys that every object has, such as constructor, as ordinary keys', () => {
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

test('[R14] stores the key __proto__ as an ordinary entry, in shared values too', () => {
  const doc = mapWith({ a: 1 })
  const client = loaded(doc, 3)
  const target: unknown = JSON.parse('{ "__proto__": 1, "a": [{ "__proto__": { "b": 2 } }, {}], "c": {} }')
  for (const update of updatesOf(doc, () => void replace(doc, 'map', target))) Y.applyUpdate(client, update)
  expect(JSON.stringify(readAs('map', client))).toBe('{"a":[{"__proto__":{"b":2}},{}],"__proto__":1,"c":{}}')
  const map = client.getMap(key)
  expect(map.get('__proto__')).toBe(1)
  expect((map.get('a') as Y.Array<Y.Map<unknown>>).get(0).get('__proto__')).toEqual({ b: 2 })
  expect(map.get('c')).toEqual({})
  replace(doc, 'map', { a: 2 })
  expect([...doc.getMap(key).keys()]).toEqual(['a'])
})

test('[R10] replaces unpaired surrogates with U+FFFD, and rejects keys that become equal', () => {
  const doc = mapWith({ text: new Y.Text('x'), plain: 'x' })
  replace(doc, 'map', { text: 'a\ud800', plain: ['\udc00b'] })
  expect(readAs('map', doc)).toEqual({ text: 'a\ufffd', plain: ['\ufffdb'] })
  expect(replace(doc, 'map', { text: 'a\ud800', plain: ['\udc00b'] }).changed).toBe(false)
  const same = 'two keys are the same when unpaired surrogates become U+FFFD'
  for (const other of ['\udc00', '\ufffd'])
    for (const keys of [
      ['\ud800', other],
      [other, '\ud800'],
    ])
      expect(refusal('map', { a: Object.fromEntries(keys.map((each) => [each, 1])) })).toBe(
        `data at /a/\ufffd: ${same}`,
      )
})

test('[R3] creates no root when the target is empty', () => {
  const doc = new Y.Doc()
  expect(replace(doc, 'map', {}).changed).toBe(false)
  expect(replace(doc, 'array', []).changed).toBe(false)
  expect(doc.share.size).toBe(0)
})

test('[R5] gives maps and arrays no root type, and rejects a root of another type', () => {
  const doc = mapWith({ a: 1 })
  replace(doc, 'map', { a: 2 })
  expect(doc.share.get(key)?.constructor).toBe(Y.AbstractType)
  expect(() => replace(doc, 'array', [])).toThrow(
    'the content at contentKey "content" is of type "map", not "array"',
  )
  expect(() => replace(arrayWith([1]), 'map', {})).toThrow('is of type "array", not "map"')
})

test('[R11] changes an object in a Y.Map, an array in a Y.Array and a string in a Y.Text without replacing the shared type', () => {
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

test('[R11] replaces a shared value by a value of another kind, and keeps plain values plain', () => {
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

test('[R11] keeps formatting, embeds and cursors of a text that is inside a map', () => {
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

test('[R12] writes new values as plain values, unless all values of their kind in the container are shared', () => {
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

test('[R12] stores each key of a new item as a shared or a plain value, as its siblings do', () => {
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

test('[R13] ignores the order of keys and the sign of zero, stores null, and deletes a key that is absent', () => {
  const doc = mapWith({ a: { x: 1, y: [{ p: 1, q: -0 }] }, b: null, c: -0 })
  expect(replace(doc, 'map', { c: 0, b: null, a: { y: [{ q: 0, p: 1 }], x: 1 } }).changed).toBe(false)
  replace(doc, 'map', { a: null, c: -0 })
  expect(readAs('map', doc)).toEqual({ a: null, c: 0 })
  expect(doc.getMap(key).has('b')).toBe(false)
  expect(replace(arrayWith([0, null]), 'array', [-0, null]).changed).toBe(false)
})

test('[R13] reads undefined as an absent value, and keeps undefined when the read content is written back', () => {
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

test('[R15] keeps equal elements, and the order of duplicates', () => {
  const doc = arrayWith([1, 1, { a: 1 }, 'x', { a: 1 }])
  const before = elementIds(doc)
  replace(doc, 'array', [0, 1, 1, 'new', { a: 1 }, { a: 1 }, 1])
  const after = elementIds(doc)
  expect([1, 2, 4, 5].map((index) => after[index])).toEqual([0, 1, 2, 4].map((index) => before[index]))
  expect(readAs('array', doc)).toEqual([0, 1, 1, 'new', { a: 1 }, { a: 1 }, 1])
})

test('[R15] matches changed shared items by their id under any common key, such as `id`, `key` or `slug`', () => {
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

test('[R15] keeps the identity of an item that is renamed', () => {
  const doc = arrayWith([new Y.Map([['title', new Y.Text('one')]]), new Y.Map([['name', 'a']])])
  const before = doc.getArray(key).toArray()
  replace(doc, 'array', [{ title: 'one!' }, { name: 'b' }])
  const after = doc.getArray(key).toArray()
  expect(after[0] === before[0] && after[1] === before[1]).toBe(true)
})

test('[R15] never matches items with different ids, and matches items without ids by position', () => {
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
