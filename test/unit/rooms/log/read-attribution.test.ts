import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import * as Y from 'yjs'
import { compactWhole, keepNone } from '../../../../src/core/rooms/log/compaction-policy.ts'
import {
  compactedAttribution,
  readAttribution,
  TailAuthors,
} from '../../../../src/core/rooms/log/read-attribution.ts'
import {
  CorruptRecordError,
  type Engine,
  type LogEntry,
  type LogUpdate,
} from '../../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../../src/core/store/memory/engine.ts'
import type { Attribution } from '../../../../src/core/update/attribution/attribution.ts'
import { decodeAttribution } from '../../../../src/core/update/attribution/attribution-codec.ts'
import { readUpdate } from '../../../../src/core/update/read-update.ts'
import { originsById, sameOrigin } from '../../../support/data/attribution-model.ts'
import { Random, randomHistory } from '../../../support/data/random-doc.ts'
import { hostileUpdates } from '../../../support/faults/hostile-shapes.ts'
import { withLog } from '../../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../../support/time/clock.ts'

const doc = ['workspace', 'key', 'organization', 'document', 'editor']
const users = ['ann', 'bob', '']

let clock: HeldClock
let engine: Engine

beforeEach(async () => {
  clock = new HeldClock()
  engine = await openMemoryEngine({ clock })
})
afterEach(() => engine.close())

const flat = ({ inserted, deleted }: Attribution) =>
  [...inserted, ...deleted].flatMap(([client, ranges]) =>
    ranges.map(({ clock: from, length, origin }) => [client, from, length, origin.by, origin.at] as const),
  )

/** User and source of each id. */
function authorsById({ inserted, deleted }: Attribution): ReadonlyMap<string, string> {
  const authors = new Map<string, string>()
  for (const [kind, lists] of Object.entries({ inserted, deleted }))
    for (const [client, ranges] of lists)
      for (const { clock: from, length, origin } of ranges)
        for (let id = from; id < from + length; id++)
          authors.set(`${kind} ${client}:${id}`, `${origin.by} ${origin.source}`)
  return authors
}

const changeOf = (entry: LogEntry) => ({ ...entry, summary: readUpdate(entry.bytes) })

const keep = async () => true

/** Appends updates one by one, by alternating users. Returns the entries. */
async function appended(updates: readonly Uint8Array[]): Promise<readonly LogEntry[]> {
  const entries: LogEntry[] = []
  for (const [index, bytes] of updates.entries()) {
    const update: LogUpdate = {
      bytes,
      by: users[index % 3] ?? '',
      ...(index % 4 === 0 && { source: 'rest' }),
    }
    const [head = null] = await engine.log.heads([doc])
    const { last } = await engine.log.append(doc, head === null ? 'create' : 1, [update])
    entries.push({ ...update, seq: last, at: clock.now() })
    clock.advance(3_000)
  }
  return entries
}

async function snapshotOf(): Promise<{ base: number; head: number; snapshot: Uint8Array }> {
  const loaded = await engine.log.load(doc)
  if (loaded.state !== 'live') throw new Error('no log')
  const state = new Y.Doc()
  if (loaded.snapshot !== null) Y.applyUpdate(state, loaded.snapshot)
  for (const { bytes } of loaded.entries) Y.applyUpdate(state, bytes)
  return { base: loaded.base, head: loaded.head, snapshot: Y.encodeStateAsUpdate(state) }
}

it('[ATT-8] reads the same attribution from any sequence of compactions as from the whole log', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 1e6 }),
      fc.integer({ min: 2, max: 40 }),
      async (seed, steps) => {
        engine = await openMemoryEngine({ clock })
        const random = new Random(seed)
        const { updates } = randomHistory(seed, steps)
        const entries: LogEntry[] = []
        for (let from = 0; from < updates.length; ) {
          const count = 1 + random.below(8)
          entries.push(...(await appended(updates.slice(from, from + count))))
          from += count
          const next = random.below(4)
          if (next === 0) {
            await compactWhole(engine.log, doc, keep)
          } else if (next === 1) {
            const { base, head: upTo, snapshot } = await snapshotOf()
            const { bytes } = await compactedAttribution(engine.log, doc, { epoch: 1, base, upTo })
            await engine.log.compact(doc, 1, base, upTo, snapshot, 0, bytes)
          }
        }
        const model = originsById(entries)
        const found = await readAttribution(engine.log, doc)
        for (const kind of ['inserted', 'deleted'] as const) {
          let count = 0
          for (const [client, ranges] of found[kind])
            for (const { clock: from, length, origin } of ranges)
              for (let at = from; at < from + length; at++, count++) {
                const wanted = model[kind].get(`${client}:${at}`)
                expect(wanted !== undefined && sameOrigin(origin, wanted)).toBe(true)
              }
          expect(count).toBe(model[kind].size)
        }
      },
    ),
    { numRuns: 60 },
  )
})

