import * as Y from 'yjs'

/** What a root holds. A root that holds nothing is of no kind yet and may become any. */
export type RootKind = 'none' | 'text' | 'xml' | 'xmltext' | 'array' | 'map'

/** What one live item of a sequence says about it; a shared type alone may be an array's value or a text's embed. */
type Evidence = 'text' | 'xmltext' | 'array' | 'element' | 'value'

/**
 * The kind of the root `contentKey`, by its live items: a document loaded from updates has untyped roots, and asking
 * for one as a wrong type does not fail. Reads only; where items contradict one another the first decisive one counts.
 */
export function rootKind(doc: Y.Doc, contentKey: string): RootKind {
  const root = doc.share.get(contentKey)
  return root === undefined ? 'none' : kindOf(root)
}

/**
 * Whether content of the kind `wanted` may be read from the root, or written into it: an empty root is of any kind, and
 * one that holds what could be of several kinds is of the one that is asked for. Slate makes shared texts without
 * attributes, Lexical elements without a name; both can stand in XML too.
 */
export function fitsKind(doc: Y.Doc, contentKey: string, wanted: RootKind): boolean {
  const root = doc.share.get(contentKey)
  if (root === undefined) return true
  const kind = kindOf(root)
  return kind === 'none' || kind === wanted || (wanted === 'xmltext' && couldBeXmlText(root))
}

/** A root as a document holds it, of whatever type; `unknown` would not do, its events are part of the type. */
export type Root = NonNullable<ReturnType<Y.Doc['share']['get']>>

/** A shared type as a document holds it: the events that make the types of Yjs incompatible matter to no one here. */
export const asRoot = (type: Y.Map<unknown> | Y.Array<unknown> | Y.Text | Y.XmlFragment): Root =>
  type as object as Root

function kindOf(root: Root): RootKind {
  let undecided: 'none' | 'xml' | 'array' = 'none'
  for (let item = root._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const evidence = evidenceOf(item.content)
    if (evidence === 'text' || evidence === 'xmltext' || evidence === 'array') return evidence
    if (undecided === 'none') undecided = evidence === 'element' ? 'xml' : 'array'
  }
  if (undecided === 'none') return hasEntries(root) ? 'map' : 'none'
  return undecided === 'xml' && hasEntries(root) ? 'xmltext' : undecided
}

/**
 * `checkXmlText` takes nothing that would not be known again by this. Plain values are never in a text; where nothing
 * ever was in sequence, entries are those of a map.
 */
function couldBeXmlText(root: Root): boolean {
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

function hasEntries({ _map }: Root): boolean {
  for (const item of _map.values()) if (!item.deleted) return true
  return false
}
