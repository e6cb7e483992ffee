import * as fc from 'fast-check'
import * as Y from 'yjs'
import { readRoot } from '../../../src/core/content/read-document.ts'
import { replaceContent } from '../../../src/core/content/replace.ts'
import { key, loaded, wellFormed } from './support.ts'

export type Value = null | boolean | number | string | Value[] | { [key: string]: Value }

/** How a test builds a value: plain, or as a shared type. Keys of maps are unique. */
export type Shape =
  | { as: 'plain'; value: Value }
  | { as: 'text'; text: string }
  | { as: 'map'; entries: [string, Shape][] }
  | { as: 'array'; elements: Shape[] }
  | { as: 'opaque'; what: 'bytes' | 'node' | 'subdocument' | 'no JSON' }

/**
 * Few keys, so that they also occur in the target, with names that every object has and characters of other
 * planes.
 */
const keys = fc.constantFrom('a', 'b', 'id', 'name', 'constructor', 'toString', 'é', '键', '😀', 'x y', '0')

const scalars = fc.oneof(
  fc.constantFrom<Value>(null, true, false, 0, -0, 1, 1.5, -7, 2 ** 53, 1e300, '', 'one', 'two words'),
  wellFormed,
)

export const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalars,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value

const opaque = fc
  .constantFrom('bytes', 'node', 'subdocument', 'no JSON')
  .map((what) => ({ as: 'opaque', what }))

const shapes = fc.letrec<{ shape: Shape; map: Shape; array: Shape }>((tie) => ({
  shape: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    value.map((plain) => ({ as: 'plain', value: plain })),
    wellFormed.map((text) => ({ as: 'text', text })),
    tie('map'),
    tie('array'),
    opaque as fc.Arbitrary<Shape>,
  ) as fc.Arbitrary<Shape>,
  map: fc
    .uniqueArray(fc.tuple(keys, tie('shape')), { maxLength: 5, selector: ([name]) => name })
    .map((entries) => ({ as: 'map', entries })),
  array: fc.array(tie('shape'), { maxLength: 6 }).map((elements) => ({ as: 'array', elements })),
}))

export type MapShape = Extract<Shape, { as: 'map' }>
export type ArrayShape = Extract<Shape, { as: 'array' }>
export const mapShape = shapes.map as fc.Arbitrary<MapShape>
/** An array with XML nodes only would be XML. */
export const arrayShape = (shapes.array as fc.Arbitrary<ArrayShape>).map(({ elements }) => ({
  as: 'array' as const,
  elements: elements.filter((element) => element.as !== 'opaque' || element.what !== 'node'),
}))

/** The stored value of a shape. */
function stored(shape: Shape): unknown {
  switch (shape.as) {
    case 'plain':
      return shape.value
    case 'text':
      return new Y.Text(shape.text)
    case 'opaque':
      return opaqueValue(shape.what)
    case 'array':
      return Y.Array.from(shape.elements.map((element) => storable(stored(element)) as string))
    default:
      return new Y.Map(shape.entries.map(([name, entry]) => [name, storable(stored(entry))]))
  }
}

function opaqueValue(what: Extract<Shape, { as: 'opaque' }>['what']): unknown {
  if (what === 'no JSON') return { absent: undefined, nan: Number.NaN, big: 10n, bytes: new Uint8Array(3) }
  if (what === 'bytes') return new Uint8Array([1, 2, 3])
  if (what === 'subdocument') return new Y.Doc({ guid: 'a-guid' })
  const paragraph = new Y.XmlElement('p')
  paragraph.insert(0, [new Y.XmlText('a & b')])
  return paragraph
}

/**
 * Yjs reads `value.constructor`, so a plain object may not have such a key at its top when a test stores it.
 */
function storable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value
  const { constructor: _, ...rest } = value as Record<string, unknown>
  return rest
}

export function mapDoc({ entries }: MapShape, clientId = 1): Y.Doc {
  const doc = new Y.Doc()
  doc.clientID = clientId
  for (const [name, entry] of entries) doc.getMap(key).set(name, storable(stored(entry)))
  return doc
}

export function arrayDoc({ elements }: ArrayShape, clientId = 1): Y.Doc {
  const doc = new Y.Doc()
  doc.clientID = clientId
  doc.getArray(key).push(elements.map((element) => storable(stored(element))))
  return doc
}

export const replace = (doc: Y.Doc, type: string, data: unknown) =>
  replaceContent(doc, { type, contentKey: key, data })

/** Content as another replica reads it from the updates. Empty roots have no kind, so the type is given. */
export function readAs(type: 'map' | 'array', doc: Y.Doc): unknown {
  const content = readRoot(loaded(doc), key)
  if (content.type === type) return content.data
  return type === 'map' ? {} : []
}

/** Steps that change a value, of all kinds and as small as edits of users. */
export const changes = fc.array(fc.record({ pick: fc.nat(), kind: fc.nat(7), value }), { maxLength: 5 })

export function changed(
  from: unknown,
  steps: readonly { pick: number; kind: number; value: Value }[],
): Value {
  const root = structuredClone(from) as Value
  for (const { pick, kind, value: given } of steps) {
    const fresh = structuredClone(given)
    const containers = containersIn(root)
    const at = containers[pick % containers.length] as Value[] | { [key: string]: Value }
    if (Array.isArray(at)) changeArray(at, pick, kind, fresh)
    else changeObject(at, pick, kind, fresh)
  }
  return root
}

function containersIn(from: Value): Value[] {
  if (typeof from !== 'object' || from === null) return []
  return [from, ...Object.values(from).flatMap(containersIn)]
}

function changeArray(at: Value[], pick: number, kind: number, fresh: Value): void {
  const index = pick % (at.length + 1)
  if (kind < 2) at.splice(index, 0, fresh)
  else if (kind < 4) at.splice(index, 1 + (pick % 2))
  else if (kind === 4) at.push(...at.splice(index, 2))
  else if (index < at.length) at[index] = edited(at[index] as Value, fresh)
}

function changeObject(at: { [key: string]: Value }, pick: number, kind: number, fresh: Value): void {
  const names = Object.keys(at)
  const name = names[pick % Math.max(1, names.length)] ?? 'a'
  if (kind < 2) at[['a', 'b', 'new', 'constructor', '键'][pick % 5] as string] = fresh
  else if (kind === 2) delete at[name]
  else at[name] = edited(at[name] ?? null, fresh)
}

/** A text with an insertion, or another value. */
const edited = (from: Value, fresh: Value): Value =>
  typeof from === 'string'
    ? `${from.slice(0, from.length / 2)}typed${from.slice(from.length / 2)}`.toWellFormed()
    : fresh

/** The value as it is stored and read: −0 becomes 0. */
export const normal = (from: Value): unknown => JSON.parse(JSON.stringify(from))

/** Time limit of one property in a long search. */
export const timeoutMs = 600_000
