import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../src/core/base/errors.ts'
import { readRoot } from '../../../src/core/content/read-document.ts'
import { type ContentTarget, checkContent, replaceContent } from '../../../src/core/content/replace.ts'
import { type RootKind, rootKind } from '../../../src/core/content/yjs/root-kind.ts'
import { docWith, key, loaded, replaceText, textOf, updatesOf } from './support.ts'

function refusal(act: () => void): string {
  try {
    act()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.status).toBe('INVALID_ARGUMENT')
    return error.message
  }
  throw new Error('it was accepted')
}

/** Documents by the kind of their root, built from shared types. */
const roots: Readonly<Record<Exclude<RootKind, 'none'>, readonly ((doc: Y.Doc) => void)[]>> = {
  text: [
    (doc) => doc.getText(key).insert(0, 'text'),
    (doc) => doc.getText(key).insertEmbed(0, { image: 'x' }),
    (doc) => doc.getText(key).insert(0, 'text', { bold: true }),
    (doc) => {
      doc.getText(key).insertEmbed(0, new Y.Map([['k', 1]]))
      doc.getText(key).insert(1, 'after a shared type')
    },
  ],
  xml: [
    (doc) => doc.getXmlFragment(key).push([new Y.XmlElement('p')]),
    (doc) => doc.getXmlFragment(key).push([new Y.XmlText('text')]),
  ],
  xmltext: [
    (doc) => {
      const text = doc.get(key, Y.XmlText)
      text.setAttribute('__dir', 'ltr')
      text.insertEmbed(0, new Y.XmlText('inner'))
    },
  ],
  array: [
    (doc) => doc.getArray(key).push([1]),
    (doc) => doc.getArray(key).push([new Y.Map()]),
    (doc) => doc.getArray(key).push([new Uint8Array(2)]),
    (doc) => doc.getArray(key).push([new Y.XmlFragment()]),
  ],
  map: [(doc) => doc.getMap(key).set('k', 1)],
}

const allRoots = Object.entries(roots).flatMap(([kind, makes]) => makes.map((make) => ({ kind, make })))

function made(make: (doc: Y.Doc) => void): Y.Doc {
  const author = new Y.Doc()
  make(author)
  return loaded(author)
}

test('[R1] reports the first of several problems in a fixed order, and writes nothing', () => {
  const doc = made((author) => author.getMap(key).set('k', 1))
  const cases: readonly [unknown, RegExp][] = [
    [{ type: 7, contentKey: 7, data: 7 }, /^type must be a string/],
    [{ type: 'nothing', contentKey: 7, data: 7 }, /^contentKey must be a string/],
    [{ type: 'nothing', contentKey: '\ud800', data: 7 }, /^contentKey must be well-formed/],
    [{ type: 'nothing', contentKey: key }, /^data is required/],
    [{ type: 'nothing', contentKey: key, data: 7 }, /^type must be one of "text".*"nothing"/],
    [{ type: 'text', contentKey: key, data: 7 }, /^data must be a string .* not a number/],
    [{ type: 'text', contentKey: key, data: null }, /^data must be a string .* not null/],
    [{ type: 'text', contentKey: key, data: ['a'] }, /^data must be a string .* not an array/],
    [{ type: 'text', contentKey: key, data: 'a' }, /"content" is of type "map", not "text"/],
  ]
  const updates = updatesOf(doc, () => {
    for (const [target, message] of cases) {
      expect(refusal(() => replaceContent(doc, target as ContentTarget))).toMatch(message)
    }
  })
  expect(updates).toEqual([])
  expect(doc.getMap(key).toJSON()).toEqual({ k: 1 })
})

test('[R1] without a document, checks everything except the type of the root', () => {
  expect(() => checkContent({ type: 'text', contentKey: key, data: '' })).not.toThrow()
  expect(refusal(() => checkContent({ type: 'text', contentKey: key, data: {} }))).toMatch(/an object/)
})

test('[R1] rejects property names that every object has, such as `constructor`, as content types', () => {
  for (const type of ['constructor', '__proto__', 'toString', 'hasOwnProperty', '']) {
    expect(refusal(() => checkContent({ type, contentKey: key, data: '' }))).toMatch(
      /^type must be one of "text"/,
    )
  }
})

test('[R5] detects the type of a root from its live items, even in a document loaded from updates', () => {
  for (const { kind, make } of allRoots) expect(rootKind(made(make), key)).toBe(kind)
  expect(rootKind(new Y.Doc(), key)).toBe('none')
})

test('[R5] treats a root that has only deleted items as untyped, unless they were entries of a map', () => {
  const doc = made((author) => {
    author.getArray(key).push([1, 2])
    author.getArray(key).delete(0, 2)
    author.getMap('map').set('k', 1)
    author.getMap('map').delete('k')
  })
  expect(rootKind(doc, key)).toBe('none')
  expect(rootKind(doc, 'map')).toBe('map')
})

