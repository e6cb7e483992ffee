import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import {
  type ArrayShape,
  arrayDoc,
  arrayShape,
  changed,
  changes,
  type MapShape,
  mapDoc,
  mapShape,
  normal,
  readAs,
  replace,
  timeoutMs,
  value,
} from './json-support.ts'
import { key, loaded, runs, updatesOf } from './support.ts'

const shape: fc.Arbitrary<MapShape | ArrayShape> = fc.oneof(mapShape, arrayShape)
const authored = (made: MapShape | ArrayShape): Y.Doc => (made.as === 'map' ? mapDoc(made) : arrayDoc(made))

test(
  '[R3] gives every replica the target content with a single update',
  () => {
    fc.assert(
      fc.property(shape, fc.array(changes, { minLength: 1, maxLength: 3 }), (made, revisions) => {
        const author = authored(made)
        const server = loaded(author)
        const client = loaded(author, 3)
        for (const steps of revisions) {
          const target = changed(readAs(made.as, server), steps)
          const updates = updatesOf(server, () => void replace(server, made.as, target))
          expect(updates.length).toBeLessThanOrEqual(1)
          for (const update of updates) Y.applyUpdate(client, update)
          for (const doc of [server, client]) expect(readAs(made.as, doc)).toEqual(normal(target))
        }
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R3] converts any content to any other content',
  () => {
    const both = fc.oneof(
      fc.tuple(
        mapShape,
        fc.dictionary(fc.constantFrom('a', 'b', 'id', 'constructor', '😀'), value, { noNullPrototype: true }),
      ),
      fc.tuple(arrayShape, fc.array(value, { maxLength: 8 })),
    )
    fc.assert(
      fc.property(both, ([made, target]) => {
        const server = loaded(authored(made))
        replace(server, made.as, target)
        expect(readAs(made.as, server)).toEqual(normal(target))
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R3] creates no transaction and no update when content that was read is written back',
  () => {
    fc.assert(
      fc.property(shape, changes, (made, steps) => {
        const server = loaded(authored(made))
        for (const _ of [1, 2]) {
          const updates = updatesOf(server, () => {
            expect(replace(server, made.as, reordered(readAs(made.as, server))).changed).toBe(false)
          })
          expect(updates).toEqual([])
          replace(server, made.as, changed(readAs(made.as, server), steps))
        }
      }),
      runs,
    )
  },
  timeoutMs,
)

/** The same value with the keys of objects in reverse order. */
function reordered(from: unknown): unknown {
  if (Array.isArray(from)) return from.map(reordered)
  if (typeof from !== 'object' || from === null) return from
  return Object.fromEntries(
    Object.entries(from)
      .reverse()
      .map(([name, entry]) => [name, reordered(entry)]),
  )
}

/** An edit of an editor at any place of the document. */
function editSomewhere(doc: Y.Doc, as: 'map' | 'array', pick: number): void {
  const types: Y.AbstractType<unknown>[] = []
  const visit = (type: unknown): void => {
    if (type instanceof Y.Map) for (const entry of type.values()) visit(entry)
    else if (type instanceof Y.Array) for (const element of type.toArray()) visit(element)
    if (type instanceof Y.Map || type instanceof Y.Array || type instanceof Y.Text) types.push(type as never)
  }
  visit(as === 'map' ? doc.getMap(key) : doc.getArray(key))
  const type: unknown = types[pick % types.length]
  if (type instanceof Y.Map) type.set(['a', 'b', 'mine'][pick % 3] as string, 'mine')
  else if (type instanceof Y.Array) {
    if (pick % 3 === 0 && type.length > 0) type.delete(pick % type.length, 1)
    else type.insert(pick % (type.length + 1), ['mine'])
  } else if (type instanceof Y.Text) type.insert(0, 'mine ')
}

test(
  '[R4] merges concurrent edits of clients, and all replicas converge',
  () => {
    fc.assert(
      fc.property(shape, changes, fc.array(fc.nat(), { maxLength: 4 }), (made, steps, picks) => {
        const server = loaded(authored(made))
        const client = loaded(server, 3)
        for (const pick of picks) editSomewhere(client, made.as, pick)
        replace(server, made.as, changed(readAs(made.as, server), steps))
        const [mine, theirs] = [Y.encodeStateAsUpdate(client), Y.encodeStateAsUpdate(server)]
        Y.applyUpdate(server, mine)
        Y.applyUpdate(client, theirs)
        expect(readAs(made.as, client)).toEqual(readAs(made.as, server))
        expect(Y.encodeStateVector(client)).toEqual(Y.encodeStateVector(server))
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R4] keeps the undo stack of a client, and undo reverts only the edit of this client',
  () => {
    fc.assert(
      fc.property(mapShape, changes, (made, steps) => {
        const server = loaded(mapDoc(made))
        const client = loaded(server, 3)
        const undo = new Y.UndoManager(client.getMap(key), { captureTimeout: 0 })
        client.getMap(key).set('of the client', 1)
        Y.applyUpdate(server, Y.encodeStateAsUpdate(client))
        const target = changed(readAs('map', server), steps) as Record<string, unknown>
        replace(server, 'map', { ...target, 'of the client': 1 })
        Y.applyUpdate(client, Y.encodeStateAsUpdate(server), 'server')
        expect(undo.undoStack.length).toBe(1)
        undo.undo()
        const { 'of the client': _, ...rest } = target
        expect(readAs('map', client)).toEqual(normal(rest as never))
        undo.redo()
        expect(readAs('map', client)).toEqual(normal({ ...rest, 'of the client': 1 }))
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  '[R11] keeps the shared values that the target also has, and turns no plain value into a shared value or the reverse',
  () => {
    fc.assert(
      fc.property(mapShape, changes, (made, steps) => {
        const server = loaded(mapDoc(made))
        const before = new Map(server.getMap(key).entries())
        const target = changed(readAs('map', server), steps) as Record<string, unknown>
        replace(server, 'map', target)
        for (const [name, stored] of before) {
          if (!Object.hasOwn(target, name)) continue
          const now = server.getMap(key).get(name)
          if (fits(stored, target[name])) expect(now).toBe(stored)
          else if (kindOfPlain(stored) === kindOfPlain(target[name]))
            expect(now).not.toBeInstanceOf(Y.AbstractType)
        }
      }),
      runs,
    )
  },
  timeoutMs,
)

function fits(stored: unknown, target: unknown): boolean {
  if (stored instanceof Y.Map) return kindOfPlain(target) === 'object'
  if (stored instanceof Y.Array) return kindOfPlain(target) === 'array'
  return stored instanceof Y.Text && !(stored instanceof Y.XmlText) && typeof target === 'string'
}

function kindOfPlain(plain: unknown): string {
  if (plain instanceof Y.AbstractType || plain === null) return 'other'
  if (plain instanceof Y.Doc || plain instanceof Uint8Array) return 'other'
  return Array.isArray(plain) ? 'array' : typeof plain
}
