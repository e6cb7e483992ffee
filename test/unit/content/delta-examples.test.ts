import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { ApiError } from '../../../src/core/base/errors.ts'
import { readDelta } from '../../../src/core/content/delta/delta.ts'
import { checkContent } from '../../../src/core/content/replace.ts'
import { replace } from './json-support.ts'
import { deltaIn, docWith, key, loaded, unitsOf, updatesOf } from './support.ts'

function refusal(data: unknown): string {
  try {
    checkContent({ type: 'delta', contentKey: key, data })
  } catch (error) {
    if (error instanceof ApiError && error.status === 'INVALID_ARGUMENT') return error.message
    throw error
  }
  throw new Error('it was accepted')
}

function docOf(delta: unknown[]): Y.Doc {
  const author = new Y.Doc()
  author.getText(key).applyDelta(delta)
  return loaded(author)
}

const replaceDelta = (doc: Y.Doc, data: unknown) => replace(doc, 'delta', data)

test('[R1] rejects a delta that has operations other than inserts, and identifies the operation', () => {
  expect(refusal('text')).toMatch(/^data must be a Quill delta for type "delta", .*, not a string$/)
  expect(refusal({})).toMatch(/not an object$/)
  expect(refusal({ ops: {} })).toBe('data.ops must be an array, not an object')
  expect(refusal({ ops: [], more: 1 })).toBe('data must have nothing but ops; it has "more"')
  expect(refusal([{ insert: 'a' }, { retain: 1 }])).toBe(
    'operation 1 of data is a retain: data is the whole content, so it has only inserts',
  )
  expect(refusal([{ delete: 1 }])).toMatch(/^operation 0 of data is a delete: /)
  expect(refusal(['a'])).toBe('operation 0 of data must be an object with insert, not a string')
  expect(refusal([{ insert: 1 }])).toBe(
    'operation 0 of data must insert a string or an embed (an object), not a number',
  )
  expect(refusal([{ insert: [1] }])).toMatch(/not an array$/)
  expect(refusal([{}])).toMatch(/not missing$/)
  expect(refusal([{ insert: 'a', attributes: 'bold' }])).toBe(
    'operation 0 of data must have an object as attributes, not a string',
  )
  expect(refusal([{ insert: 'a', other: 1 }])).toBe(
    'operation 0 of data must have insert and attributes, not "other"',
  )
})

test('[R6] limits the number of values and the nesting depth of a delta, as for JSON content', () => {
  expect(refusal(Array.from({ length: 200_001 }, () => ({ insert: 'a' })))).toMatch(/at most 200000 values/)
  let deep: unknown = 1
  for (let level = 0; level < 70; level++) deep = { deep }
  expect(refusal([{ insert: deep }])).toMatch(/at most 64 levels deep/)
})

test('[R8] changes only the text, attributes and embeds that differ from the target delta', () => {
  const doc = docOf([
    { insert: 'Gandalf', attributes: { bold: true } },
    { insert: ' the ' },
    { insert: { image: 'x' }, attributes: { width: 10 } },
    { insert: 'Grey' },
    { insert: '\n', attributes: { header: 1 } },
  ])
  const before = unitsOf(doc)
  const target = [
    { insert: 'Gandalf', attributes: { bold: true } },
    { insert: ' the ' },
    { insert: { image: 'x' }, attributes: { width: 20 } },
    { insert: 'White', attributes: { color: 'white' } },
    { insert: '\n', attributes: { header: 2 } },
  ]
  expect(replaceDelta(doc, { ops: target })).toEqual({ changed: true, insertions: 5, deletions: 4 })
  expect(deltaIn(doc)).toEqual(target)
  const after = unitsOf(doc)
  expect(after.slice(0, 13).map(({ id }) => id)).toEqual(before.slice(0, 13).map(({ id }) => id))
  expect(after.at(-1)?.id).toBe(before.at(-1)?.id)
})

