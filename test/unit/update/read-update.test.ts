import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import { checkPlaces } from '../../../src/core/update/check-places.ts'
import { partsOfClient, rangesPerStep, type Steps } from '../../../src/core/update/outline.ts'
import { readUpdate, readUpdateSteps } from '../../../src/core/update/read-update.ts'
import { readStateVector, writeStateVector } from '../../../src/core/update/state-vector.ts'
import { advance, isPlain } from '../../../src/core/update/summary.ts'
import { editRandomly, Random, randomHistory } from '../../support/data/random-doc.ts'
import { block, contents, item, list, skip, updateOf } from '../../support/data/update-builder.ts'
import { hostileUpdates } from '../../support/faults/hostile-shapes.ts'

const read = (bytes: Uint8Array) => readUpdate(bytes)
const bytes = (...values: (number | readonly number[])[]): Uint8Array => Uint8Array.from(values.flat())

/** Bytes of a variable-length number. */
function num(value: number): number[] {
  const out: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) | 128)
  return [...out, rest]
}
const text = (value: string): number[] => [...num(Buffer.byteLength(value)), ...Buffer.from(value)]

/** An update of one client with one struct, without deletions. */
const oneStruct = (struct: readonly number[], clock = 0): Uint8Array => bytes(1, 1, 7, num(clock), struct, 0)
/** In the root `t`. */
const inRoot = (content: number, ...rest: (readonly number[])[]): number[] => [
  content,
  1,
  ...text('t'),
  ...rest.flat(),
]

