import * as Y from 'yjs'

/**
 * Kinds in order of precedence. If disconnected replicas store different kinds, all replicas then read the
 * same kind.
 */
const knownKinds = ['map', 'array', 'xml', 'xmltext', 'text'] as const

/** A kind that a root can have. */
export type KnownKind = (typeof knownKinds)[number]

/** The kind of a root. `none`: the root is empty and has no stored kind, so it may become any kind. */
export type RootKind = 'none' | KnownKind

const forgottenKinds = ['array', 'xml', 'xmltext'] as const satisfies readonly KnownKind[]

/**
 * A kind that the marker of an emptied root can state (see `createDoc`). Text needs no marker, because an
 * empty root without a kind is read as text.
 */
export type ForgottenKind = (typeof forgottenKinds)[number]

/**
 * Determines the kind of the root `contentKey` without changing the document. The kind follows from the live
 * items. The Yjs type does not show it: a root that is loaded from updates has no type, and Yjs gives it any
 * type that is requested. If items contradict each other, the first decisive item counts. However, a plain
 * value outweighs an earlier shared text, because no text contains plain values. An empty root has the kind
 * that was stored for it, or that its deleted entries or items show.
 */
export function rootKind(doc: Y.Doc, contentKey: string): RootKind {
  const root = doc.share.get(contentKey)
  return root === undefined ? 'none' : kindOf(root)
}

/**
 * Returns whether content of the kind `wanted` may be read from the root or written into it. An empty root
 * without a stored kind fits every kind. A root whose items may belong to several kinds fits each of them:
 * Slate creates shared texts without attributes, and Lexical creates elements without a name; both can also
 * be in XML.
 */
export function fitsKind(doc: Y.Doc, contentKey: string, wanted: RootKind): boolean {
  const root = doc.share.get(contentKey)
  if (root === undefined) return true
  const kind = kindOf(root)
  return kind === 'none' || kind === wanted || (wanted === 'xmltext' && couldBeXmlText(root))
}

/**
 * A root of a document, or a shared type in it, of any type. The types of Yjs differ in their events. This
 * type has the events `any`, so that each of them can be assigned to it.
 */
export type SharedRoot = Y.ContentType['type']

function kindOf(root: SharedRoot): RootKind {
  let undecided: 'none' | 'xml' | 'array' | 'xmltext' = 'none'
  let marked: ForgottenKind | null = null
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) {
      marked ??= kindOfMarker(item)
      continue
    }
    const evidence = evidenceOf(item.content)
    if (evidence === 'array') return 'array'
    if (undecided === 'xmltext') continue
    if (evidence === 'text') return 'text'
    if (evidence === 'xmltext') undecided = 'xmltext'
    else if (undecided === 'none') undecided = evidence === 'element' ? 'xml' : 'array'
  }
  if (undecided === 'none') return kindOfEmpty(root, marked)
  return undecided === 'xml' && hasEntries(root) ? 'xmltext' : undecided
}

/**
 * Returns the key of the entry that stores the kind of an empty root. Yjs itself does not record this kind.
 * The entry is created as a deleted entry: clients do not show deleted entries, but every copy of the
 * document keeps the key.
 */
export const kindEntry = (kind: KnownKind): string => `${kindPrefix}${kind}`

const kindPrefix = 'weft:kind='

/** Returns whether a key is that of an entry that stores a kind. */
export const isKindEntry = (key: string): boolean => key.startsWith(kindPrefix)

/**
 * Returns the kind that a deleted item of a sequence states; null if the item is not a marker (see
 * `createDoc`).
 */
export function kindOfMarker({ content }: Y.Item): ForgottenKind | null {
  if (!(content instanceof Y.ContentType && content.type instanceof Y.XmlElement)) return null
  const { nodeName } = content.type
  return forgottenKinds.find((kind) => nodeName === kindEntry(kind)) ?? null
}

/** Returns whether a kind is stored for the root. */
export const hasStoredKind = (root: SharedRoot): boolean => storedKind(root) !== undefined

/** Returns the kind that was stored last, which is the kind with the longest entry (see `nextKindLength`). */
function storedKind(root: SharedRoot): KnownKind | undefined {
  let [latest, length]: [KnownKind | undefined, number] = [undefined, 0]
  for (const kind of root._map.size === 0 ? [] : knownKinds) {
    const stored = storedLength(root, kind)
    if (stored > length) [latest, length] = [kind, stored]
  }
  return latest
}

function storedLength({ _map }: SharedRoot, kind: KnownKind): number {
  const entry = _map.get(kindEntry(kind))
  return entry?.deleted === true ? entry.length : 0
}