test('[R8] writes exactly the attributes of the delta: none is inherited, and null removes an attribute', () => {
  const doc = docOf([{ insert: 'bold', attributes: { bold: true, constructor: 1 } }])
  replaceDelta(doc, [
    { insert: 'bo', attributes: { bold: true, constructor: 1 } },
    { insert: 'x', attributes: { italic: null } },
    { insert: 'ld', attributes: { bold: null, constructor: 1 } },
  ])
  expect(readDelta(doc, key)).toEqual([
    { insert: 'bo', attributes: { bold: true, constructor: 1 } },
    { insert: 'x' },
    { insert: 'ld', attributes: { constructor: 1 } },
  ])
})

test('[R9] keeps an equal embed, and replaces a different embed', () => {
  const doc = docOf([{ insert: { image: 'a' } }, { insert: { image: 'b' } }, { insert: { image: 'c' } }])
  const before = unitsOf(doc).map(({ id }) => id)
  replaceDelta(doc, [
    { insert: { image: 'b' } },
    { insert: 'x' },
    { insert: { image: 'C' } },
    { insert: { image: 'c' } },
  ])
  const after = unitsOf(doc).map(({ id }) => id)
  expect([after[0], after[3]]).toEqual([before[1], before[2]])
  expect(before).not.toContain(after[2])
})

test('[R9] distinguishes embeds even if there are more of them than placeholder characters', () => {
  const images = Array.from({ length: 3_000 }, (_, index) => ({ insert: { image: index } }))
  const doc = docOf(images)
  const swapped = images.map((op, index) => (index < 1_500 ? (images[index + 1_023] as typeof op) : op))
  replaceDelta(doc, swapped)
  expect(readDelta(doc, key)).toEqual(swapped)
})

test('[R9] wraps an embed that is not a JSON object in an object, and keeps the embed when that object is written back', () => {
  const author = new Y.Doc()
  author.getText(key).insertEmbed(0, new Y.Map([['k', 1]]))
  author.getText(key).insertEmbed(1, Y.Array.from([1]))
  author.getText(key).insert(2, 'text')
  const doc = loaded(author)
  const read = readDelta(doc, key)
  expect(read).toEqual([{ insert: { k: 1 } }, { insert: { embed: [1] } }, { insert: 'text' }])
  expect(replaceDelta(doc, read).changed).toBe(false)
  const before = unitsOf(doc)
  replaceDelta(doc, [...read, { insert: '!' }])
  expect(unitsOf(doc).slice(0, 2)).toEqual(before.slice(0, 2))
})

test('[R8] stores exactly the given delta, and neither adds nor removes a line break', () => {
  const doc = new Y.Doc()
  replaceDelta(doc, [{ insert: 'abc' }])
  expect(readDelta(doc, key)).toEqual([{ insert: 'abc' }])
  replaceDelta(doc, [{ insert: 'abc\n' }])
  expect(readDelta(doc, key)).toEqual([{ insert: 'abc\n' }])
  expect(replaceDelta(doc, [{ insert: 'abc' }, { insert: '\n' }]).changed).toBe(false)
  replaceDelta(doc, [])
  expect(readDelta(doc, key)).toEqual([])
})

test('[R9] does not show values that were put into a text by mistake, but keeps these values', () => {
  const author = new Y.Doc()
  author.getText(key).applyDelta([{ insert: 'one two' }, { insert: 'three', attributes: { bold: true } }])
  Y.Array.prototype.insert.call(author.getText(key), 4, [1, 2])
  const doc = loaded(author)
  const values = (): unknown[] =>
    unitsOf(doc)
      .filter(({ value }) => value === '')
      .map(({ id }) => id)
  const before = values()
  for (const target of [[{ insert: 'one three', attributes: { bold: true } }], [{ insert: 'x' }]]) {
    replaceDelta(doc, target)
    expect(readDelta(doc, key)).toEqual(target)
    expect(values()).toEqual(before)
  }
})

