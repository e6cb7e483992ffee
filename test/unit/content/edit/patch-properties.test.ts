import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import * as Y from 'yjs'
import { seed } from '../../../support/data/seed.ts'
import {
  type ArrayShape,
  arrayDoc,
  arrayShape,
  type MapShape,
  mapDoc,
  mapShape,
  readAs,
  timeoutMs,
  type Value,
  value,
} from '../json-support.ts'
import { key, loaded, runs, updatesOf } from '../support.ts'
import { applyToModel, canonical, jsonOf, type Node, nodeOf, type Sent } from './patch-model.ts'
import { patch, survivors } from './patch-support.ts'

const shape: fc.Arbitrary<MapShape | ArrayShape> = fc.oneof(mapShape, arrayShape)
const authored = (made: MapShape | ArrayShape): Y.Doc => (made.as === 'map' ? mapDoc(made) : arrayDoc(made))

/** A choice, which becomes an operation on the content that the earlier operations leave. */
const choices = fc.array(
  fc.record({
    op: fc.constantFrom('add', 'add', 'remove', 'replace', 'replace', 'move', 'copy', 'test'),
    at: fc.nat(),
    from: fc.nat(),
    /** Which last token an added value gets, or how a path is wrong. */
    way: fc.nat(40),
    value: fc.oneof(
      { weight: 8, arbitrary: value },
      { weight: 1, arbitrary: fc.constant(JSON.parse('{"a":[{"__proto__":{"b":1}}]}') as Value) },
    ),
  }),
  { minLength: 1, maxLength: 8 },
)
type Choices = typeof choices extends fc.Arbitrary<infer T> ? T : never

const escaped = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1')

interface Place {
  readonly path: string
  readonly json: Value
}

function placesIn(node: Node, path = ''): Place[] {
  const { content } = node
  const members = content instanceof Map ? [...content] : []
  const elements = Array.isArray(content) ? content.map((element, n) => [String(n), element] as const) : []
  const inside = [...members, ...elements].flatMap(([token, child]) =>
    placesIn(child, `${path}/${escaped(token)}`),
  )
  return [{ path, json: jsonOf(node) }, ...inside]
}

const newKeys = ['new', '__proto__', 'constructor', 'a/b', 'm~n', '', '键', '😀', '0', '-'] as const
const wrongTokens = ['01', '-', '1e0', '99', 'absent', '-1', '', '__proto__'] as const

/** Returns the operations that choices mean in the content. Some of them fail. */
function operationsFor(model: Node, chosen: Choices): Sent[] {
  const operations: Sent[] = []
  let root: Node | null = model
  for (const { op, at, from, way, value: given } of chosen) {
    const places = placesIn(root)
    const place = places[at % places.length] as Place
    const source = places[from % places.length] as Place
    let { path } = place
    if (way === 0) path = `${path}/${wrongTokens[at % wrongTokens.length]}`
    else if (op === 'add' || op === 'move' || op === 'copy') path = pathInto(place, way)
    const sent: Sent =
      op === 'move' || op === 'copy'
        ? { op, path, from: source.path }
        : op === 'test'
          ? { op, path, value: way === 1 ? given : place.json }
          : op === 'remove'
            ? { op, path }
            : { op, path, value: way % 5 === 1 ? place.json : given }
    operations.push(sent)
    root = applyToModel(root, [sent])
    if (root === null) break
  }
  return operations
}

/** Returns a path at which a value can be added: in the place if it is a container, else at the place. */
function pathInto({ path, json }: Place, way: number): string {
  if (Array.isArray(json)) return `${path}/${way % 4 === 0 ? '-' : way % (json.length + 1)}`
  if (typeof json !== 'object' || json === null) return path
  return `${path}/${escaped(newKeys[way % newKeys.length] as string)}`
}

const modelOf = (doc: Y.Doc, as: 'map' | 'array'): Node =>
  nodeOf(readAs(as, doc) as Value, doc.share.get(key) ?? doc.get(key), null)

test(
  `[EDIT-40] has the result of RFC 6902 on values, and keeps the identity of other values (seed ${seed})`,
  () => {
    fc.assert(
      fc.property(shape, choices, (made, chosen) => {
        const server = loaded(authored(made))
        const client = loaded(server, 3)
        const operations = operationsFor(modelOf(server, made.as), chosen)
        const expected = applyToModel(modelOf(server, made.as), operations)
        fc.pre(expected !== null)
        const updates = updatesOf(server, () => void patch(server, made.as, operations))
        expect(updates.length).toBeLessThanOrEqual(1)
        for (const update of updates) Y.applyUpdate(client, update)
        for (const doc of [server, client])
          expect(canonical(readAs(made.as, doc))).toBe(canonical(jsonOf(expected)))
        for (const { node, stored, id } of survivors(expected, server.get(key))) {
          if (node.origin?.type !== null) expect(stored).toBe(node.origin?.type)
          else if (!node.isTouched && node.origin.id !== null) expect(id).toBe(node.origin.id)
        }
      }),
      runs,
    )
  },
  timeoutMs,
)

test(
  `[EDIT-5] writes nothing when a patch replaces values by equal values (seed ${seed})`,
  () => {
    fc.assert(
      fc.property(shape, fc.array(fc.nat(), { maxLength: 6 }), (made, picks) => {
        const server = loaded(authored(made))
        const places = placesIn(modelOf(server, made.as))
        const operations = picks.map((pick) => {
          const { path, json } = places[pick % places.length] as Place
          return { op: 'replace', path, value: json }
        })
        const updates = updatesOf(server, () => {
          expect(patch(server, made.as, operations).changed).toBe(false)
        })
        expect(updates).toEqual([])
      }),
      runs,
    )
  },
  timeoutMs,
)
