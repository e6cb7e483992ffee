import { expect, it } from 'vitest'
import * as Y from 'yjs'
import { checkPatch } from '../../../../src/core/content/edit/patch/check-patch.ts'
import { patchOfInsertion } from '../../../../src/core/content/edit/patch/path-edits.ts'
import { readAs } from '../json-support.ts'
import { key, loaded, updatesOf } from '../support.ts'
import { canonical, elementsOf } from './patch-model.ts'
import { docOf, patch, place, refusal } from './patch-support.ts'

/** A document in the form of the server. */
function made(make: (doc: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  make(author)
  return loaded(author)
}

const repeated = (times: number, operation: object): object[] =>
  Array.from({ length: times }, () => operation)

const checkRefusal = (operation: unknown): string =>
  refusal(() => checkPatch([{ op: 'test', path: '', value: {} }, operation], place))

it('[EDIT-40] rejects an operation that is not complete, and states its position', () => {
  expect(refusal(() => checkPatch({}, place))).toBe(
    'crdt/invalid-edit edits[0].patch: must be an array of operations of JSON Patch, not an object',
  )
  for (const [operation, problem] of [
    [null, 'must be an object, not null'],
    [[], 'must be an object, not an array'],
    [{}, 'op must be "add", "remove", "replace", "move", "copy" or "test", not missing'],
    [{ op: 'set', path: '' }, 'op must be "add", "remove", "replace", "move", "copy" or "test", not "set"'],
    [{ op: 'remove' }, 'path must be a string, not missing'],
    [{ op: 'remove', path: 3 }, 'path must be a string, not a number'],
    [
      { op: 'remove', path: 'a' },
      'path is not a JSON pointer: "a"; expected "" or "/" before each key, with ~0 for ~ and ~1 for /',
    ],
    [
      { op: 'remove', path: '/a~2' },
      'path is not a JSON pointer: "/a~2"; expected "" or "/" before each key, with ~0 for ~ and ~1 for /',
    ],
    [{ op: 'add', path: '/a' }, 'value is required'],
    [
      Object.create({ op: 'remove', path: '/a' }),
      'op must be "add", "remove", "replace", "move", "copy" or "test", not missing',
    ],
    [{ op: 'move', path: '/a' }, 'from must be a string, not missing'],
    [{ op: 'copy', path: '/a', from: null }, 'from must be a string, not null'],
    [
      { op: 'move', from: '/a', path: '/a/b' },
      'a value cannot be moved into itself; path must not start with from',
    ],
  ] as const)
    expect(checkRefusal(operation)).toBe(`crdt/invalid-edit edits[0].patch[1]: ${problem}`)
  expect(checkRefusal({ op: 'add', path: '/a', value: { b: Number.NaN } })).toBe(
    'crdt/invalid-edit edits[0].patch[1].value: data at /b must be a JSON value, not NaN',
  )
})

it('[EDIT-40] accepts 1,000 operations, and rejects more', () => {
  const operation = { op: 'remove', path: '/a' }
  expect(checkPatch(repeated(1_000, operation), place)).toHaveLength(1_000)
  expect(refusal(() => checkPatch(repeated(1_001, operation), place))).toBe(
    'crdt/invalid-edit edits[0].patch: must have at most 1000 operations; it has 1001',
  )
})

it('[EDIT-40] reads pointers by RFC 6901, and replaces unpaired surrogates', () => {
  const [operation] = checkPatch([{ op: 'remove', path: '/~01/~10//\ud800/😀/ /-' }], place)
  expect(operation?.path).toEqual(['~1', '/0', '', '\ufffd', '😀', ' ', '-'])
})

it('[EDIT-41] states which value an operation does not find', () => {
  const from = { list: [1, 2], text: 'abc', object: { a: 1 } }
  for (const storage of ['shared', 'plain'] as const) {
    const failure = (operation: object): string =>
      refusal(() => patch(docOf(from, storage), 'map', [operation]))
    const prefix = 'crdt/patch-failed edits[0].patch[0]:'
    for (const [operation, problem] of [
      [
        { op: 'remove', path: '/object/b' },
        'cannot remove "/object/b": the object at "/object" has no member "b"; read the document again',
      ],
      [
        { op: 'replace', path: '/list/2', value: 0 },
        'cannot replace "/list/2": the array at "/list" has 2 elements, but not "/list/2"; read the document again',
      ],
      [
        { op: 'add', path: '/list/01', value: 0 },
        'cannot add "/list/01": the array at "/list" has 2 elements, but not "/list/01"; read the document again',
      ],
      [
        { op: 'remove', path: '/list/-' },
        'cannot remove "/list/-": the array at "/list" has 2 elements, but not "/list/-"; read the document again',
      ],
      [
        { op: 'add', path: '/text/a', value: 0 },
        'cannot add "/text/a": the value at "/text" is "abc", and has no members; read the document again',
      ],
      [
        { op: 'copy', from: '/x/y', path: '/z' },
        'cannot copy "/z": the object at "" has no member "x"; read the document again',
      ],
      [
        { op: 'remove', path: '' },
        'cannot remove "": the whole root cannot be removed; replace it with an empty value',
      ],
      [
        { op: 'replace', path: '', value: [1] },
        'cannot replace "": the root must be an object, not an array with 1 element',
      ],
      [{ op: 'copy', from: '/text', path: '' }, 'cannot copy "": the root must be an object, not "abc"'],
      [
        { op: 'test', path: '/text', value: 'abd' },
        'test failed: the value at "/text" is "abc", not "abd"; read the document again',
      ],
      [
        { op: 'test', path: '/object', value: { a: 2 } },
        'test failed: the value at "/object" is an object with 1 member, but with other content; read the document again',
      ],
      [
        { op: 'test', path: '/list', value: { a: 2 } },
        'test failed: the value at "/list" is an array with 2 elements, not an object with 1 member; read the document again',
      ],
    ] as const)
      expect(failure(operation)).toBe(`${prefix} ${problem}`)
  }
})

it('[EDIT-40] changes a shared text in place, and keeps the characters that stay', () => {
  const doc = made((author) =>
    author.getMap(key).set('task', new Y.Map([['title', new Y.Text('a good plan')]])),
  )
  const title = (doc.getMap(key).get('task') as Y.Map<Y.Text>).get('title')
  const end = Y.createRelativePositionFromTypeIndex(title as Y.Text, 7)
  const outcome = patch(doc, 'map', [{ op: 'replace', path: '/task/title', value: 'a very good plan' }])
  expect(outcome).toEqual({ place: { path: '/task/title' }, insertions: 5, deletions: 0, changed: true })
  expect((doc.getMap(key).get('task') as Y.Map<Y.Text>).get('title')).toBe(title)
  expect(Y.createAbsolutePositionFromRelativePosition(end, doc)?.index).toBe(12)
})

it('[EDIT-40] replaces only the entry whose plain value contains the change', () => {
  const doc = docOf({ a: { x: [1, { y: 2 }] }, b: { x: 1 } }, 'plain')
  const other = doc.getMap(key)._map.get('b')
  const bytes = updatesOf(doc, () => {
    expect(patch(doc, 'map', [{ op: 'add', path: '/a/x/1/z', value: 3 }])).toEqual({
      place: { path: '/a/x/1/z' },
      insertions: 1,
      deletions: 1,
      changed: true,
    })
  })
  expect(bytes).toHaveLength(1)
  expect(readAs('map', doc)).toEqual({ a: { x: [1, { y: 2, z: 3 }] }, b: { x: 1 } })
  expect(doc.getMap(key)._map.get('b')).toBe(other)
})

it('[EDIT-40] creates new values in the form of all their siblings, otherwise as plain values', () => {
  const doc = docOf([{ id: 1, title: 'one' }], 'shared')
  patch(doc, 'array', [{ op: 'add', path: '/-', value: { id: 2, title: 'two' } }])
  const second = doc.getArray(key).get(1) as Y.Map<unknown>
  expect(second).toBeInstanceOf(Y.Map)
  expect(second.get('title')).toBeInstanceOf(Y.Text)
  patch(doc, 'array', [{ op: 'add', path: '/0', value: [1] }])
  expect(doc.getArray(key).get(0)).toEqual([1])
  const plain = made((author) => author.getArray(key).push([new Y.Map(), {}]))
  patch(plain, 'array', [{ op: 'copy', from: '/0', path: '/-' }])
  expect(plain.getArray(key).get(2)).toEqual({})
})

it('[EDIT-40] moves an element by one deletion and one insertion, and keeps all other elements', () => {
  for (const storage of ['shared', 'plain'] as const) {
    const doc = docOf(['a', 'b', 'c', 'd'], storage)
    const before = elementsOf(doc.get(key))
    expect(patch(doc, 'array', [{ op: 'move', from: '/1', path: '/2' }])).toMatchObject({
      insertions: 1,
      deletions: 1,
    })
    expect(readAs('array', doc)).toEqual(['a', 'c', 'b', 'd'])
    const after = elementsOf(doc.get(key)).map(({ id }) => id)
    for (const [was, is] of [
      [0, 0],
      [2, 1],
      [3, 3],
    ] as const)
      expect(after[is]).toBe(before[was]?.id)
  }
})

it('[EDIT-40] writes nothing when operations cancel each other', () => {
  for (const storage of ['shared', 'plain'] as const) {
    const doc = docOf({ a: 'text', list: [1, { b: 'x' }] }, storage)
    const updates = updatesOf(doc, () => {
      const outcome = patch(doc, 'map', [
        { op: 'move', from: '/a', path: '/c' },
        { op: 'add', path: '/list/0', value: 5 },
        { op: 'remove', path: '/list/2/b' },
        { op: 'move', from: '/c', path: '/a' },
        { op: 'add', path: '/list/2/b', value: 'x' },
        { op: 'remove', path: '/list/0' },
      ])
      expect(outcome).toEqual({ place: { path: '' }, insertions: 0, deletions: 0, changed: false })
    })
    expect(updates).toEqual([])
  }
})

it('[EDIT-40] replaces the whole root by the smallest difference', () => {
  const doc = docOf([{ id: 1 }, { id: 2 }], 'shared')
  const second = doc.getArray(key).get(1)
  patch(doc, 'array', [
    { op: 'replace', path: '', value: [{ id: 2, done: true }] },
    { op: 'add', path: '/0/title', value: 'two' },
  ])
  expect(readAs('array', doc)).toEqual([{ id: 2, done: true, title: 'two' }])
  expect(doc.getArray(key).get(0)).toBe(second)
})

it('[EDIT-40] treats keys of every kind as keys', () => {
  const keys = [
    '__proto__',
    'constructor',
    'toString',
    '',
    'a/b',
    'm~n',
    '~1',
    '-',
    '01',
    '😀',
    '\u0000',
    'é',
  ]
  const pointerOf = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  for (const storage of ['shared', 'plain'] as const)
    for (const name of keys) {
      const doc = docOf({ inner: { a: 1 } }, storage)
      const expected = `{"inner":{"a":1,${JSON.stringify(name)}:{"b":"c"}}}`
      const path = `/inner${pointerOf(name)}`
      for (const wrong of [path, `${path}/b`])
        expect(refusal(() => patch(doc, 'map', [{ op: 'remove', path: wrong }]))).toContain('has no member')
      patch(doc, 'map', [
        { op: 'add', path, value: { b: 'c' } },
        { op: 'test', path: `${path}/b`, value: 'c' },
      ])
      expect(canonical(readAs('map', doc))).toBe(canonical(JSON.parse(expected)))
      patch(doc, 'map', [
        { op: 'add', path: pointerOf(name), value: 1 },
        { op: 'remove', path: pointerOf(name) },
      ])
      patch(doc, 'map', [{ op: 'remove', path }])
      expect(readAs('map', doc)).toEqual({ inner: { a: 1 } })
    }
  expect(Object.prototype).not.toHaveProperty('b')
})

it('[EDIT-40] keeps stored values that JSON cannot express next to a change in a plain value', () => {
  const bytes = new Uint8Array([1, 2, 3])
  const doc = made((author) => author.getMap(key).set('a', { bytes, big: 10n, list: [bytes], n: 1 }))
  patch(doc, 'map', [
    { op: 'replace', path: '/a/n', value: 2 },
    { op: 'copy', from: '/a/bytes', path: '/b' },
  ])
  expect(loaded(doc).getMap(key).toJSON()).toEqual({ a: { bytes, big: 10n, list: [bytes], n: 2 }, b: bytes })
})

it('[EDIT-40] changes an XML fragment in place, and rejects malformed XML with the position of the patch', () => {
  const doc = made((author) => {
    const fragment = new Y.XmlFragment()
    author.getMap(key).set('body', fragment)
    const [one, two] = [new Y.XmlElement('p'), new Y.XmlElement('p')]
    fragment.insert(0, [one, two])
    one.insert(0, [new Y.XmlText('one')])
    two.insert(0, [new Y.XmlText('two')])
  })
  const body = doc.getMap(key).get('body') as Y.XmlFragment
  const second = body.get(1)
  patch(doc, 'map', [
    { op: 'test', path: '/body', value: '<p>one</p><p>two</p>' },
    { op: 'replace', path: '/body', value: '<p>two</p>' },
  ])
  expect(doc.getMap(key).get('body')).toBe(body)
  expect(body.get(0)).toBe(second)
  const before = Y.encodeStateAsUpdate(doc)
  const operations = [
    { op: 'add', path: '/n', value: 1 },
    { op: 'replace', path: '/body', value: '<p>' },
  ]
  expect(refusal(() => patch(doc, 'map', operations))).toMatch(
    /^crdt\/invalid-content edits\[0\]\.patch: data at \/body: /,
  )
  expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
})

it('[EDIT-41] rejects the move and the copy of values that cannot be created again', () => {
  const doc = made((author) => {
    author.getMap(key).set('node', new Y.XmlElement('p'))
    author.getMap(key).set('inside', new Y.Map([['sub', new Y.Doc({ guid: 'g' })]]))
  })
  expect(refusal(() => patch(doc, 'map', [{ op: 'move', from: '/node', path: '/b' }]))).toBe(
    'crdt/patch-failed edits[0].patch[0]: cannot move "/b": a single XML node cannot be moved or copied; the value is at or below "/node"',
  )
  expect(refusal(() => patch(doc, 'map', [{ op: 'copy', from: '/inside', path: '/b' }]))).toBe(
    'crdt/patch-failed edits[0].patch[0]: cannot copy "/b": a subdocument cannot be moved or copied; the value is at or below "/inside"',
  )
  patch(doc, 'map', [
    { op: 'test', path: '/inside', value: { sub: { subdocument: 'g' } } },
    { op: 'remove', path: '/inside' },
  ])
  expect(Object.keys(readAs('map', doc) as object)).toEqual(['node'])
})

it('[EDIT-41] rejects copies that grow beyond the limits, at low cost', () => {
  const doc = docOf({ a: [0, 1, 2, 3] }, 'shared')
  const before = Y.encodeStateAsUpdate(doc)
  const doubled = repeated(1_000, { op: 'copy', from: '/a', path: '/a/-' })
  expect(refusal(() => patch(doc, 'map', doubled))).toMatch(/^crdt\/content-limit edits\[0\]\.patch\[\d+\]: /)
  const wide = Array.from({ length: 1_000 }, (_, n) => ({ op: 'copy', from: '', path: `/${n}` }))
  expect(refusal(() => patch(doc, 'map', wide))).toMatch(/^crdt\/content-limit edits\[0\]\.patch\[\d+\]: /)
  const deep = Array.from({ length: 300 }, (_, n) => ({ op: 'add', path: '/b'.repeat(n + 1), value: {} }))
  expect(refusal(() => patch(doc, 'map', deep))).toMatch(
    /^crdt\/content-limit edits\[0\]\.patch\[64\]: values must be nested at most 64 levels deep/,
  )
  const long = docOf({ a: 'x'.repeat(1_000_000) }, 'plain')
  expect(
    refusal(() =>
      patch(
        long,
        'map',
        wide.map(({ op, path }) => ({ op, from: '/a', path })),
      ),
    ),
  ).toBe('crdt/content-limit edits[0].patch[16]: the copied values have more than 16777216 characters')
  expect(Y.encodeStateAsUpdate(doc)).toEqual(before)
})

it('[EDIT-40] carries out 1,000 operations on one large array', () => {
  for (const storage of ['shared', 'plain'] as const) {
    const expected = Array.from({ length: 20_000 }, (_, n) => [n])
    const doc = docOf(expected, storage)
    const operations = Array.from({ length: 500 }, (_, n) => [
      { op: 'remove', path: `/${n * 39}` },
      { op: 'add', path: `/${n * 20}`, value: [-n] },
    ]).flat()
    for (const [n] of Array.from({ length: 500 }).entries()) {
      expected.splice(n * 39, 1)
      expected.splice(n * 20, 0, [n === 0 ? 0 : -n])
    }
    expect(patch(doc, 'array', operations).changed).toBe(true)
    expect(readAs('array', doc)).toEqual(expected)
  }
})

it('[EDIT-40] finds no value at a path that the root does not have', () => {
  for (const storage of ['shared', 'plain'] as const) {
    const root = docOf({ a: [{ b: 'text' }, null], c: { d: [1] } }, storage).get(key)
    for (const missing of [
      ['b'],
      ['a', '2'],
      ['a', '-'],
      ['a', '00'],
      ['a', '0', 'b', '0'],
      ['__proto__'],
      ['c', 'toString'],
    ])
      expect(refusal(() => patchOfInsertion(root, 'map', missing, 'into', 1))).toMatch(
        /^crdt\/target-not-found /,
      )
  }
})

it('[EDIT-40] expresses insertions and removals by path as patches', () => {
  const doc = docOf({ list: ['a', 'b'], other: {} }, 'shared')
  const root = doc.get(key)
  const insertion = (path: string[], at: 'before' | 'after' | 'into' | 'start' | 'end') =>
    patchOfInsertion(root, 'map', path, at, 'new').map((operation) => operation.path.join('/'))
  expect(insertion(['list', '1'], 'before')).toEqual(['list/1'])
  expect(insertion(['list', '1'], 'after')).toEqual(['list/2'])
  expect(insertion(['list'], 'into')).toEqual(['list/-'])
  expect(insertion(['list'], 'end')).toEqual(['list/-'])
  expect(insertion(['list'], 'start')).toEqual(['list/0'])
  expect(refusal(() => insertion(['list', '2'], 'before'))).toBe(
    'crdt/target-not-found there is no value at "/list/2"; read the document again',
  )
  for (const [path, at] of [
    [['list'], 'before'],
    [['other'], 'into'],
    [[], 'after'],
    [[], 'end'],
  ] as const)
    expect(refusal(() => insertion([...path], at))).toContain('crdt/edit-not-supported')
})

it('[EDIT-40] keeps the formatting of texts and XML that a move or a copy creates again as shared values', () => {
  const doc = made((author) => {
    const title = new Y.Text()
    title.insert(0, 'plain ')
    title.insert(6, 'bold', { bold: true })
    title.insertEmbed(10, { image: 'x' })
    const body = new Y.XmlFragment()
    const heading = new Y.XmlElement('heading')
    heading.setAttribute('level', 2 as never)
    body.insert(0, [heading])
    author.getArray(key).push([
      new Y.Map<unknown>([
        ['title', title],
        ['body', body],
      ]),
      new Y.Map(),
    ])
  })
  const first = (): Y.Map<unknown> => doc.getArray<Y.Map<unknown>>(key).get(0)
  const before = (first().get('title') as Y.Text).toDelta()
  patch(doc, 'array', [
    { op: 'move', from: '/0', path: '/1' },
    { op: 'copy', from: '/1', path: '/0' },
    { op: 'test', path: '/0/title', value: 'plain bold' },
    { op: 'remove', path: '/1' },
  ])
  expect((first().get('title') as Y.Text).toDelta()).toEqual(before)
  expect(((first().get('body') as Y.XmlFragment).get(0) as Y.XmlElement).getAttribute('level')).toBe(2)
  patch(doc, 'array', [{ op: 'copy', from: '/0/title', path: '/1/text' }])
  expect(doc.getArray<Y.Map<unknown>>(key).get(1).get('text')).toBe('plain bold')
})