test('[R10] replaces unpaired surrogates with U+FFFD, in the delta and in the document', () => {
  const doc = docOf([{ insert: 'a\ud800' }, { insert: { image: 'x' } }])
  expect(readDelta(doc, key)).toEqual([{ insert: 'a\ufffd' }, { insert: { image: 'x' } }])
  replaceDelta(doc, [{ insert: '\udfff😀', attributes: { note: '\ud800' } }])
  expect(readDelta(doc, key)).toEqual([{ insert: '\ufffd😀', attributes: { note: '\ufffd' } }])
})

test('[R5] reads and writes a text as text and as delta, rejects a map, and creates no root for an empty delta', () => {
  const doc = docWith('plain')
  expect(readDelta(doc, key)).toEqual([{ insert: 'plain' }])
  replaceDelta(doc, [{ insert: 'plain', attributes: { bold: true } }])
  expect(replace(doc, 'text', 'plain').changed).toBe(false)
  expect(doc.share.get(key)?.constructor).toBe(Y.AbstractType)
  const map = new Y.Doc()
  map.getMap(key).set('a', 1)
  expect(() => replaceDelta(map, [])).toThrow('is of type "map", not "delta"')
  const none = new Y.Doc()
  expect(replaceDelta(none, []).changed).toBe(false)
  expect(none.share.size).toBe(0)
})

test('[R7] when too much would change, writes everything again, with the correct result', () => {
  const letters = Array.from({ length: 30_000 }, (_, index) => ({
    insert: String.fromCharCode(97 + (index % 26)),
    attributes: index % 2 === 0 ? { bold: true } : { color: index % 5 },
  }))
  const doc = docOf([{ insert: letters.map(({ insert }) => insert).join(''), attributes: { font: 'f' } }])
  expect(updatesOf(doc, () => void replaceDelta(doc, letters)).length).toBe(1)
  expect(readDelta(doc, key)).toEqual(letters)
  expect(replaceDelta(doc, letters).changed).toBe(false)
})

test('[R7] rejects a read as delta of a text with too many attributes to list, but accepts the replacement of the text by a delta', () => {
  const author = new Y.Doc()
  const text = author.getText(key)
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key ${index}`, true]))
  text.insert(0, 'x'.repeat(1_000), many)
  author.transact(() => {
    for (let at = 0; at < 1_000; at += 2) text.format(at, 1, { bold: true })
  })
  const doc = loaded(author)
  expect(() => readDelta(doc, key)).toThrow(/more than 200000 attributes/)
  replaceDelta(doc, [{ insert: 'short', attributes: { bold: true } }])
  expect(readDelta(doc, key)).toEqual([{ insert: 'short', attributes: { bold: true } }])
})

test('[R3] removes the formatting marks around deleted content, so that no receiver has to remove them', () => {
  const image = { insert: { image: 'x' } }
  const written =
    'a\u{f0000}\u{e0001}\u{1f44d}\u{1f3fd}\u{20000}\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{d}\u{a}\u{1d4b3}aae\u{301}\u{1f44d}\u{1f3fd}\u{1f600}aa'
  const kept = written.slice(14)
  const others = '\u{10000}'.repeat(10)
  const server = docOf([])
  const client = loaded(server, 3)
  client.getText(key)
  for (const target of [
    [{ insert: written }, { ...image, attributes: { bold: true } }],
    [image, { insert: others }, { insert: kept, attributes: { constructor: true } }, image, image],
    [{ insert: `\ufffd${others.slice(10)}${kept}` }],
  ]) {
    const updates = updatesOf(server, () => void replaceDelta(server, target))
    const ofClient = updatesOf(client, () => {
      for (const update of updates) Y.applyUpdate(client, update)
    })
    expect(ofClient.length).toBe(updates.length)
    expect(deltaIn(client)).toEqual(target)
  }
})
