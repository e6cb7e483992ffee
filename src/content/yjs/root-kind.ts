import * as Y from 'yjs'

/** The kind of a root; `none`: the root is empty and has no stored kind, so it may become any kind. */
export type RootKind = 'none' | 'text' | 'xml' | 'xmltext' | 'array' | 'map'

/** A kind that a root can have. */
export type KnownKind = Exclude<RootKind, 'none'>

/** What one live item of a sequence says about it; a shared type alone may be an array's value or a text's embed. */
type Evidence = 'text' | 'xmltext' | 'array' | 'element' | 'value'

/**
 * The kind of the root `contentKey`, by its live items: a document loaded from updates has untyped roots, and asking
 * for one as a wrong type does not fail. Reads only; where items contradict one another the first decisive one counts.
 * An empty root has the kind that was stored for it, or that its deleted entries show.
 */
export function rootKind(doc: Y.Doc, contentKey: string): RootKind {
  const root = doc.share.get(contentKey)
  return root === undefined ? 'none' : kindOf(root)
}

/**
 * Whether content of the kind `wanted` may be read from the root or written into it. An empty root without a stored
 * kind fits every kind, and a root whose items could be of several kinds fits each of these. Slate makes shared texts
 * without attributes, and Lexical makes elements without a name; both can also stand in XML.
 */
export function fitsKind(doc: Y.Doc, contentKey: string, wanted: RootKind): boolean {
  const root = doc.share.get(contentKey)
  if (root === undefined) return true
  const kind = kindOf(root)
  return kind === 'none' || kind === wanted || (wanted === 'xmltext' && couldBeXmlText(root))
}

/** A root as a document holds it, of whatever type; `unknown` would not do, its events are part of the type. */
export type SharedRoot = NonNullable<ReturnType<Y.Doc['share']['get']>>

/** A shared type as a document holds it: the events that make the types of Yjs incompatible matter to no one here. */
export const asRoot = (type: Y.Map<unknown> | Y.Array<unknown> | Y.Text | Y.XmlFragment): SharedRoot =>
  type as object as SharedRoot

function kindOf(root: SharedRoot): RootKind {
  let undecided: 'none' | 'xml' | 'array' = 'none'
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const evidence = evidenceOf(item.content)
    if (evidence === 'text' || evidence === 'xmltext' || evidence === 'array') return evidence
    if (undecided === 'none') undecided = evidence === 'element' ? 'xml' : 'array'
  }
  if (undecided === 'none') return kindOfEmpty(root)
  return undecided === 'xml' && hasEntries(root) ? 'xmltext' : undecided
}

/** In order of precedence: if disconnected replicas have stored several kinds, all replicas read the same one. */
const knownKinds: readonly KnownKind[] = ['map', 'array', 'xml', 'xmltext', 'text']

/**
 * Yjs does not record the kind of an empty root. The document itself stores it, as an entry of the root under this key
 * that is deleted from the start: clients do not show a deleted entry, and every copy of the document keeps its key.
 */
export const kindEntry = (kind: KnownKind): string => `weft:kind=${kind}`

/** Of a root without live items in sequence. Where nothing ever was in sequence, entries are those of a map. */
function kindOfEmpty(root: SharedRoot): RootKind {
  const { _start, _map } = root
  if (_start === null && hasEntries(root)) return 'map'
  const stored = knownKinds.find((kind) => _map.get(kindEntry(kind))?.deleted === true)
  if (stored !== undefined) return stored
  return hasEntries(root) || (_start === null && _map.size > 0) ? 'map' : 'none'
}

/**
 * `checkXmlText` takes nothing that would not be known again by this. Plain values are never in a text; where nothing
 * ever was in sequence, entries are those of a map.
 */
function couldBeXmlText(root: SharedRoot): boolean {
  let [isEmpty, isKnown] = [true, false]
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (evidenceOf(item.content) === 'array') return false
    isEmpty = false
    isKnown ||= item.content instanceof Y.ContentType && isEditorNode(item.content.type, hasEntries(root))
  }
  return isKnown || (isEmpty && root._start !== null)
}

/** The name that Yjs gives elements which are made without one. */
export const nameless = 'UNDEFINED'

const isEditorNode = (type: unknown, inAttributed: boolean): boolean =>
  type instanceof Y.XmlText || (type instanceof Y.XmlElement && (inAttributed || type.nodeName === nameless))

function evidenceOf(content: Y.Item['content']): Evidence {
  if (
    content instanceof Y.ContentString ||
    content instanceof Y.ContentFormat ||
    content instanceof Y.ContentEmbed
  ) {
    return 'text'
  }
  if (!(content instanceof Y.ContentType)) return 'array'
  const { type } = content
  if (type instanceof Y.XmlText && isRich(type)) return 'xmltext'
  // A fragment that is no element cannot stand in XML: it is the value of an array.
  return type instanceof Y.XmlElement || type instanceof Y.XmlText || type instanceof Y.XmlHook
    ? 'element'
    : 'value'
}

/** Whether a text has attributes of its own or holds shared values: in XML it has neither, for Lexical and Slate it does. */
function isRich(text: Y.XmlText): boolean {
  if (hasEntries(asRoot(text))) return true
  for (let item = text._start; item !== null; item = item.right) {
    if (!item.deleted && item.content instanceof Y.ContentType) return true
  }
  return false
}

function hasEntries({ _map }: SharedRoot): boolean {
  for (const item of _map.values()) if (!item.deleted) return true
  return false
}
