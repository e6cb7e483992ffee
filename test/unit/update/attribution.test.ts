import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as Y from 'yjs'
import type { ChangeMeta, ChangeOrigin } from '../../../src/core/model/change-origin.ts'
import {
  type AttributedRange,
  type Attribution,
  noAttribution,
} from '../../../src/core/update/attribution/attribution.ts'
import {
  type AttributedUpdate,
  AttributionBuilder,
} from '../../../src/core/update/attribution/attribution-builder.ts'
import {
  decodeAttribution,
  decodeAttributionSteps,
  encodeAttribution,
  encodeAttributionSteps,
} from '../../../src/core/update/attribution/attribution-codec.ts'
import { MalformedUpdateError } from '../../../src/core/update/malformed.ts'
import { runSteps } from '../../../src/core/update/outline.ts'
import { originsById, sameOrigin } from '../../support/data/attribution-model.ts'
import { Random, randomHistory } from '../../support/data/random-doc.ts'
import { block, contents, item, list, skip, updateOf } from '../../support/data/update-builder.ts'
import { times } from '../../support/time/full-run.ts'

const alice: ChangeOrigin = { by: 'alice', at: 1_700_000_000_000, source: 'socket', meta: null }
const bob: ChangeOrigin = { ...alice, by: 'bob' }

const authors: readonly Omit<ChangeOrigin, 'at'>[] = [
  { by: 'alice', source: 'socket', meta: null },
  { by: 'bob', source: 'socket', meta: null },
  { by: 'bob', source: 'rest', meta: { run: 'r-1', step: 2, draft: true, note: null } },
  { by: 'bob', source: 'rest', meta: { run: 'r-2' } },
  { by: '', source: 'import', meta: null },
  { by: 'Zoë "\\', source: 'undo', meta: null },
]

/**
 * The entries of a log to which several users append. A random user sends each update, so client ids are
 * forged. Some entries contain earlier updates again, one by one, merged, or as the whole state.
 */
function randomEntries(seed: number, steps: number): AttributedUpdate[] {
  const random = new Random(seed)
  const { updates } = randomHistory(seed, steps)
  const live = new Y.Doc()
  const entries: AttributedUpdate[] = []
  let at = alice.at
  const append = (bytes: Uint8Array): void => {
    at += random.below(8_000)
    entries.push({ bytes, at, ...random.pick(authors) })
  }
  for (const [index, update] of updates.entries()) {
    append(update)
    Y.applyUpdate(live, update)
    const again = random.below(12)
    if (again === 0) append(random.pick(updates.slice(0, index + 1)))
    if (again === 1) append(Y.encodeStateAsUpdate(live))
    if (again === 2) append(Y.mergeUpdates(updates.slice(random.below(index + 1), index + 1)))
  }
  return entries
}

const attributionOf = (entries: readonly AttributedUpdate[], base?: Attribution): Attribution => {
  const builder = runSteps(AttributionBuilder.after(base ?? noAttribution))
  for (const entry of entries) builder.add(entry)
  return builder.build()
}

const flat = (lists: Attribution['inserted']): Map<string, ChangeOrigin> => {
  const origins = new Map<string, ChangeOrigin>()
  for (const [client, ranges] of lists)
    for (const { clock, length, origin } of ranges)
      for (let at = clock; at < clock + length; at++) origins.set(`${client}:${at}`, origin)
  return origins
}

function expectModel(attribution: Attribution, entries: readonly AttributedUpdate[]): void {
  const model = originsById(entries)
  for (const kind of ['inserted', 'deleted'] as const) {
    const found = flat(attribution[kind])
    expect([...model[kind].keys()].filter((id) => !found.has(id))).toEqual([])
    const isWanted = (id: string, origin: ChangeOrigin): boolean => {
      const wanted = model[kind].get(id)
      return wanted !== undefined && sameOrigin(origin, wanted)
    }
    expect([...found].filter(([id, origin]) => !isWanted(id, origin))).toEqual([])
    for (const ranges of attribution[kind].values()) expectDisjoint(ranges)
  }
}

function expectDisjoint(ranges: readonly AttributedRange[]): void {
  let end = 0
  const wrong = ranges.filter(({ clock, length }) => {
    const isDisjoint = clock >= end && length > 0
    end = clock + length
    return !isDisjoint
  })
  expect(wrong).toEqual([])
}

const seeds = fc.integer({ min: 1, max: 1e6 })

