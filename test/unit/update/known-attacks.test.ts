import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { checkPlaces } from '../../../src/core/update/check-places.ts'
import {
  clientsMax,
  readUpdate,
  structsMax,
  subdocumentsMax,
  valuesMax,
} from '../../../src/core/update/read-update.ts'
import { bytesOf, varString, varUint } from '../../support/faults/crafted-updates.ts'

const read = (bytes: Uint8Array) => readUpdate(bytes)

/** Structs of client 7 from `clock` on, without deletions. */
const ofClient7 = (clock: number, structs: readonly (readonly number[])[]): Uint8Array =>
  bytesOf(1, varUint(structs.length), 7, varUint(clock), structs.flat(), 0)

const arrayInRoot = [7, 1, ...varString('t'), 0]
const arrayInside = (clock: number): number[] => [7, 0, 7, ...varUint(clock), 0]
const insideKey = (kind: number, ...content: readonly number[]): number[] => [
  kind | 0x20,
  0,
  7,
  0,
  ...varString('k'),
  ...content,
]
const textAfter = (clock: number, text: string): number[] => [0x84, 7, ...varUint(clock), ...varString(text)]

/** The bytes 0 and 1 repeatedly: collected runs, or deletions of the first character. */
const pairs = (count: number): Uint8Array => new Uint8Array(count * 2).map((_, index) => index % 2)
const runs = (count: number): Uint8Array =>
  Buffer.concat([bytesOf(1, varUint(count), 7, 0), pairs(count), bytesOf(0)])

const subdocument = (...options: readonly number[]): Uint8Array =>
  ofClient7(0, [[9, 1, ...varString('t'), ...varString('guid'), ...options]])

/** Checks an update with a map in the root and the structs. */
function check(structs: readonly (readonly number[])[], ...deleted: readonly number[]): () => void {
  const map = [7, 1, ...varString('t'), 1]
  const bytes = bytesOf(1, structs.length + 1, 7, 0, map, structs.flat(), deleted.length > 0 ? deleted : 0)
  return () => checkPlaces(bytes, new Y.Doc())
}

describe('counts', () => {
  it('[UPD-11] rejects a block without structs, because Yjs would replace another block of the client with it', () => {
    const twice = bytesOf(2, 1, 5, 0, 4, 1, varString('t'), varString('a'), 0, 5, 0, 0)
    const doc = new Y.Doc()
    Y.applyUpdate(doc, twice)
    expect(Y.decodeStateVector(Y.encodeStateVector(doc)).size).toBe(0)
    expect(() => read(twice)).toThrow('no structs')
  })

  it('[UPD-11] limits the number of structs, clients and deleted ranges', () => {
    expect(read(runs(structsMax)).structs).toBe(structsMax)
    expect(() => read(runs(structsMax + 1))).toThrow('parts of a kind')
    const clients = Array.from({ length: clientsMax + 1 }, (_, client) => [1, ...varUint(client), 0, 0, 1])
    expect(() => read(bytesOf(varUint(clients.length), clients.flat(), 0))).toThrow('parts of a kind')
    const subdocument = [9, 1, ...varString('t'), ...varString(''), 118, 0]
    const subdocuments = (count: number) =>
      Buffer.concat([
        bytesOf(1, varUint(count), 7, 0),
        Buffer.concat(Array.from({ length: count }, () => Buffer.from(subdocument))),
        bytesOf(0),
      ])
    expect(read(subdocuments(subdocumentsMax)).structs).toBe(subdocumentsMax)
    expect(() => read(subdocuments(subdocumentsMax + 1))).toThrow('more than 10000 subdocuments')
    const doc = new Y.Doc()
    Y.applyUpdate(doc, subdocuments(subdocumentsMax - 1))
    const [one, two] = [1, 2].map((count) => {
      const more = new Y.Doc()
      for (let n = 0; n < count; n += 1) more.getMap('more').set(`${n}`, new Y.Doc())
      return Y.encodeStateAsUpdate(more)
    })
    expect(() => checkPlaces(one as Uint8Array, doc)).not.toThrow()
    expect(() => checkPlaces(two as Uint8Array, doc)).toThrow('more than 10000 subdocuments')
    expect(read(two as Uint8Array).types).toBe(2)
    const deletions = Buffer.concat([bytesOf(0, 1, 7, varUint(structsMax + 1)), pairs(structsMax + 1)])
    expect(() => read(deletions)).toThrow('parts of a kind')
  })
})

