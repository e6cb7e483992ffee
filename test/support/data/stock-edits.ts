import * as fc from 'fast-check'
import * as Y from 'yjs'
import { xmlName, xmlText } from '../../../src/core/content/xml/names.ts'
import type { SharedRoot } from '../../../src/core/content/yjs/root-kind.ts'

/** Names that Yjs accepts for roots, keys, attributes, formats, elements, and hooks. */
const names = [
  '',
  'a',
  'b',
  'ä',
  '😀',
  ' ',
  '/',
  '~0',
  '0',
  '10',
  '-1',
  'constructor',
  '__proto__',
  'toString',
  'x'.repeat(3_000),
]

const name = fc.oneof(fc.constantFrom(...names), fc.string({ unit: 'grapheme', maxLength: 12 }))

/** Roots of a document. They have all kinds of types and all kinds of names. */
export const stockRoots = [
  { name: '', kind: 'text' },
  { name: '__proto__', kind: 'map' },
  { name: 'r'.repeat(2_000), kind: 'array' },
  { name: 'default', kind: 'xml' },
  { name: 'slate/ä "quoted"', kind: 'xmltext' },
  { name: 'package-lock.json', kind: 'map' },
] as const

type StockRoot = (typeof stockRoots)[number]

/** Returns a root with the type with which a client accesses it. */
export function openRoot(doc: Y.Doc, { name, kind }: StockRoot): SharedRoot {
  if (kind === 'text') return doc.getText(name)
  if (kind === 'map') return doc.getMap(name)
  if (kind === 'array') return doc.getArray(name)
  return kind === 'xml' ? doc.getXmlFragment(name) : doc.get(name, Y.XmlText)
}

// The words have no surrogate pairs, because Yjs reads a pair that an edit has split in two different ways.
const words = fc.oneof(
  fc.constantFrom('', '\n', '\u0000', '漢字', 'e\u0301', 'weft and warp', ' '),
  fc.string({ maxLength: 20 }),
)

/** Values that `Y.Map` accepts. Other types accept some of them only inside of other values. */
const scalar = fc.oneof(
  fc.constantFrom<unknown>(null, undefined, true, '', [], {}, -0, 2 ** 53, -(2 ** 31), 1e300),
  fc.constantFrom<unknown>(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.double(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.uint8Array({ maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
)
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'value' },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }).filter((each) => !isUnwritable(each)),
  ),
})).value

/**
 * Returns whether an object is one that Yjs cannot encode again after it has decoded it. The server rejects
 * such objects.
 */
const isUnwritable = (object: object): boolean =>
  Object.entries(object).some(([key, each]) => key === '__proto__' && each instanceof Uint8Array)

/** JSON values. Embeds and formats can only have such values, because Yjs encodes them as text. */
const json = fc.oneof(fc.constantFrom(null, true, '', Number.NaN), fc.jsonValue({ maxDepth: 3 }))

/** Texts that a request can contain. They do not start with `<`, because such a text may be read as XML. */
const requestText = fc
  .oneof(words, fc.string({ unit: 'binary', maxLength: 12 }))
  .filter((text) => !text.trimStart().startsWith('<'))
const requestName = fc.oneof(
  { weight: 4, arbitrary: name },
  fc.string({ unit: 'binary', maxLength: 3 }).map((text) => `\ud800${text}`.toWellFormed()),
)
const request = fc.letrec<{ value: unknown; members: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'request' },
    fc.constantFrom<unknown>(null, true, false, 0, 2 ** 53, -(2 ** 31), 1e300, 0.1),
    requestText,
    fc.array(tie('value'), { maxLength: 3 }),
    tie('members'),
  ),
  members: fc.dictionary(requestName, tie('value'), { maxKeys: 3 }),
}))
const formatting = fc.dictionary(
  requestName,
  request.value.filter((each) => each !== null),
  { maxKeys: 2 },
)
const requestPiece = fc.record({ insert: fc.oneof(requestText, request.members), attributes: formatting })