describe('the attribution of a log', () => {
  it('[ATT-1] gives each id the first entry that inserts it, in random histories with forged client ids and repeated updates', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 80 }), (seed, steps) => {
        const entries = randomEntries(seed, steps)
        expectModel(attributionOf(entries), entries)
      }),
      { numRuns: times(40, 150) },
    )
  })

  it('[ATT-1] keeps the first author when another user sends the update again or continues the client id', () => {
    const doc = new Y.Doc()
    doc.clientID = 7
    doc.getText('t').insert(0, 'mine')
    const first = Y.encodeStateAsUpdate(doc)
    doc.getText('t').insert(4, ' forged')
    const later = Y.encodeStateAsUpdate(doc)
    const { inserted } = attributionOf([
      { ...alice, bytes: first },
      { ...bob, bytes: first },
      { ...bob, bytes: later },
    ])
    expect(inserted.get(7)).toEqual([
      { clock: 0, length: 4, origin: alice },
      { clock: 4, length: 7, origin: bob },
    ])
  })

  it('[ATT-2] gives each deletion the first entry that deletes the id, also when its content is already collected', () => {
    const doc = new Y.Doc()
    doc.clientID = 7
    doc.getText('t').insert(0, 'abcdef')
    const written = Y.encodeStateAsUpdate(doc)
    doc.getText('t').delete(1, 2)
    const collected = Y.encodeStateAsUpdate(doc)
    const structsOnly = Y.encodeStateAsUpdate(doc)
    // The deletions of the state are removed, so that only its collected structs show them.
    const end = structsOnly.length - (collected.length - structsEndOf(collected))
    const withoutDeletions = Uint8Array.from([...structsOnly.subarray(0, end), 0])
    const { deleted } = attributionOf([
      { ...alice, bytes: written },
      { ...bob, bytes: withoutDeletions },
      { ...alice, bytes: collected },
    ])
    expect(deleted.get(7)).toEqual([{ clock: 1, length: 2, origin: bob }])
  })

  it('[ATT-3] joins the changes of one author within 5 s, and separates other authors, sources and data', () => {
    const doc = new Y.Doc()
    doc.clientID = 7
    const type = (character: string): Uint8Array => {
      const before = Y.encodeStateVector(doc)
      doc.getText('t').insert(doc.getText('t').length, character)
      return Y.encodeStateAsUpdate(doc, before)
    }
    const rest = { ...alice, source: 'rest' as const }
    const entries = [
      alice,
      { ...alice, at: alice.at + 5_000 },
      { ...alice, at: alice.at + 5_001 },
      bob,
      rest,
      { ...rest, meta: { run: 'a' } },
      { ...rest, meta: { run: 'a' } },
      { ...rest, meta: { run: 'b' } },
    ].map((origin) => ({ ...origin, bytes: type('x') }))
    const ranges = attributionOf(entries).inserted.get(7) ?? []
    expect(ranges.map(({ length }) => length)).toEqual([2, 1, 1, 1, 2, 1])
    expect(ranges.map(({ origin: { at } }) => at - alice.at)).toEqual([0, 5_001, 0, 0, 0, 0])
  })

  it('[ATT-4] continues from a stored attribution as if all entries were read again', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 80 }), fc.nat(100), (seed, steps, percent) => {
        const entries = randomEntries(seed, steps)
        const cut = Math.floor((entries.length * percent) / 100)
        const stored = encodeAttribution(attributionOf(entries.slice(0, cut)))
        const continued = attributionOf(entries.slice(cut), decodeAttribution(stored))
        expect(continued).toEqual(attributionOf(entries))
      }),
      { numRuns: times(40, 150) },
    )
  })

  it('[ATT-5] adds 600,000 deleted ranges in the opposite order of their clocks', () => {
    const doc = new Y.Doc()
    doc.clientID = 7
    doc.getText('t').insert(0, 'x'.repeat(1_200_000))
    const builder = new AttributionBuilder()
    builder.add({ ...alice, bytes: Y.encodeStateAsUpdate(doc) })
    for (let clock = 1_199_998; clock >= 0; clock -= 2) builder.deleted(7, clock, clock + 1)
    builder.deleted(7, 0, 1_200_000)
    expect(
      builder
        .build()
        .deleted.get(7)
        ?.reduce((sum, { length }) => sum + length, 0),
    ).toBe(1_200_000)
  })

  const parts = 30_000
  const ofClients = list(parts, (index) => block(parts - index, [item({}, contents.text('a'))]))
  it.each<readonly [string, Uint8Array]>([
    ['clients', updateOf(ofClients)],
    [
      'deleted clients',
      updateOf(
        [],
        list(parts, (index) => [parts - index, [[0, 1]]]),
      ),
    ],
    [
      'structs of one client',
      updateOf([
        block(
          1,
          list(parts, () => item({}, contents.text('a'))),
        ),
      ]),
    ],
    [
      'structs of many clients',
      updateOf(
        list(300, (index) =>
          block(
            300 - index,
            list(100, () => skip(1)),
          ),
        ),
      ),
    ],
    ['deleted ranges of one client', updateOf([], [[1, list(parts, (index) => [2 * index, 1])]])],
  ])('[ATT-12] adds an update with 30,000 %s in steps', (_name, bytes) => {
    const builder = new AttributionBuilder()
    expect([...builder.addSteps({ ...alice, bytes })].length).toBeGreaterThanOrEqual(3)
    expectModel(builder.build(), [{ ...alice, bytes }])
  })

  it('[ATT-12] loads, joins, builds, encodes and decodes the ranges of 30,000 clients in steps', () => {
    const attribution = attributionOf([{ ...alice, bytes: updateOf(ofClients) }])
    const builder = new AttributionBuilder()
    const encoded = encodeAttribution(attribution)
    for (const steps of [
      AttributionBuilder.after(attribution),
      builder.addLater(attribution),
      builder.buildSteps(),
      encodeAttributionSteps(attribution),
      decodeAttributionSteps(encoded),
    ])
      expect([...steps].length).toBeGreaterThanOrEqual(20)
  })
})