describe('values', () => {
  /** One item with a value that is repeated. */
  const repeated = (
    kind: number,
    count: number,
    value: readonly number[],
    start: readonly number[] = [],
  ): Uint8Array =>
    Buffer.concat([
      bytesOf(1, 1, 7, 0, kind, 1, varString('t'), start, varUint(count)),
      Buffer.alloc(count * value.length, Uint8Array.from(value)),
      bytesOf(0),
    ])

  it('[UPD-11] limits the number of values, also of nested ones', () => {
    const emptyObject = [118, 0]
    const objects = valuesMax / 2
    expect(read(repeated(8, valuesMax, [126])).values).toBe(valuesMax)
    expect(() => read(repeated(8, valuesMax + 1, [126]))).toThrow('too many values')
    expect(read(repeated(8, objects, emptyObject)).values).toBe(objects)
    expect(() => read(repeated(8, objects + 1, emptyObject))).toThrow('too many values')
    expect(read(repeated(8, objects - 1, emptyObject, [1, 117])).values).toBe(1)
    expect(() => read(repeated(8, objects, emptyObject, [1, 117]))).toThrow('too many values')
  })

  it('[UPD-11] limits the number of values in JSON', () => {
    expect(read(repeated(2, valuesMax / 4, varString('1'))).values).toBe(valuesMax / 4)
    expect(() => read(repeated(2, valuesMax / 4 + 1, varString('1')))).toThrow('too many values')
    const embed = (commas: number): Uint8Array => {
      const text = Buffer.from(`[${'1,'.repeat(commas)}1]`)
      return Buffer.concat([
        bytesOf(1, 1, 7, 0, 5, 1, varString('t'), varUint(text.length)),
        text,
        bytesOf(0),
      ])
    }
    expect(read(embed(valuesMax - 1)).structs).toBe(1)
    expect(() => read(embed(valuesMax))).toThrow('too many values')
  })
})

describe('nesting', () => {
  it('[UPD-8] measures nesting from the known structs, even if an update makes false claims about them', () => {
    const doc = new Y.Doc()
    let clock = 0
    const next = (): Uint8Array => {
      const from = Math.max(0, clock - 1)
      const structs = Array.from({ length: 150 }, (_, index) =>
        index === 0 ? arrayInRoot : arrayInside(from + index - 1),
      )
      return ofClient7(from, structs)
    }
    const first = next()
    checkPlaces(first, doc)
    Y.applyUpdate(doc, first)
    clock = Y.getState(doc.store, 7)
    expect(clock).toBe(150)
    expect(() => checkPlaces(next(), doc)).toThrow('deeper than 200')
  })

  it('[UPD-8] does not count known structs twice in the nesting', () => {
    const doc = new Y.Doc()
    const chain = ofClient7(
      0,
      Array.from({ length: 199 }, (_, clock) => (clock === 0 ? arrayInRoot : arrayInside(clock - 1))),
    )
    Y.applyUpdate(doc, chain)
    expect(() => checkPlaces(chain, doc)).not.toThrow()
  })

  it('[UPD-8] measures nesting without the claims of an update about the known part of a run', () => {
    const doc = new Y.Doc()
    const chain = Array.from({ length: 199 }, (_, clock) =>
      clock === 0 ? arrayInRoot : arrayInside(clock - 1),
    )
    const innermostText = [4, 0, 7, ...varUint(198), ...varString('ab')]
    Y.applyUpdate(doc, ofClient7(0, [...chain, innermostText]))
    const claimsRoot = [4, 1, ...varString('t'), ...varString('abc')]
    const besideItsEnd = [0x87, 7, ...varUint(201), 0]
    expect(() => checkPlaces(ofClient7(199, [claimsRoot, besideItsEnd]), doc)).toThrow('deeper than 200')
  })

  it('[UPD-8] the nesting check ends even if references are circular', () => {
    const circle = bytesOf(2, 1, 8, 0, [0x84, 7, 0, ...varString('a')], 1, 7, 0, [0x87, 8, 0, 0], 0)
    expect(() => checkPlaces(circle, new Y.Doc())).not.toThrow()
  })
})