/**
 * Returns whether the kind of an empty root must be stored, because neither its items and entries nor a
 * stored kind show it. If the transaction changes the root, markers do not count, because the end of the
 * transaction may change them (see `createDoc`).
 */
export function needsStoredKind(root: SharedRoot, kind: KnownKind, isChanged: boolean): boolean {
  let marked: ForgottenKind | null = null
  for (let item = root._start; item !== null; item = item.right) {
    if (!item.deleted) return false
    if (!isChanged) marked ??= kindOfMarker(item)
  }
  if (root._start === null && hasEntries(root)) return false
  return storedKind(root) !== kind && kindOfEmpty(root, marked) !== kind
}

/**
 * Returns the length of the entry for a new kind. The new entry must be longer than all earlier entries,
 * because the longest entry determines the kind.
 */
export const nextKindLength = (root: SharedRoot): number =>
  1 + Math.max(...knownKinds.map((kind) => storedLength(root, kind)))

/**
 * Returns the kind of a root whose sequence has no live items. If the sequence was always empty, the entries
 * are entries of a map.
 * @param marked the kind that a deleted item states; null if there is none
 */
function kindOfEmpty(root: SharedRoot, marked: ForgottenKind | null): RootKind {
  const { _start, _map } = root
  if (_start === null && hasEntries(root)) return 'map'
  const stored = storedKind(root)
  // A text may have attributes, but arrays and fragments have none. If the sequence is not that of a text,
  // the entries are therefore entries of a map.
  if (hasEntries(root) && stored !== 'text') return (stored ?? marked) === 'xmltext' ? 'xmltext' : 'map'
  if (stored !== undefined) return stored
  return marked ?? (_start === null && _map.size > 0 ? 'map' : 'none')
}

/**
 * Returns whether a root may be xmltext. `checkXmlText` accepts only content that this function recognizes. A
 * text never contains plain values. If the sequence was always empty, the entries are entries of a map.
 */
function couldBeXmlText(root: SharedRoot): boolean {
  let [isEmpty, isKnown] = [true, false]
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (evidenceOf(item.content) === 'array') return false
    isEmpty = false
    isKnown ||= item.content instanceof Y.ContentType && isEditorNode(item.content.type, hasEntries(root))
  }
  return isKnown || (isEmpty && root._start !== null && kindOf(root) !== 'array')
}

/** Name of elements that were created without a name in Yjs. */
export const nameless = 'UNDEFINED'

const isEditorNode = (type: unknown, inAttributed: boolean): boolean =>
  type instanceof Y.XmlText || (type instanceof Y.XmlElement && (inAttributed || type.nodeName === nameless))

/** Returns whether a type has live entries or attributes. */
export function hasEntries({ _map }: SharedRoot): boolean {
  for (const item of _map.values()) if (isLive(item)) return true
  return false
}

/**
 * The kind of root that one item of a sequence indicates. A shared type (`value`) may be in an array or in a
 * text.
 */
export type Evidence = 'text' | 'xmltext' | 'array' | 'element' | 'value'

/** Returns the evidence that the content of a live item gives for the kind of its root. */
const evidenceOf = (content: Y.Item['content']): Evidence => evidence(content, isLive)

/** Returns the evidence that the content of a deleted item gives, before Yjs garbage-collects the content. */
export const deletedEvidenceOf = (content: Y.Item['content']): Evidence => evidence(content, () => true)

const isLive = ({ deleted }: Y.Item): boolean => !deleted

function evidence(content: Y.Item['content'], counts: (item: Y.Item) => boolean): Evidence {
  if (
    content instanceof Y.ContentString ||
    content instanceof Y.ContentFormat ||
    content instanceof Y.ContentEmbed
  ) {
    return 'text'
  }
  if (!(content instanceof Y.ContentType)) return 'array'
  const { type } = content
  if (type instanceof Y.XmlText && isRich(type, counts)) return 'xmltext'
  // XML cannot contain a fragment that is not an element, so the fragment is the value of an array.
  return type instanceof Y.XmlElement || type instanceof Y.XmlText || type instanceof Y.XmlHook
    ? 'element'
    : 'value'
}

/**
 * Returns whether a text has attributes or contains shared values. A text of Lexical or Slate has attributes
 * or shared values; a text in XML has neither.
 */
function isRich(text: Y.XmlText, counts: (item: Y.Item) => boolean): boolean {
  for (const item of text._map.values()) if (counts(item)) return true
  for (let item = text._start; item !== null; item = item.right) {
    if (counts(item) && item.content instanceof Y.ContentType) return true
  }
  return false
}