describe('genuine updates', () => {
  it('[UPD-1] accepts every update that Yjs creates: all types, merged, partial, undone, garbage-collected', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 60 }), (seed, steps) => {
        const { updates, doc } = randomHistory(seed, steps)
        for (const update of updates) read(update)
        const half = updates.slice(0, updates.length / 2)
        const rest = updates.slice(updates.length / 2)
        read(Y.mergeUpdates([...half]))
        read(Y.mergeUpdates([...rest].reverse()))
        read(Y.encodeStateAsUpdate(doc))
        if (half.length > 0) {
          const vector = Y.encodeStateVectorFromUpdate(Y.mergeUpdates([...half]))
          read(Y.encodeStateAsUpdate(doc, vector))
          read(Y.diffUpdate(Y.encodeStateAsUpdate(doc), vector))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('[UPD-1] computes the same length of a text as Yjs, for any length and content', () => {
    for (const unit of ['a', 'é', '漢', '😀', 'aé漢😀'])
      for (const units of [1, 60, 64, 85, 86, 127, 128, 129, 255, 256, 257, 100_000]) {
        const doc = new Y.Doc()
        doc.getText('t').insert(0, unit.repeat(units))
        expect(read(Y.encodeStateAsUpdate(doc)).clients).toMatchObject([
          { client: doc.clientID, from: 0, to: unit.length * units },
        ])
      }
  })

  it('[UPD-6] rejects a text of any length that is not UTF-8', () => {
    for (const length of [1, 255, 256, 257, 100_000])
      for (const wrong of [0x80, 0xc0, 0xff]) {
        const content = Buffer.alloc(length, 'a')
        content[length - 1] = wrong
        expect(() => read(oneStruct(inRoot(4, num(length), [...content])))).toThrow('UTF-8')
      }
  })

  it('[UPD-1] accepts any names: empty names, long names, and names of properties that every object has', () => {
    for (const name of ['', '__proto__', 'constructor', 'k'.repeat(100_000)]) {
      read(oneStruct([0x24, 1, ...text('t'), ...text(name), ...text('a')]))
      read(oneStruct([4, 1, ...text(name), ...text('a')]))
      for (const type of [3, 5]) read(oneStruct(inRoot(7, [type], text(name))))
      read(oneStruct(inRoot(6, text(name), text('true'))))
      read(oneStruct(inRoot(8, [1], [118, 1], text(name), [118, 0])))
    }
  })

  it('[UPD-2] accepts subdocuments with the options that Yjs writes, and rejects other options', () => {
    const doc = new Y.Doc()
    doc.getMap('m').set('sub', new Y.Doc({ gc: false, autoLoad: true, meta: { title: 'x' } }))
    expect(read(Y.encodeStateAsUpdate(doc)).structs).toBe(1)
    const option = (name: string): number[] => inRoot(9, text('guid'), [118, 1], text(name), [120])
    expect(read(oneStruct(option('gc'))).structs).toBe(1)
    expect(() => read(oneStruct(option('guid')))).toThrow('unknown option of a subdocument')
  })

  it('[UPD-3] after plain updates, the tracked clocks equal those of the document, and no update is pending', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 2, max: 60 }), (seed, steps) => {
        const { updates } = randomHistory(seed, steps)
        const random = new Random(seed)
        const doc = new Y.Doc()
        const clocks = new Map<number, number>()
        const waiting = [...updates]
        while (waiting.length > 0) {
          const [update] = waiting.splice(random.below(Math.min(4, waiting.length)), 1) as [Uint8Array]
          const summary = read(update)
          if (!isPlain(summary, clocks)) continue
          Y.applyUpdate(doc, update)
          advance(summary, clocks)
          expect(doc.store.pendingStructs).toBeNull()
          expect(doc.store.pendingDs).toBeNull()
          expect([...clocks]).toEqual(
            expect.arrayContaining([...Y.decodeStateVector(Y.encodeStateVector(doc))]),
          )
        }
      }),
      { numRuns: 100 },
    )
  })

  it('[UPD-3] an update is plain if it follows in order and builds only on earlier updates', () => {
    const doc = new Y.Doc()
    const clocks = new Map<number, number>()
    let plain = 0
    doc.on('update', (update: Uint8Array) => {
      const summary = read(update)
      if (isPlain(summary, clocks)) plain += 1
      advance(summary, clocks)
    })
    const random = new Random(5)
    let count = 0
    doc.on('update', () => count++)
    for (let step = 0; step < 300; step++) editRandomly(doc, random)
    expect(plain).toBe(count)
  })

  it('[UPD-3] an update with a gap is not plain, even if its start is correct', () => {
    const doc = new Y.Doc()
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    for (const at of [0, 0, 0]) doc.getText('t').insert(at, 'x')
    const [first, , third] = updates as [Uint8Array, Uint8Array, Uint8Array]
    const summary = read(Y.mergeUpdates([first, third]))
    expect(summary.clients[0]?.skips).toBe(true)
    expect(isPlain(summary, new Map())).toBe(false)
    expect(isPlain(read(first), new Map())).toBe(true)
  })

  it('[UPD-5] reads and writes a state vector in the same way as Yjs', () => {
    const { doc } = randomHistory(3, 40)
    const vector = Y.encodeStateVector(doc)
    expect(readStateVector(vector)).toEqual(Y.decodeStateVector(vector))
    expect(Y.decodeStateVector(writeStateVector(readStateVector(vector)))).toEqual(
      Y.decodeStateVector(vector),
    )
    expect(() => readStateVector(bytes(5, 1, 1))).toThrow('ends in the middle')
    expect(() => readStateVector(bytes(0, 1))).toThrow('follows')
  })
})

