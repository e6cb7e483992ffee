import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { readDelta } from '../../../src/core/content/delta/delta.ts'
import { replace, timeoutMs } from './json-support.ts'
import {
  authored,
  basicPlane,
  deltaIn,
  key,
  loaded,
  runs,
  steps,
  take,
  textOf,
  unitsOf,
  updatesOf,
  wellFormed,
} from './support.ts'

const attributes = fc.oneof(
  fc.constant({}),
  fc.dictionary(
    fc.constantFrom('bold', 'color', 'comment', 'constructor', 'toString'),
    fc.constantFrom<unknown>(true, 'red', 1, { id: 'c1', more: [1, { a: 2 }] }, [], null),
    { maxKeys: 3, noNullPrototype: true },
  ),
)

const embeds = fc.constantFrom(
  { image: 'x' },
  { image: 'y' },
  { video: { url: 'v', size: [1, 2] } },
  { constructor: 1 },
)

const op = fc.record({
  insert: fc.oneof({ weight: 4, arbitrary: wellFormed }, { weight: 1, arbitrary: embeds }),
  attributes,
})
const delta = fc.array(op, { maxLength: 8 })

type Op = { insert: unknown; attributes?: Record<string, unknown> }

/**
 * The stored form: attributes without null, adjacent stretches with equal attributes joined, nothing empty.
 */
function normal(ops: readonly Op[]): Op[] {
  const joined: Op[] = []
  for (const { insert, attributes = {} } of ops) {
    if (insert === '') continue
    const given = Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== null))
    const op = Object.keys(given).length === 0 ? { insert } : { insert, attributes: given }
    const last = joined.at(-1)
    const same = last !== undefined && isDeepStrictEqual(last.attributes, op.attributes)
    if (same && typeof last.insert === 'string' && typeof insert === 'string') last.insert += insert
    else joined.push(op)
  }
  return joined
}

/** A part of the old content between parts of a new one, with some new formatting. */
const revision = fc.record({ delta, from: fc.nat(20), length: fc.nat(40), attributes: fc.option(attributes) })

function revised(
  old: readonly Op[],
  change: { delta: Op[]; from: number; length: number; attributes: object | null },
): Op[] {
  const kept: Op[] = []
  let at = 0
  for (const { insert, attributes } of old) {
    const length = typeof insert === 'string' ? insert.length : 1
    const [start, end] = [Math.max(0, change.from - at), Math.min(length, change.from + change.length - at)]
    at += length
    if (end <= start) continue
    const part = typeof insert === 'string' ? insert.slice(start, end).toWellFormed() : insert
    kept.push({ insert: part, attributes: { ...(change.attributes ?? attributes) } })
  }
  const middle = change.delta.length >> 1
  return [...change.delta.slice(0, middle), ...kept, ...change.delta.slice(middle)]
}

const replaceDelta = (doc: Y.Doc, data: unknown) => replace(doc, 'delta', data)

test(
  '[R3] gives every replica the text, attributes and embeds of a delta after one update',
  () => {
    fc.assert(
      fc.property(
        steps(wellFormed),
        fc.array(revision, { minLength: 1, maxLength: 3 }),
        (made, revisions) => {
          const author = authored(made)
          const server = loaded(author)
          const client = loaded(author, 3)
          client.getText(key)
          let answers = 0
          client.on('update', (_update: Uint8Array, origin: unknown) => {
            if (origin !== 'server') answers += 1
          })
          for (const change of revisions) {
            const target = revised(readDelta(server, key), change)
            const updates = updatesOf(server, () => void replaceDelta(server, target))
            expect(updates.length).toBeLessThanOrEqual(1)
            for (const update of updates) Y.applyUpdate(client, update, 'server')
            const wanted = normal(target)
            for (const doc of [server, client]) expect(deltaIn(doc)).toEqual(wanted)
            expect(normal(readDelta(server, key))).toEqual(wanted)
          }
          // A client that finds marks to clean up sends an update of its own.
          expect(answers).toBe(0)
        },
      ),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R3] creates no transaction and no update when a delta that was read is written back',
  () => {
    fc.assert(
      fc.property(steps(wellFormed), delta, (made, target) => {
        const server = loaded(authored(made))
        for (const _ of [1, 2]) {
          const read = readDelta(server, key)
          const updates = updatesOf(server, () => {
            expect(replaceDelta(server, read).changed).toBe(false)
            expect(replaceDelta(server, { ops: structuredClone(read) }).changed).toBe(false)
          })
          expect(updates).toEqual([])
          replaceDelta(server, target)
        }
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R8] when only attributes differ, keeps every character and embed',
  () => {
    fc.assert(
      fc.property(steps(wellFormed), fc.array(attributes, { minLength: 1, maxLength: 4 }), (made, given) => {
        const server = loaded(authored(made))
        const target = readDelta(server, key).map((part, index) => ({
          ...part,
          attributes: given[index % given.length],
        }))
        const before = unitsOf(server).map(({ id, value }) => ({ id, value }))
        replaceDelta(server, target)
        expect(unitsOf(server).map(({ id, value }) => ({ id, value }))).toEqual(before)
        expect(deltaIn(server)).toEqual(normal(target as Op[]))
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R4] merges edits that clients make during a delta replacement, and all replicas converge',
  () => {
    fc.assert(
      fc.property(steps(basicPlane), steps(basicPlane), revision, (made, typed, change) => {
        const server = loaded(authored(made))
        const client = loaded(server, 3)
        for (const step of typed) take(client.getText(key), step)
        replaceDelta(server, revised(readDelta(server, key), change))
        const [mine, theirs] = [Y.encodeStateAsUpdate(client), Y.encodeStateAsUpdate(server)]
        Y.applyUpdate(server, mine, 'client')
        Y.applyUpdate(client, theirs, 'server')
        for (let round = 0; round < 3; round++) {
          Y.applyUpdate(server, Y.encodeStateAsUpdate(client), 'client')
          Y.applyUpdate(client, Y.encodeStateAsUpdate(server), 'server')
        }
        expect(textOf(client)).toBe(textOf(server))
        expect(deltaIn(client)).toEqual(deltaIn(server))
      }),
      runs,
    )
  },
  timeoutMs,
)