it('[ATT-16] computes the same attribution from the authors that a room has collected as from the log', async () => {
  const property = fc.asyncProperty(
    fc.integer({ min: 1, max: 1e6 }),
    fc.integer({ min: 3, max: 60 }),
    fc.nat(100),
    fc.nat(100),
    async (seed, steps, compactedAt, openedAt) => {
      engine = await openMemoryEngine({ clock })
      const { updates } = randomHistory(seed, steps)
      fc.pre(updates.length > 0)
      const cut = Math.floor((updates.length * compactedAt) / 101)
      const opened = cut + Math.floor(((updates.length - cut) * openedAt) / 101)
      await appended(updates.slice(0, cut))
      if (cut > 0) await compactWhole(engine.log, doc, keep)
      await appended(updates.slice(cut, opened))
      const authors = new TailAuthors(opened)
      for (const entry of await appended(updates.slice(opened))) authors.add([changeOf(entry)], entry.at)
      const tail = authors.take()
      expect(tail?.entries).toBe(updates.length - opened)
      const wanted = { epoch: 1, base: cut, upTo: updates.length }
      const found = await compactedAttribution(engine.log, doc, { ...wanted, tail })
      const fromLog = await compactedAttribution(engine.log, doc, wanted)
      const ids = ({ bytes }: typeof found) => authorsById(decodeAttribution(bytes ?? new Uint8Array()))
      expect(ids(found)).toEqual(ids(fromLog))
    },
  )
  await fc.assert(property, { numRuns: 100 })
})

it('[ATT-16] reads no entries of the log if a room has collected all authors, and all of them after a failed compaction', async () => {
  let read = 0
  const { log } = withLog(engine, (inner) => ({
    load: async (name, options) => {
      const loaded = await inner.load(name, options)
      if (loaded.state === 'live') read += loaded.entries.length
      return loaded
    },
  }))
  const authors = new TailAuthors(0)
  for (const entry of await appended(threeUpdates())) authors.add([changeOf(entry)], entry.at)
  const wanted = { epoch: 1, base: 0, upTo: 3 }
  const { bytes } = await compactedAttribution(log, doc, { ...wanted, tail: authors.take() })
  expect([read, decodeAttribution(bytes ?? new Uint8Array()).inserted.get(7)?.length]).toEqual([0, 2])
  authors.lose()
  const again = await compactedAttribution(log, doc, { ...wanted, tail: authors.take() })
  expect([read, again.bytes]).toEqual([3, bytes])
})

it('[ATT-16] reads a large update from the log, with the same result', async () => {
  const state = new Y.Doc()
  state.clientID = 7
  state.getText('t').insert(0, 'x'.repeat(70_000))
  const authors = new TailAuthors(0)
  const [small, large] = [threeUpdates()[0] as Uint8Array, Y.encodeStateAsUpdate(state)]
  for (const entry of await appended([small, large])) authors.add([changeOf(entry)], entry.at)
  const tail = authors.take()
  expect(tail).toBe(null)
  const { bytes } = await compactedAttribution(engine.log, doc, { epoch: 1, base: 0, upTo: 2, tail })
  expect(decodeAttribution(bytes ?? new Uint8Array()).inserted.get(7)).toMatchObject([
    { clock: 0, length: 6, origin: { by: 'ann' } },
    { clock: 6, length: 69_994, origin: { by: 'bob' } },
  ])
})

it('[ATT-16] reads an update of many parts from the log', async () => {
  const authors = new TailAuthors(0)
  const [pending = new Uint8Array()] = hostileUpdates.missingClients(1_000)
  expect(pending.length).toBeLessThan(65_536)
  authors.add([{ bytes: pending, summary: readUpdate(pending), by: 'ann' }], 1)
  expect(authors.take()).toBe(null)
})