describe('hostile updates', () => {
  const cases: readonly (readonly [string, Uint8Array, string])[] = [
    ['nothing at all', bytes(), 'ends in the middle'],
    ['more clients than bytes', bytes(num(2 ** 31)), 'ends in the middle'],
    ['more structs than bytes', bytes(1, num(2 ** 31), 7, 0), 'ends in the middle'],
    ['a clock near 2^53', bytes(1, 1, 7, num(2 ** 52), inRoot(4, text('a')), 0), 'clock is too large'],
    [
      'a client id beyond 53 bits',
      bytes(1, 1, num(2 ** 53), 0, inRoot(4, text('a')), 0),
      'more than 53 bits',
    ],
    ['a clock that runs over its limit', oneStruct([0, ...num(10)], 2 ** 31 - 5), 'clock is too large'],
    ['a number without an end', bytes(1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255), 'too large'],
    ['an item with itself as origin', oneStruct([0x84, ...num(7), ...num(5), ...text('a')], 5), 'itself'],
    ['an item with a later right origin', oneStruct([0x44, ...num(7), ...num(9), ...text('a')], 5), 'itself'],
    ['an item inside itself', oneStruct([4, 0, ...num(7), ...num(5), ...text('a')], 5), 'itself'],
    [
      'a parent of an unknown kind',
      oneStruct([4, 2, ...text('t'), ...text('a')]),
      'neither a root nor an item',
    ],
    ['unknown content', oneStruct(inRoot(11)), 'unknown kind of content 11'],
    ['an unknown shared type', oneStruct(inRoot(7, [9])), 'unknown shared type'],
    ['an empty text', oneStruct(inRoot(4, text(''))), 'empty'],
    ['an empty run', oneStruct([0, 0]), 'empty'],
    ['text that is not UTF-8', oneStruct(inRoot(4, [2, 0xc3, 0x28])), 'not UTF-8'],
    ['formatting that is not JSON', oneStruct(inRoot(6, text('bold'), text('{'))), 'not JSON'],
    [
      'an embed nested too deep',
      oneStruct(inRoot(5, text('['.repeat(65) + ']'.repeat(65)))),
      'deeper than 64',
    ],
    ['JSON nested 50,000 deep', oneStruct(inRoot(2, [1], text('['.repeat(50_000)))), 'deeper than 64'],
    [
      'values nested 50,000 deep',
      oneStruct(inRoot(8, [1], Array.from({ length: 50_000 }, () => [117, 1]).flat(), [126])),
      'deeper',
    ],
    ['a value of an unknown kind', oneStruct(inRoot(8, [1], [50])), 'unknown kind of value'],
    [
      'bytes as the prototype of an object',
      oneStruct(inRoot(8, [1], [118, 1], text('a'), [118, 1], text('__proto__'), [116, 0])),
      '__proto__',
    ],
    ['one client twice', bytes(2, 1, 7, 0, inRoot(4, text('a')), 1, 7, 1, inRoot(4, text('b')), 0), 'twice'],
    ['a deletion out of bounds', bytes(0, 1, 7, 1, num(2 ** 31 - 1), num(2 ** 31 - 1)), 'out of bounds'],
    ['a deletion of nothing', bytes(0, 1, 7, 1, 0, 0), 'out of bounds'],
    ['deletions of one client twice', bytes(0, 2, 7, 1, 0, 1, 7, 1, 2, 1), 'twice'],
    ['a skip struct with the flags of an item', oneStruct([0xca, ...num(7)]), 'flags'],
    ['bytes after the end', bytes(0, 0, 0), 'bytes follow the end'],
  ]

  it.each(cases)('[UPD-6] rejects %s', (_name, update, message) => {
    expect(() => read(update)).toThrow(message)
  })

  it('[UPD-7] rejects every truncation of a genuine update', () => {
    const update = Y.encodeStateAsUpdate(randomHistory(11, 50).doc)
    for (let length = 0; length < update.length; length++)
      expect(() => read(update.slice(0, length))).toThrow()
  })
})

/** Arrays in arrays, made by one client in one update. */
function nested(depth: number): Uint8Array {
  const doc = new Y.Doc()
  doc.transact(() => {
    let array = doc.getArray<unknown>('root')
    for (let level = 0; level < depth; level++) {
      const inner = new Y.Array<unknown>()
      array.insert(0, [inner])
      array = inner
    }
  })
  return Y.encodeStateAsUpdate(doc)
}