test('[R5] rejects a root of another type, and does not change that root', () => {
  for (const { kind, make } of allRoots.filter((root) => root.kind !== 'text')) {
    const doc = made(make)
    const updates = updatesOf(doc, () =>
      expect(refusal(() => replaceText(doc, 'text'))).toContain(`"${kind}"`),
    )
    expect(updates).toEqual([])
    expect(rootKind(doc, key)).toBe(kind)
  }
})

test('[R5] writes a text into an empty root, regardless of the type that a caller opened the root as', () => {
  const openers: readonly ((doc: Y.Doc) => unknown)[] = [
    (doc) => doc.getMap(key),
    (doc) => doc.getArray(key),
    (doc) => doc.getXmlFragment(key),
    (doc) => doc.getText(key),
    (doc) => doc.get(key),
    () => null,
  ]
  for (const open of openers) {
    const doc = new Y.Doc()
    open(doc)
    replaceText(doc, 'now a text')
    expect(textOf(doc)).toBe('now a text')
    expect(readRoot(doc, key).data).toBe('now a text')
  }
})

test('[R5] a replacement gives the root no type, so that the server sends no cleanup of client edits', () => {
  const author = new Y.Doc()
  author.getText(key).insert(0, 'one two three', { bold: true })
  const server = loaded(author)
  replaceText(server, 'one 2 three')
  expect(server.share.get(key)?.constructor).toBe(Y.AbstractType)
  const client = loaded(server, 3)
  const other = loaded(server, 4)
  const changes = [client, other].flatMap((doc) =>
    updatesOf(doc, () => doc.getText(key).format(2, 5, { bold: null })),
  )
  const sent = updatesOf(server, () => {
    for (const update of changes) Y.applyUpdate(server, update, 'socket')
  })
  expect(sent.length).toBe(changes.length)
})

test('[R5] without a key, uses the only root, or `content` if the document has no root or several', () => {
  expect(readRoot(new Y.Doc())).toEqual({ type: 'text', contentKey: 'content', data: '' })
  expect(readRoot(docWith('text'))).toEqual({ type: 'text', contentKey: 'content', data: 'text' })
  const other = made((author) => author.getText('quill').insert(0, 'q'))
  expect(readRoot(other)).toEqual({ type: 'text', contentKey: 'quill', data: 'q' })
  const several = made((author) => {
    author.getText('one').insert(0, '1')
    author.getText('two').insert(0, '2')
  })
  expect(readRoot(several, 'two').data).toBe('2')
  expect(() => readRoot(several)).toThrow(
    'the document has several roots and none is called "content": name one of "one", "two" as contentKey',
  )
  replaceContent(several, { type: 'text', data: '3' })
  expect(readRoot(several)).toEqual({ type: 'text', contentKey: 'content', data: '3' })
  replaceContent(other, { type: 'text', data: 'Q' })
  expect([...other.share.keys()]).toEqual(['quill'])
})

test('[R5] rejects a missing root with NOT_FOUND, and lists some of the existing roots', () => {
  const doc = made((author) => {
    for (let index = 0; index < 25; index++) author.getText(`${index}`.padStart(5_000, 'x')).insert(0, 'a')
  })
  expect(() => readRoot(doc, 'unknown')).toThrow(/^the document has no root "unknown"; .* and 5 more$/)
  try {
    readRoot(doc, 'y'.repeat(1e6))
  } catch (error) {
    expect(error).toMatchObject({ status: 'NOT_FOUND', details: { roots: { length: 20 } } })
    expect(String(error).length).toBeLessThan(3_000)
  }
})

test('[R5] a read creates no root, and gives no root a type', () => {
  const doc = made((author) => {
    author.getMap('map').set('k', 1)
    author.getText('').insert(0, 'a root without a name')
  })
  expect(() => readRoot(doc, 'unknown')).toThrow('"unknown"')
  expect(doc.share.has('unknown')).toBe(false)
  expect(readRoot(doc, 'map')).toEqual({ type: 'map', contentKey: 'map', data: { k: 1 } })
  expect(readRoot(doc, '').data).toBe('a root without a name')
  expect(doc.share.get('map')?.constructor).toBe(Y.AbstractType)
})

test('[R10] reads unpaired surrogates as U+FFFD, like other replicas', () => {
  const doc = new Y.Doc()
  doc.getText(key).insert(0, 'a\ud800')
  doc.getText(key).insert(2, '\udc00b', { bold: true })
  expect(readRoot(doc, key).data).toBe(textOf(doc))
  expect(textOf(doc)).toBe('a\ufffd\ufffdb')
})