/** A text that one user writes and another one changes, in three entries. */
function threeUpdates(): Uint8Array[] {
  const state = new Y.Doc()
  state.clientID = 7
  const updates: Uint8Array[] = []
  state.on('update', (update: Uint8Array) => updates.push(update))
  state.getText('t').insert(0, 'first ')
  state.getText('t').insert(6, 'second ')
  state.getText('t').delete(0, 2)
  return updates
}

it('[ATT-9] reports the authors of a log that was compacted without attribution as unknown, and never those who send its content again', async () => {
  await appended(threeUpdates().slice(0, 2))
  const { head, snapshot } = await snapshotOf()
  await engine.log.compact(doc, 1, 0, head, snapshot, keepNone)
  await engine.log.append(doc, 1, [{ bytes: snapshot, by: 'mallory' }])
  await appended(threeUpdates().slice(2))
  const { inserted, deleted } = await readAttribution(engine.log, doc)
  expect(inserted.get(7)?.map(({ length, origin }) => [length, origin.by, origin.at])).toEqual([[13, '', 0]])
  expect(deleted.get(7)?.map(({ length, origin }) => [length, origin.by])).toEqual([[2, 'ann']])
  await compactWhole(engine.log, doc, keep)
  expect(flat(await readAttribution(engine.log, doc))).toEqual(flat({ inserted, deleted }))
})

it('[ATT-9] reads the authors of entries that the log has kept for older versions', async () => {
  await appended(threeUpdates())
  const { head, snapshot } = await snapshotOf()
  await engine.log.compact(doc, 1, 0, head, snapshot, 0)
  const { inserted } = await readAttribution(engine.log, doc)
  expect(inserted.get(7)?.map(({ length, origin }) => [length, origin.by])).toEqual([
    [6, 'ann'],
    [7, 'bob'],
  ])
})

it('[ATT-10] compacts a document whose stored attribution cannot be decoded, and starts its attribution again', async () => {
  await appended(threeUpdates().slice(0, 2))
  const { head, snapshot } = await snapshotOf()
  await engine.log.compact(doc, 1, 0, head, snapshot, keepNone, Uint8Array.of(1, 2, 3))
  await appended(threeUpdates().slice(2))
  await compactWhole(engine.log, doc, keep)
  const loaded = await engine.log.load(doc, { attribution: true })
  if (loaded.state !== 'live' || !loaded.attribution) throw new Error('no attribution')
  expect(decodeAttribution(loaded.attribution).deleted.get(7)?.[0]?.origin.by).toBe('ann')
  expect(loaded.base).toBe(3)
})

it('[ATT-10] compacts a document whose entries cannot be read again, without an attribution', async () => {
  await appended(threeUpdates())
  const { log } = withLog(engine, (inner) => ({
    load: (name, options) =>
      options?.attribution === true
        ? Promise.reject(new CorruptRecordError('damaged'))
        : inner.load(name, options),
  }))
  await compactWhole(log, doc, keep)
  expect(await engine.log.load(doc, { attribution: true })).toMatchObject({ base: 3, attribution: null })
})

it('[ATT-11] stores no attribution while the workspace has disabled it, and removes the stored one', async () => {
  await appended(threeUpdates().slice(0, 2))
  await compactWhole(engine.log, doc, keep)
  await appended(threeUpdates().slice(2))
  await compactWhole(engine.log, doc, async () => false)
  expect(await engine.log.load(doc, { attribution: true })).toMatchObject({ base: 3, attribution: null })
})

it('[ATT-12] lets other work run while it computes a large attribution', async () => {
  const state = new Y.Doc()
  state.clientID = 7
  const updates: LogUpdate[] = []
  state.on('update', (bytes: Uint8Array) => updates.push({ bytes, by: users[updates.length % 3] ?? '' }))
  for (let index = 0; index < 30_000; index++) state.getText('t').insert(index, 'x')
  await engine.log.append(doc, 'create', updates)
  let ticks = 0
  let isDone = false
  const tick = (): void => {
    ticks += 1
    if (!isDone) setImmediate(tick)
  }
  setImmediate(tick)
  // Each reading of the clock is a millisecond later, so the result does not depend on the speed of the machine.
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now)
  const { bytes, ms } = await compactedAttribution(engine.log, doc, { epoch: 1, base: 0, upTo: 30_000 })
  clock.mockRestore()
  isDone = true
  expect(decodeAttribution(bytes ?? new Uint8Array()).inserted.get(7)).toHaveLength(30_000)
  expect(ms).toBeGreaterThan(0)
  expect(ticks).toBeGreaterThan(100)
})