describe('the stored form of an attribution', () => {
  it('[ATT-6] decodes to the attribution that was encoded', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 0, max: 80 }), (seed, steps) => {
        const attribution = attributionOf(randomEntries(seed, steps))
        expect(decodeAttribution(encodeAttribution(attribution))).toEqual(attribution)
      }),
      { numRuns: times(40, 150) },
    )
  })

  it('[ATT-6] rejects each truncation and each unknown format', () => {
    const bytes = encodeAttribution(attributionOf(randomEntries(3, 60)))
    for (let length = 0; length < bytes.length; length++)
      expect(() => decodeAttribution(bytes.subarray(0, length))).toThrow(MalformedUpdateError)
    expect(() => decodeAttribution(Uint8Array.from([...bytes, 0]))).toThrow(MalformedUpdateError)
    expect(() => decodeAttribution(Uint8Array.from([9, ...bytes.subarray(1)]))).toThrow('unknown format 9')
  })

  it.each(['text', [1], { list: [1] }])('[ATT-6] rejects %j as the data of a change', (meta) => {
    const origin = { ...alice, meta: meta as unknown as ChangeMeta }
    const ranges = new Map([[1, [{ clock: 0, length: 1, origin }]]])
    const bytes = encodeAttribution({ inserted: ranges, deleted: new Map() })
    expect(() => decodeAttribution(bytes)).toThrow(MalformedUpdateError)
  })

  it('[ATT-6] decodes changed bytes to disjoint ranges or throws one kind of error', () => {
    const bytes = encodeAttribution(attributionOf(randomEntries(5, 60)))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1 }), (changes) => {
        const damaged = Uint8Array.from(bytes)
        for (const [at, value] of changes) damaged[at] = value
        try {
          const { inserted, deleted } = decodeAttribution(damaged)
          for (const ranges of [...inserted.values(), ...deleted.values()]) expectDisjoint(ranges)
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedUpdateError)
        }
      }),
      { numRuns: times(500, 2_000) },
    )
  })

  it('[ATT-7] takes at most 0.3 bytes for each of 20,000 keystrokes of one author', () => {
    const random = new Random(1)
    const doc = new Y.Doc()
    const text = doc.getText('t')
    const builder = new AttributionBuilder()
    let at = alice.at
    doc.on('update', (bytes: Uint8Array) => {
      at += 100 + random.below(200)
      builder.add({ ...alice, at, bytes })
    })
    let [position, erases] = [0, 0]
    for (let key = 0; key < 20_000; key++) {
      if (random.once(200)) position = random.below(text.length + 1)
      if (random.once(30)) erases = 1 + random.below(5)
      if (position > 0 && erases-- > 0) text.delete(--position, 1)
      else text.insert(position++, 'e')
    }
    expect(encodeAttribution(builder.build()).length / 20_000).toBeLessThan(0.3)
  })
})

/** Returns the number of bytes before the deletions of an update. */
function structsEndOf(update: Uint8Array): number {
  const { ds } = Y.decodeUpdate(update)
  const [[, ranges] = [0, []]] = [...ds.clients]
  // Client, number of ranges, and two numbers for each; all of them take one byte here.
  return update.length - 1 - 2 - 2 * ranges.length
}
