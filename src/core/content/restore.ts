import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { restoreDelta } from './delta/delta.ts'
import { restoreArray, restoreMap } from './values/replace-values.ts'
import { putItem } from './values/write-edits.ts'
import { childrenOf, matchTexts } from './xml/match-texts.ts'
import { replaceTree, treeOfPast } from './xml/xml.ts'
import { checkXmlText } from './xmltext/validator.ts'
import { readXmlText, replaceXmlText } from './xmltext/xmltext.ts'
import { lastItem } from './yjs/items.ts'
import { fitsKind, type RootKind, rootKind, type SharedRoot } from './yjs/root-kind.ts'
import { noReplacement, type RootReplacement } from './yjs/root-replacement.ts'
import { nameOfType, readSequence, type SequenceContent, valuesOf } from './yjs/sequence-content.ts'

/**
 * Makes a root equal to the same root of the document `past`. The root must have, or be able to get, the kind
 * of the past root.
 */
type Restoration = (doc: Y.Doc, contentKey: string, past: Y.Doc) => RootReplacement

const restorations: Readonly<Record<Exclude<RootKind, 'none'>, Restoration>> = {
  text: restoreDelta,
  xml: (doc, contentKey, past) => replaceTree(doc, contentKey, treeOfPast(past.share.get(contentKey))),
  xmltext: (doc, contentKey, past) =>
    replaceXmlText(doc, contentKey, checkXmlText(readXmlText(past, contentKey))),
  array: restoreArray,
  map: restoreMap,
}

/**
 * Restores every root of the document to its state in `past`, with few and small operations, in one
 * transaction. Equal content keeps its identity and the cursors in it, formatting is restored, and roots that
 * `past` does not have are emptied. If the document is already equal, there is no transaction. Everything is
 * restored: content that a replacement would reject (for example names that are too long) is written as it
 * was stored.
 */
export function restoreContent(doc: Y.Doc, past: Y.Doc): RootReplacement {
  const keys = [...new Set([...past.share.keys(), ...doc.share.keys()])].sort()
  return doc.transact(() => keys.map((key) => restoreRoot(doc, key, past)).reduce(sum, noReplacement))
}