describe('nesting', () => {
  it('[UPD-8] accepts types that are nested up to the limit, and rejects one more level', () => {
    expect(() => checkPlaces(nested(199), new Y.Doc())).not.toThrow()
    expect(() => checkPlaces(nested(200), new Y.Doc())).toThrow('deeper than 200')
    expect(() => checkPlaces(nested(2_500), new Y.Doc())).toThrow('deeper than 200')
  })

  it('[UPD-8] measures nesting from the position in the document, even through siblings', () => {
    const doc = new Y.Doc()
    Y.applyUpdate(doc, nested(199))
    let innermost = doc.getArray<unknown>('root')
    while (innermost.length > 0) innermost = innermost.get(0) as Y.Array<unknown>
    const updates: Uint8Array[] = []
    doc.on('update', (update: Uint8Array) => updates.push(update))
    const known = new Y.Doc()
    Y.applyUpdate(known, Y.encodeStateAsUpdate(doc))
    innermost.insert(0, ['a value'])
    expect(() => checkPlaces(updates[0] as Uint8Array, known)).not.toThrow()
    innermost.insert(1, [new Y.Array()])
    const both = Y.mergeUpdates(updates)
    expect(() => checkPlaces(both, known)).toThrow('deeper than 200')
    Y.applyUpdate(known, updates[0] as Uint8Array)
    expect(() => checkPlaces(updates[1] as Uint8Array, known)).toThrow('deeper than 200')
  })
})

describe('steps', () => {
  /** Returns the result of all steps, and their number. */
  const stepped = <T>(steps: Steps<T>): { readonly result: T; readonly count: number } => {
    for (let count = 1; ; count += 1) {
      const step = steps.next()
      if (step.done === true) return { result: step.value, count }
    }
  }
  const countOf = (update: Uint8Array): number => {
    const { result, count } = stepped(readUpdateSteps(update))
    expect(result).toEqual(read(update))
    return count
  }

  it('[UPD-41] reads an update in steps of 8,192 structs, values and deleted ranges, with the same result', () => {
    const structs = (n: number) =>
      updateOf([
        block(
          7,
          list(n, (at) => (at % 3 === 1 ? skip(2) : item({}, contents.text('a')))),
        ),
      ])
    const ranges = (n: number) => updateOf([], [[7, list(n, (at) => [2 * at, 1] as const)]])
    const values = (n: number) =>
      updateOf([
        block(
          7,
          list(n, () => item({}, contents.values(rangesPerStep))),
        ),
      ])
    const clients = (n: number) => updateOf(list(n, (at) => block(n - at, [item({}, contents.text('a'))])))
    expect([1, 1_000].map((n) => countOf(structs(n)))).toEqual([1, 1])
    expect(countOf(structs(4 * rangesPerStep))).toBe(5)
    expect(countOf(ranges(4 * rangesPerStep))).toBe(5)
    expect(countOf(values(4))).toBe(4)
    expect(countOf(clients((4 * rangesPerStep) / partsOfClient))).toBe(5)
    for (const shape of ['gapsOfClients', 'deletingClients', 'pendingUpdates', 'reversedDeletions'] as const)
      for (const update of hostileUpdates[shape](20_000)) countOf(update)
  })

  it('[UPD-41] rejects malformed bytes in the step that reads them', () => {
    const update = updateOf([
      block(
        7,
        list(3 * rangesPerStep, () => item({}, contents.text('a'))),
      ),
    ])
    const steps = readUpdateSteps(update.subarray(0, update.length - 10))
    expect([steps.next().done, steps.next().done]).toEqual([false, false])
    expect(() => stepped(steps)).toThrow('it ends in the middle')
    const twice = updateOf(
      list((3 * rangesPerStep) / partsOfClient, (at) => block(at % 2, [item({}, contents.text('a'))])),
    )
    expect(() => stepped(readUpdateSteps(twice))).toThrow('a client appears twice')
  })
})
