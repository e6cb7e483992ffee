import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { PartTooLargeError, splitUpdate } from '../../../src/mirror/split-update.ts'
import { readUpdate } from '../../../src/update/read-update.ts'

const step = fc.record({
  author: fc.nat(3),
  kind: fc.constantFrom('text', 'bold', 'list', 'map', 'xml', 'delete', 'sync'),
  at: fc.nat(1000),
  size: fc.integer({ min: 1, max: 300 }),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** A document of a few authors who receive each other's edits from time to time. */
function made(script: readonly Step[]): Y.Doc {
  const docs = [1, 2, 3, 4].map((client) => {
    const doc = new Y.Doc()
    doc.clientID = client
    return doc
  })
  const share = (): void => {
    for (const from of docs)
      for (const to of docs) Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)))
  }
  for (const { author, kind, at, size } of script) {
    const doc = docs[author]
    if (doc === undefined) continue
    if (kind === 'sync') share()
    else edit(doc, kind, at, size)
  }
  share()
  return docs[0] as Y.Doc
}

function edit(doc: Y.Doc, kind: Exclude<Step['kind'], 'sync'>, at: number, size: number): void {
  const [text, list] = [doc.getText('content'), doc.getArray('list')]
  const from = at % (text.length + 1)
  if (kind === 'text') text.insert(from, '🙂ä.x'.repeat(size))
  if (kind === 'bold') text.format(0, from, { bold: at % 2 === 0 })
  if (kind === 'list')
    list.insert(
      at % (list.length + 1),
      Array.from({ length: size }, () => ({ n: at })),
    )
  if (kind === 'map') doc.getMap('map').set(`key${at % 5}`, new Y.Array<number>())
  if (kind === 'xml') doc.getXmlFragment('xml').insert(0, [new Y.XmlElement('p')])
  if (kind === 'delete') text.delete(from, Math.min(size, text.length - from))
}

describe('an update too large for a message', () => {
  const scripts = fc.array(step, { minLength: 1, maxLength: 30 })

  it('[MIRROR-15] splits an update into parts that fit into a message, depend on earlier parts only, and together give the same document', () => {
    fc.assert(
      fc.property(scripts, fc.integer({ min: 128, max: 2000 }), (script, bytesMax) => {
        const doc = made(script)
        const whole = Y.encodeStateAsUpdate(doc)
        const copy = new Y.Doc()
        for (const part of splitUpdate(whole, { aimed: bytesMax, most: bytesMax })) {
          expect(part.length).toBeLessThanOrEqual(bytesMax)
          readUpdate(part)
          Y.applyUpdate(copy, part)
          expect([copy.store.pendingStructs, copy.store.pendingDs]).toEqual([null, null])
        }
        expect(Buffer.from(Y.encodeStateVector(copy))).toEqual(Buffer.from(Y.encodeStateVector(doc)))
        expect(contentOf(copy)).toEqual(contentOf(doc))
        expect(Y.equalSnapshots(Y.snapshot(copy), Y.snapshot(doc))).toBe(true)
      }),
      { numRuns: 80 },
    )
  })

  it('[MIRROR-15] splits an update even if it builds on missing updates', () => {
    fc.assert(
      fc.property(scripts, fc.nat(400), fc.nat(400), (script, lost, known) => {
        const doc = made(script)
        const whole = Y.encodeStateAsUpdate(doc)
        const client = [...Y.decodeStateVector(Y.encodeStateVector(doc)).keys()][0] ?? 1
        const early = Y.encodeStateVectorFromUpdate(Y.diffUpdate(whole, vectorOf(client, known)))
        const gap = Y.mergeUpdates([
          Y.diffUpdate(whole, vectorOf(client, known + lost)),
          Y.diffUpdate(whole, early),
        ])
        const [one, other] = [new Y.Doc(), new Y.Doc()]
        Y.applyUpdate(one, gap)
        for (const part of splitUpdate(gap, { aimed: 128, most: 128 })) Y.applyUpdate(other, part)
        expect(Buffer.from(Y.encodeStateVector(other))).toEqual(Buffer.from(Y.encodeStateVector(one)))
        for (const copy of [one, other]) Y.applyUpdate(copy, whole)
        expect(other.getText('content').toDelta()).toEqual(one.getText('content').toDelta())
      }),
      { numRuns: 40 },
    )
  })

  it('[MIRROR-15] rejects an update only if a single value is larger than a message', () => {
    const doc = new Y.Doc()
    doc.getMap('map').set('blob', new Uint8Array(2000))
    const whole = Y.encodeStateAsUpdate(doc)
    expect([...splitUpdate(whole, { aimed: 1000, most: 3000 })]).toHaveLength(1)
    expect(() => [...splitUpdate(whole, { aimed: 1000, most: 1500 })]).toThrow(PartTooLargeError)
  })
})

const contentOf = (doc: Y.Doc) => [
  doc.getText('content').toDelta(),
  doc.getArray('list').toJSON(),
  doc.getMap('map').toJSON(),
  doc.getXmlFragment('xml').toString(),
]

const vectorOf = (client: number, clock: number): Uint8Array =>
  Y.encodeStateVector(new Map([[client, clock]]))
