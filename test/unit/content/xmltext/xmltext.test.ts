import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readRoot, readRootAs } from '../../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../../src/core/content/replace.ts'
import { rootKind } from '../../../../src/core/content/yjs/root-kind.ts'
import { itLong } from '../../../support/time/full-run.ts'
import { key, loaded, runs, updatesOf } from '../support.ts'
import { refusal } from '../xml-support.ts'

const replace = (doc: Y.Doc, data: unknown) => replaceContent(doc, { type: 'xmltext', contentKey: key, data })
const read = (doc: Y.Doc): unknown => readRoot(loaded(doc), key).data

const docOf = (data: unknown): Y.Doc => {
  const author = new Y.Doc()
  author.clientID = 1
  replace(author, data)
  return loaded(author)
}

/** Elements of Lexical and Slate, which always have a type. */
const words = fc
  .array(fc.constantFrom('the ', 'fox', ' ', '\n', '😀', 'é', '漢', 'x'), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))
const value = fc.constantFrom<unknown>(1, 'a', null, true, { x: [1, { y: 'z' }] }, [], { constructor: 1 })
const named = fc.dictionary(fc.constantFrom('id', 'bold', 'url', 'constructor', 'x y'), value, { maxKeys: 3 })
const formatting = fc.dictionary(
  fc.constantFrom('bold', 'color', 'comment', 'constructor'),
  fc.constantFrom<unknown>(true, 'red', { id: 1 }),
  { maxKeys: 2 },
)
const withFormatting = (piece: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.tuple(piece, formatting).map(([inner, attributes]) => ({ ...inner, attributes }))

const { text } = fc.letrec<{ text: object; element: object; piece: object }>((tie) => ({
  text: fc.record({
    attributes: named.map((attributes) => ({ ...attributes, type: 'paragraph' })),
    delta: fc.array(tie('piece'), { maxLength: 3 }),
  }),
  element: fc.record({
    name: fc.constantFrom('image', 'UNDEFINED', 'p'),
    attributes: named,
    children: fc.array(
      fc.oneof(
        named.map((attributes) => ({ element: { name: 'inner', attributes } })),
        words.map((insert) => ({ text: { delta: [{ insert }] } })),
      ),
      { maxLength: 2 },
    ),
  }),
  piece: withFormatting(
    fc.oneof(
      { maxDepth: 3, depthIdentifier: 'shared' },
      words.map((insert) => ({ insert })),
      named.map((insert) => ({ insert })),
      named.map((map) => ({ map })),
      tie('text').map((inner) => ({ text: inner })),
      tie('element').map((inner) => ({ element: inner })),
    ),
  ),
}))

/** Content of a root of an editor. */
const roots = fc.record({
  attributes: named,
  delta: fc.array(
    text.map((inner) => ({ text: inner })),
    { minLength: 1, maxLength: 4 },
  ),
})

test('[R22] changes nothing when any document is read and written back', () => {
  fc.assert(
    fc.property(roots, (data) => {
      const doc = docOf(data)
      const content = read(doc)
      const updates = updatesOf(doc, () => expect(replace(doc, content).changed).toBe(false))
      expect(updates).toEqual([])
      expect(replace(doc, data).changed).toBe(false)
      expect(rootKind(doc, key)).toBe('xmltext')
    }),
    runs,
  )
})

test('[R22] reads the text around hidden content as one text, and changes nothing when that text is written back', () => {
  const author = new Y.Doc()
  const text = new Y.XmlText('weft and warp')
  author.get(key, Y.XmlText).insertEmbed(0, text)
  text.setAttribute('type', 'paragraph')
  text.insertEmbed(5, new Y.XmlFragment())
  text.format(0, 4, { bold: true })
  const doc = loaded(author)
  expect(updatesOf(doc, () => replace(doc, read(doc)))).toEqual([])
  replace(doc, { delta: [{ text: { attributes: { type: 'paragraph' }, delta: [{ insert: 'weft' }] } }] })
  expect(read(doc)).toEqual({
    delta: [{ text: { attributes: { type: 'paragraph' }, delta: [{ insert: 'weft' }] } }],
  })
})

test('[R22] changes nothing when a root that shows only attributes is read and written back', () => {
  const author = new Y.Doc()
  author.get(key, Y.XmlText).insertEmbed(0, new Y.XmlHook('hook'))
  author.get(key, Y.XmlText).setAttribute('dir', 'ltr')
  const doc = loaded(author)
  expect(updatesOf(doc, () => replace(doc, read(doc)))).toEqual([])
})

test('[R3] gives every replica the target content with a single update, and leaves clients nothing to clean up', () => {
  fc.assert(
    fc.property(roots, roots, roots, (before, after, next) => {
      const server = docOf(before)
      const client = loaded(server, 3)
      client.get(key, Y.XmlText)
      for (const target of [after, next]) {
        const updates = updatesOf(server, () => replace(server, target))
        expect(updates.length).toBeLessThanOrEqual(1)
        const ofClient = updatesOf(client, () => {
          for (const update of updates) Y.applyUpdate(client, update)
        })
        expect(ofClient.length).toBe(updates.length)
        expect(read(server)).toEqual(read(docOf(target)))
        expect(readRoot(client, key).data).toEqual(read(server))
      }
    }),
    runs,
  )
})

/** A root with one paragraph. */
const paragraph = (...delta: object[]): object => ({
  delta: [{ text: { attributes: { type: 'paragraph' }, delta } }],
})

test('[R3] removes marks around formatted content when plain content replaces it', () => {
  const red = { color: 'red' }
  const server = docOf(paragraph({ element: { name: 'image' }, attributes: red }))
  replace(server, paragraph({ insert: { n: 1 }, attributes: red }, { insert: 'the ', attributes: red }))
  const client = loaded(server, 3)
  client.get(key, Y.XmlText)
  const updates = updatesOf(server, () => replace(server, paragraph({ insert: 'plain' })))
  const ofClient = updatesOf(client, () => {
    for (const update of updates) Y.applyUpdate(client, update)
  })
  expect(ofClient).toEqual(updates)
})

test('[R4] merges concurrent edits of a client, and all replicas converge', () => {
  fc.assert(
    fc.property(roots, roots, fc.nat(5), (before, after, at) => {
      const server = docOf(before)
      const client = loaded(server, 3)
      const ofServer = updatesOf(server, () => replace(server, after))
      const ofClient = updatesOf(client, () => {
        const root = client.get(key, Y.XmlText)
        root.insertEmbed(Math.min(at, root.length), new Y.XmlText('typed'))
        for (const { insert } of root.toDelta() as { insert: unknown }[])
          if (insert instanceof Y.XmlText) insert.insert(0, 'typed')
      })
      for (const update of ofClient) Y.applyUpdate(server, update)
      for (const update of ofServer) Y.applyUpdate(client, update)
      expect(read(server)).toEqual(read(client))
    }),
    runs,
  )
})

test('[R22] keeps the identity of equal content, and updates elements without replacing them', () => {
  const paragraph = (id: number, content: string): object => ({
    text: { attributes: { type: 'paragraph', id }, delta: [{ map: { n: id } }, { insert: content }] },
  })
  const before = { delta: [paragraph(1, 'one of them'), paragraph(2, 'two'), paragraph(3, 'three')] }
  const doc = docOf(before)
  const typesIn = (): unknown[] =>
    (doc.get(key, Y.XmlText).toDelta() as { insert: unknown }[]).map(({ insert }) => insert)
  const [first, , third] = typesIn()
  const updates = updatesOf(doc, () =>
    replace(doc, { delta: [paragraph(1, 'one of many'), paragraph(4, 'new'), paragraph(3, 'three')] }),
  )
  const after = typesIn()
  expect(after[0]).toBe(first)
  expect(after[2]).toBe(third)
  expect(updates.length).toBe(1)
  expect(updates[0]?.length).toBeLessThan(150)
})

test('[R1] rejects invalid content with the position of the problem', () => {
  const deep = (depth: number): object => (depth === 0 ? {} : { delta: [{ text: deep(depth - 1) }] })
  const cases: readonly [unknown, RegExp][] = [
    ['text', /^data must be an object with attributes, delta, not a string/],
    [[], /not an array/],
    [{ ops: [] }, /^data must have attributes, delta, not "ops"/],
    [{ delta: {} }, /^data at \/delta must be an array, not an object/],
    [{ delta: [7] }, /^data at \/delta\/0 must be an object .* not a number/],
    [{ delta: [{}] }, /^data at \/delta\/0 must have one of text, element, map/],
    [{ delta: [{ insert: 'a', text: {} }] }, /only one of insert/],
    [{ delta: [{ text: {}, map: {} }] }, /must have one of/],
    [{ delta: [{ insert: 7 }] }, /^data at \/delta\/0\/insert must be a string or an object/],
    [{ delta: [{ map: [] }] }, /^data at \/delta\/0\/map must be an object/],
    [{ delta: [{ element: {} }] }, /^data at \/delta\/0\/element\/name must be a string/],
    [{ delta: [{ element: { name: 'a', children: [{ map: {} }] } }] }, /children\/0 must have text, element/],
    [deep(200), /at most 199 deep/],
    [{ delta: [{ insert: 'a' }, { map: {} }] }, /^data at \/delta must hold a text/],
    [{ attributes: { a: 1 } }, /^data at \/delta must hold a text/],
  ]
  const doc = docOf({ delta: [{ text: { attributes: { type: 'p' } } }] })
  const updates = updatesOf(doc, () => {
    for (const [data, message] of cases) expect(refusal(() => replace(doc, data))).toMatch(message)
  })
  expect(updates).toEqual([])
  expect(() => docOf(deep(199))).not.toThrow()
})

test('[R1] when a map cannot become the target, rejects the content before anything is written', () => {
  const author = new Y.Doc()
  const [element, map] = [new Y.XmlText(), new Y.Map<unknown>()]
  author.get(key, Y.XmlText).insertEmbed(0, element)
  element.setAttribute('type', 'p')
  element.insertEmbed(0, map)
  map.set('notes', new Y.XmlFragment())
  const doc = loaded(author)
  const target = { delta: [{ text: { attributes: { type: 'h1' }, delta: [{ map: { notes: '<p>' } }] } }] }
  const updates = updatesOf(doc, () => expect(refusal(() => replace(doc, target))).toMatch(/notes/))
  expect(updates).toEqual([])
})

itLong('[R3] reads content with the maximum number of attributes, and writes it back', () => {
  const words = (shift: number): object =>
    paragraph(
      ...Array.from({ length: 20_000 }, (_, n) => ({
        insert: `w${n} `,
        attributes: n % 2 === 0 ? { b: (n + shift) % 5 } : { c: (n + shift) % 3, d: shift, e: n % 7 },
      })),
    )
  const doc = docOf(words(1))
  expect(replace(doc, words(2)).changed).toBe(true)
  expect(replace(doc, words(2)).changed).toBe(false)
  expect(replace(doc, read(doc)).changed).toBe(false)
})

test('[R7] rejects reads and changes of content with too many attributes to list', () => {
  const author = new Y.Doc()
  const element = new Y.XmlText()
  author.get(key, Y.XmlText).insertEmbed(0, element)
  element.setAttribute('type', 'p')
  for (let n = 0; n < 500; n++) element.insert(n, 'w', n % 2 === 0 ? { odd: true } : { odd: null })
  element.format(0, 500, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}`, true])))
  const doc = loaded(author)
  const updates = updatesOf(doc, () => {
    expect(refusal(() => replace(doc, paragraph({ insert: 'x' })))).toMatch(/at most 200000 attributes/)
    expect(refusal(() => read(doc))).toMatch(/at most 200000 attributes/)
  })
  expect(updates).toEqual([])
})

test('[R5] rejects xmltext content for a root of another type, and reads of this root as xmltext', () => {
  const others: readonly ((doc: Y.Doc) => unknown)[] = [
    (doc) => doc.getText(key).insert(0, 'text'),
    (doc) => doc.getText(key).insertEmbed(0, { image: 'x' }),
    (doc) => doc.getMap(key).set('a', new Y.XmlText()),
    (doc) => doc.getArray(key).push([1]),
    (doc) => doc.getArray(key).push([new Y.Map()]),
    (doc) => doc.getArray(key).push([new Y.XmlText(), 1]),
    (doc) => {
      const text = new Y.XmlText('a text with properties')
      text.setAttribute('type', 'paragraph')
      doc.getArray(key).push([text, 1])
    },
    (doc) => doc.getXmlFragment(key).push([new Y.XmlElement('paragraph')]),
  ]
  for (const make of others) {
    const author = new Y.Doc()
    make(author)
    const doc = loaded(author)
    const updates = updatesOf(doc, () =>
      expect(refusal(() => replace(doc, {}))).toMatch(/ of type "\w+", not "xmltext"/),
    )
    expect(updates).toEqual([])
    expect(refusal(() => readRootAs(doc, 'xmltext', key))).toMatch(/ of type "\w+", not "xmltext"/)
  }
})

test('[R5] treats shared texts that fit both XML and xmltext as the type that the caller specifies', () => {
  const made: readonly [(root: Y.XmlText) => void, kind: string][] = [
    [(root) => root.insertEmbed(0, new Y.XmlText('a paragraph without properties')), 'xml'],
    [(root) => root.insertEmbed(0, new Y.XmlText()), 'xml'],
    [(root) => root.insertEmbed(0, new Y.XmlElement()), 'xml'],
    [
      (root) => {
        root.setAttribute('__dir', 'ltr')
        root.insertEmbed(0, new Y.XmlElement('hr'))
      },
      'xmltext',
    ],
    [
      (root) => {
        root.setAttribute('__dir', 'ltr')
        root.insertEmbed(0, new Y.XmlText())
        root.delete(0, 1)
      },
      'map',
    ],
  ]
  for (const [make, kind] of made) {
    const author = new Y.Doc()
    make(author.get(key, Y.XmlText))
    const doc = loaded(author)
    expect(rootKind(doc, key)).toBe(kind)
    const { type, data } = readRootAs(doc, 'xmltext', key)
    expect(type).toBe('xmltext')
    if (kind !== 'map') expect(replace(doc, data).changed).toBe(false)
    const target = { delta: [{ text: { attributes: { type: 'p' }, delta: [{ insert: 'new' }] } }] }
    expect(replace(doc, target).changed).toBe(true)
    expect(readRoot(loaded(doc), key)).toEqual({ type: 'xmltext', contentKey: key, data: target })
  }
})

test('[R5] treats a root that contains a text nested in a text as xmltext, not as XML', () => {
  const author = new Y.Doc()
  const element = new Y.XmlText('text before a ')
  author.get(key, Y.XmlText).insertEmbed(0, element)
  element.insertEmbed(element.length, new Y.XmlText('link'))
  expect(rootKind(loaded(author), key)).toBe('xmltext')
})

test('[R3] changes nothing when content that a root has accepted is written again', () => {
  const pieces = fc.constantFrom<object>(
    { insert: 'a' },
    { insert: { n: 1 } },
    { map: { n: 1 } },
    { text: {} },
    { text: { delta: [{ insert: 'a' }] } },
    { element: { name: 'image' } },
    { element: { name: 'UNDEFINED' } },
  )
  const any = fc.record({
    attributes: fc.constantFrom({}, { a: 1 }),
    delta: fc.array(pieces, { maxLength: 3 }),
  })
  fc.assert(
    fc.property(any, any, (first, second) => {
      const doc = new Y.Doc()
      for (const data of [first, second]) {
        const isEmpty = Object.keys(data.attributes).length + data.delta.length === 0
        try {
          replace(doc, data)
        } catch (error) {
          expect(isEmpty).toBe(false)
          expect(String(error)).toMatch(/data at \/delta must hold a text/)
          continue
        }
        expect(replace(doc, data).changed).toBe(false)
        expect(replace(loaded(doc), data).changed).toBe(false)
      }
    }),
    runs,
  )
})