function restoreRoot(doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement {
  const kind = rootKind(past, contentKey)
  const root = doc.share.get(contentKey)
  const emptied =
    root === undefined || (kind !== 'none' && fitsKind(doc, contentKey, kind))
      ? noReplacement
      : empty(doc, root)
  if (kind === 'none') return emptied
  const steps = [restoreFinely, makeExact]
  return steps.map((restore) => restore(doc, contentKey, past)).reduce(sum, emptied)
}

/**
 * Restores a root with the operations of a replacement. Does nothing if a replacement would reject the past
 * content; `makeExact` then restores that content.
 */
const restoreFinely: Restoration = (doc, contentKey, past) => {
  const kind = rootKind(past, contentKey)
  try {
    return kind === 'none' ? noReplacement : restorations[kind](doc, contentKey, past)
  } catch (error) {
    if (error instanceof ApiError) return noReplacement
    throw error
  }
}

/** Restores the differences that remain after `restoreFinely`, because no format shows them. */
const makeExact: Restoration = (doc, contentKey, past) =>
  doc.transact((transaction) => {
    const exactness = new ExactRestore(transaction)
    const then = past.get(contentKey)
    exactness.match(
      doc.share.get(contentKey) ?? doc.get(contentKey),
      then,
      rootKind(past, contentKey) === 'xml',
    )
    return exactness
  })

/** Deletes all content of a root of any kind. */
const empty = (doc: Y.Doc, root: SharedRoot): RootReplacement =>
  doc.transact((transaction) => {
    const restore = new ExactRestore(transaction)
    restore.empty(root)
    return restore
  })

const sum = (a: RootReplacement, b: RootReplacement): RootReplacement => ({
  changed: a.changed || b.changed,
  insertions: a.insertions + b.insertions,
  deletions: a.deletions + b.deletions,
})

type Content = Y.Item['content']

/** The items between which a new item is inserted. */
interface Gap {
  readonly left: Y.Item | null
  readonly right: Y.Item | null
}

/**
 * Changes the stored content of one document so that it equals the content of another document, including
 * everything that no format shows: types of values, embeds, hooks, attributes of texts. Use this for content
 * that is almost equal: a shared value that differs is written again as a whole.
 */
class ExactRestore implements RootReplacement {
  insertions = 0
  deletions = 0
  changed = false
  readonly #transaction: Y.Transaction

  constructor(transaction: Y.Transaction) {
    this.#transaction = transaction
  }

  /**
   * Makes a type equal to `past`.
   * @param isXml true if the type is a fragment or an element, which is not visible in a root
   */
  match(type: SharedRoot, past: SharedRoot, isXml: boolean): void {
    this.#matchEntries(type, past)
    if (!(isXml ? this.#matchChildren(type, past) : this.#matchCells(readSequence(type), readSequence(past))))
      this.#rewrite(type, past)
  }

  /**
   * Matches the shared values in two sequences. Returns false, and changes nothing, if the sequences do not
   * correspond.
   */
  #matchCells(live: SequenceContent, past: SequenceContent): boolean {
    if (!isDeepStrictEqual(live.cells, past.cells)) return false
    this.#matchAll(live.shared, past.shared)
    return true
  }

  #matchAll(types: readonly SharedRoot[], pasts: readonly SharedRoot[]): void {
    types.forEach((type, at) => {
      this.match(type, pasts[at] as SharedRoot, type instanceof Y.XmlFragment)
    })
  }

  #matchChildren(type: SharedRoot, past: SharedRoot): boolean {
    const [children, pasts] = [childrenOf(type), childrenOf(past)]
    if (children === null || pasts === null) return this.#matchCells(readSequence(type), readSequence(past))
    if (!isDeepStrictEqual(children.nodes.map(nameOfType), pasts.nodes.map(nameOfType))) return false
    this.#matchAll(children.nodes, pasts.nodes)
    children.texts.forEach((texts, at) => {
      const before = children.nodes[at - 1]?._item ?? null
      this.#matchTexts({ type, before, texts }, pasts.texts[at] as readonly SharedRoot[])
    })
    return true
  }

  #matchTexts({ type, before, texts }: Texts, pasts: readonly SharedRoot[]): void {
    let left = before
    for (const { live, past } of matchTexts(texts, pasts)) {
      if (live === null) {
        const right = left === null ? type._start : left.right
        left = this.#put(type, null, { left, right }, (past._item as Y.Item).content)
        continue
      }
      left = live._item as Y.Item
      if (past === null) this.#delete(left)
      else this.match(live, past, false)
    }
    if (type._searchMarker !== null) type._searchMarker.length = 0
  }

  #matchEntries(type: SharedRoot, past: SharedRoot): void {
    for (const [key, item] of type._map)
      if (!item.deleted && past._map.get(key)?.deleted !== false) this.#delete(item)
    for (const [key, { deleted, content }] of past._map) {
      if (deleted) continue
      const entry = type._map.get(key)
      if (entry === undefined || entry.deleted || !this.#matchEntry(entry.content, content))
        this.#put(type, key, { left: entry ?? null, right: null }, content)
    }
  }

  /** Makes an entry equal to the past entry. Returns false if the entry must be replaced by another value. */
  #matchEntry(content: Content, past: Content): boolean {
    const isType = content instanceof Y.ContentType
    if (!isType || !(past instanceof Y.ContentType))
      return (
        isType === past instanceof Y.ContentType &&
        isDeepStrictEqual(valuesOf(content).at(-1), valuesOf(past).at(-1))
      )
    if (nameOfType(content.type) !== nameOfType(past.type)) return false
    this.#matchAll([content.type], [past.type])
    return true
  }

  /** Deletes all content of a type. */
  empty(type: SharedRoot): void {
    this.#clear(type)
    for (const item of type._map.values()) if (!item.deleted) this.#delete(item)
  }

  #rewrite(type: SharedRoot, past: SharedRoot): void {
    this.#clear(type)
    this.#append(type, past)
  }

  #clear(type: SharedRoot): void {
    for (let item = type._start; item !== null; item = item.right) if (!item.deleted) this.#delete(item)
    if (type._searchMarker !== null) type._searchMarker.length = 0
  }

  #append(type: SharedRoot, past: SharedRoot): void {
    let left = lastItem(type)
    for (let item = past._start; item !== null; item = item.right)
      if (!item.deleted) left = this.#put(type, null, { left, right: null }, item.content)
  }

  #put(type: SharedRoot, key: string | null, gap: Gap, content: Content): Y.Item {
    const copy = content.copy()
    const item = putItem(this.#transaction, { type, key, ...gap }, copy)
    this.changed = true
    if (item.countable) this.insertions += item.length
    if (!(copy instanceof Y.ContentType) || !(content instanceof Y.ContentType)) return item
    this.#matchEntries(copy.type, content.type)
    this.#append(copy.type, content.type)
    return item
  }

  #delete(item: Y.Item): void {
    this.changed = true
    if (item.countable) this.deletions += item.length
    item.delete(this.#transaction)
  }
}

/** Adjacent texts in `type` that follow the item `before`. */
interface Texts {
  readonly type: SharedRoot
  readonly before: Y.Item | null
  readonly texts: readonly SharedRoot[]
}