const escapes: Readonly<Record<string, string>> = { '<': '&lt;', '&': '&amp;', '"': '&quot;', '\n': '&#10;' }
const xmlEscaped = (text: string): string => xmlText(text).replace(/[<&"\n]/g, (each) => escapes[each] ?? '')
const requestXml = fc
  .array(fc.tuple(name, name, words, words), { minLength: 1, maxLength: 3 })
  .map((elements) =>
    elements
      .map(([tag, attribute, text, inside]) => {
        const [element, value] = [xmlName(tag), xmlEscaped(text)]
        return `<${element} ${xmlName(attribute)}="${value}">${xmlEscaped(inside)}</${element}>`
      })
      .join(''),
  )

/** Contents for REST calls, by type. */
export const requestContents = fc.record({
  /** Name of a root to which only REST writes. */
  contentKey: requestName.filter((each) => each !== 'kept' && stockRoots.every(({ name }) => name !== each)),
  text: requestText,
  map: request.members,
  array: fc.array(request.value, { maxLength: 4 }),
  delta: fc.array(requestPiece, { maxLength: 4 }),
  xml: requestXml,
  xmltext: fc.record({
    attributes: request.members,
    delta: fc.tuple(
      fc.record({
        text: fc.record({ attributes: request.members, delta: fc.array(requestPiece, { maxLength: 1 }) }),
      }),
      fc.record({ map: request.members }),
    ),
  }),
})

export type RequestContents = typeof requestContents extends fc.Arbitrary<infer T> ? T : never

const shared = fc.oneof(
  fc.record({ make: fc.constantFrom('text', 'map', 'array', 'fragment', 'xmltext'), name: fc.constant('') }),
  fc.record({ make: fc.constantFrom('element', 'hook'), name }),
  fc.record({ make: fc.constant('subdocument'), name, meta: value }),
)

const newValue = fc.oneof({ weight: 3, arbitrary: value }, fc.record({ shared }))

const edit = fc.record({
  root: fc.nat({ max: stockRoots.length - 1 }),
  /** Path from the root to the nested type that is edited. Each number selects a type on the next level. */
  path: fc.array(fc.nat({ max: 20 }), { maxLength: 3 }),
  kind: fc.nat({ max: 9 }),
  from: fc.nat({ max: 40 }),
  count: fc.nat({ max: 6 }),
  name,
  words,
  json,
  value: newValue,
})

/** A step of a client: edits, or another action such as undo. */
export const stockStep = fc.record({
  who: fc.nat({ max: 20 }),
  what: fc.oneof(
    { weight: 12, arbitrary: fc.record({ edits: fc.array(edit, { minLength: 1, maxLength: 4 }) }) },
    fc.constantFrom('undo', 'redo', 'collect', 'keep', 'snapshot', 'state'),
  ),
})

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never
export type StockStep = typeof stockStep extends fc.Arbitrary<infer T> ? T : never

/** The document of a user, with an undo manager for its roots. */
export class StockEditor {
  readonly doc: Y.Doc
  readonly #undo: Y.UndoManager

  constructor(doc: Y.Doc) {
    this.doc = doc
    const roots = stockRoots.map((root) => openRoot(doc, root))
    this.#undo = new Y.UndoManager(roots as never[], { captureTimeout: 0, doc })
  }

  do({ what }: StockStep): void {
    const { doc } = this
    if (what === 'undo') this.#undo.undo()
    else if (what === 'redo') this.#undo.redo()
    else if (what === 'collect' || what === 'keep') doc.gc = what === 'collect'
    else if (what === 'snapshot') Y.decodeSnapshotV2(Y.encodeSnapshotV2(Y.snapshot(doc)))
    else if (what === 'state') Y.applyUpdateV2(doc, Y.encodeStateAsUpdateV2(doc))
    else if (typeof what !== 'string')
      doc.transact(() => {
        for (const each of what.edits) apply(doc, each)
      })
  }

  close(): void {
    this.#undo.destroy()
  }
}

function apply(doc: Y.Doc, edit: Edit): void {
  let type = openRoot(doc, stockRoots[edit.root] as StockRoot)
  for (const step of edit.path) {
    const inside = typesIn(type)
    if (inside.length === 0) break
    type = inside[step % inside.length] as SharedRoot
  }
  if (type instanceof Y.Text) editText(type, edit)
  else if (type instanceof Y.Map) editMap(type, edit)
  else if (type instanceof Y.Array) editArray(type, edit)
  else if (type instanceof Y.XmlFragment) editXml(type, edit)
}

function typesIn({ _start, _map }: SharedRoot): readonly SharedRoot[] {
  const items = [..._map.values()]
  for (let item = _start; item !== null; item = item.right) items.push(item)
  return items.flatMap(({ deleted, content }) =>
    !deleted && content instanceof Y.ContentType ? [content.type] : [],
  )
}

function made({ value }: Edit): unknown {
  if (typeof value !== 'object' || value === null || !('shared' in value)) return takable(value)
  const { make, name, meta } = value.shared as { make: string; name: string; meta?: unknown }
  switch (make) {
    case 'text':
      return new Y.Text('inner')
    case 'map':
      return new Y.Map([['', 1]])
    case 'array':
      return Y.Array.from([1, 'two'])
    case 'fragment':
      return new Y.XmlFragment()
    case 'xmltext':
      return new Y.XmlText('x')
    case 'element':
      return new Y.XmlElement(name)
    case 'hook':
      return new Y.XmlHook(name)
    default:
      return new Y.Doc({ guid: name, meta, gc: name.length > 1, autoLoad: name === '' })
  }
}

/**
 * Returns a value in a form that Yjs accepts. Yjs recognizes values by their constructor. An object without a
 * constructor, or with a key `constructor`, must therefore be inside of another value.
 */
const takable = (given: unknown): unknown =>
  typeof given === 'object' &&
  given !== null &&
  !(given instanceof Y.AbstractType || given instanceof Y.Doc) &&
  ![Object, Array, Uint8Array].includes(given.constructor as never)
    ? [given]
    : given

/** Returns whether arrays and XML attributes accept a value only inside of another value. */
const isForMapsOnly = (given: unknown): boolean => given === undefined || typeof given === 'bigint'

const rangeIn = ({ from, count }: Edit, length: number): readonly [from: number, count: number] => {
  const start = from % (length + 1)
  return [start, Math.min(count, length - start)]
}

function editText(text: Y.Text, edit: Edit): void {
  const [from, count] = rangeIn(edit, text.length)
  const format = { [edit.name]: edit.json }
  const given = made(edit)
  if (edit.kind < 2) text.insert(from, edit.words)
  else if (edit.kind === 2) text.insert(from, edit.words, format)
  else if (edit.kind === 3) text.delete(from, count)
  else if (edit.kind === 4) text.format(from, count, format)
  else if (edit.kind === 5) text.insertEmbed(from, { [edit.name]: edit.json }, format)
  else if (edit.kind === 6) text.setAttribute(edit.name, takable(edit.json))
  else if (edit.kind === 7) text.removeAttribute(edit.name)
  else if (edit.kind === 8 && given instanceof Y.AbstractType) text.insertEmbed(from, given as never)
  else if (count > 0)
    text.applyDelta([{ retain: from }, { insert: edit.words, attributes: format }, { delete: count }])
}

function editMap(map: Y.Map<unknown>, edit: Edit): void {
  if (edit.kind === 0) map.clear()
  else if (edit.kind === 1) map.delete(edit.name)
  else map.set(edit.name, made(edit))
}

function editArray(array: Y.Array<unknown>, edit: Edit): void {
  const [from, count] = rangeIn(edit, array.length)
  const given = made(edit)
  if (edit.kind < 2) array.delete(from, count)
  else if (edit.kind === 2) array.push([null, [given instanceof Y.AbstractType ? 1 : given]])
  else array.insert(from, [isForMapsOnly(given) ? [given] : given])
}

function editXml(fragment: Y.XmlFragment, edit: Edit): void {
  const [from, count] = rangeIn(edit, fragment.length)
  const given = made(edit)
  if (fragment instanceof Y.XmlElement && edit.kind < 4) {
    if (edit.kind === 0) fragment.removeAttribute(edit.name)
    else fragment.setAttribute(edit.name, takable(edit.json))
  } else if (edit.kind < 6) fragment.delete(from, count)
  else if (given instanceof Y.XmlElement || given instanceof Y.XmlText || given instanceof Y.XmlHook)
    fragment.insert(from, [given as Y.XmlElement])
  else fragment.insert(from, [edit.kind === 6 ? new Y.XmlElement(edit.name) : new Y.XmlText(edit.words)])
}