describe('subdocuments', () => {
  it('[UPD-2] rejects an option that would make a subdocument impossible to encode', () => {
    expect(() => read(subdocument(118, 1, ...varString('guid'), 126))).toThrow('unknown option')
    expect(() => read(subdocument(126))).toThrow('not an object')
    expect(() => read(subdocument(118, 1, ...varString('a name that is far too long'), 126))).toThrow('long')
    expect(read(subdocument(118, 0)).structs).toBe(1)
  })

  it('[UPD-2] accepts all options that Yjs writes', () => {
    const doc = new Y.Doc()
    doc.getMap('m').set('a', new Y.Doc({ gc: false, autoLoad: true, meta: { title: ['x'] } }))
    expect(read(Y.encodeStateAsUpdate(doc)).structs).toBe(1)
  })
})

describe('entries of maps', () => {
  it('[UPD-13] rejects a live map entry that has more than one value, for any content', () => {
    expect(check([insideKey(4, ...varString('ab'))])).toThrow('more than one value')
    expect(check([insideKey(8, 2, 126, 126)])).toThrow('more than one value')
    expect(check([insideKey(2, 2, ...varString('1'), ...varString('2'))])).toThrow('more than one value')
  })

  it('[UPD-13] rejects a live item that has more than one value and is a map entry only because of its origin', () => {
    expect(check([insideKey(8, 1, 126), textAfter(1, 'ab')])).toThrow('more than one value')
    const known = new Y.Doc()
    known.getMap('m').set('k', 1)
    const { client } = (known.getMap('m')._map.get('k') as Y.Item).id
    const after = bytesOf(1, 1, 7, 0, [0x84, ...varUint(client), 0, ...varString('ab')], 0)
    expect(() => checkPlaces(after, known)).toThrow('more than one value')
    expect(() => checkPlaces(after, new Y.Doc())).not.toThrow()
  })

  it('[UPD-13] rejects a live map entry if only a part of it was deleted', () => {
    expect(check([insideKey(4, ...varString('abc'))], 1, 7, 1, 1, 2)).toThrow('more than one value')
    expect(check([insideKey(4, ...varString('abc'))], 1, 7, 1, 1, 1)).toThrow('more than one value')
  })

  it('[UPD-13] accepts a deleted run, because documents without garbage collection send such runs', () => {
    expect(check([insideKey(8, 2, 126, 126)], 1, 7, 1, 1, 2)).not.toThrow()
    const doc = new Y.Doc({ gc: false })
    for (let value = 0; value < 5; value++) doc.getMap('m').set('k', value)
    const update = Y.encodeStateAsUpdate(doc)
    expect(read(update).structs).toBe(2)
    expect(() => checkPlaces(update, new Y.Doc())).not.toThrow()
  })

  it('[UPD-13] Yjs throws when it deletes a map that has an entry of the rejected kind', () => {
    const doc = new Y.Doc()
    const key = ['m', 'x'].map(varString)
    const map = [7, 1, ...(key[0] as number[]), 1]
    const entry = [0x24, 0, 7, 0, ...(key[1] as number[]), ...varString('abcdef')]
    Y.applyUpdate(doc, ofClient7(0, [map, entry]))
    Y.applyUpdate(doc, ofClient7(7, [textAfter(3, 'y'), textAfter(7, 'z')]))
    expect(() => Y.applyUpdate(doc, bytesOf(0, 1, 7, 1, 0, 1))).toThrow()
  })

  it('[UPD-13] checks a text of several characters only if it can be a map entry', () => {
    const doc = new Y.Doc()
    doc.getText('t').insert(0, 'the first text')
    const first = Y.encodeStateAsUpdate(doc)
    expect(read(first).longRuns).toBe(0)
    const known = new Y.Doc()
    Y.applyUpdate(known, first)
    doc.getText('t').insert(3, ' very')
    const update = Y.encodeStateAsUpdate(doc)
    expect(read(update).longRuns).toBe(2)
    for (const before of [known, new Y.Doc()]) expect(() => checkPlaces(update, before)).not.toThrow()
  })
})
