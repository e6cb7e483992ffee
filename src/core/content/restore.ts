import type * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { restoreDelta } from './delta/delta.ts'
import { ExactRestore } from './restore-exact.ts'
import { restoreArray, restoreMap } from './values/replace-values.ts'
import { restoreXml } from './xml/xml.ts'
import { checkXmlText } from './xmltext/validator.ts'
import { readXmlText, replaceXmlText } from './xmltext/xmltext.ts'
import { fitsKind, type RootKind, rootKind, type SharedRoot } from './yjs/root-kind.ts'
import { noReplacement, type RootReplacement } from './yjs/root-replacement.ts'

/**
 * Makes a root equal to the same root of the document `past`. The root must have, or be able to get, the kind
 * of the past root.
 */
type Restoration = (doc: Y.Doc, contentKey: string, past: Y.Doc) => RootReplacement

const restorations: Readonly<Record<Exclude<RootKind, 'none'>, Restoration>> = {
  text: restoreDelta,
  xml: restoreXml,
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
function empty(doc: Y.Doc, root: SharedRoot): RootReplacement {
  let deletions = 0
  doc.transact((transaction) => {
    for (let item = root._start; item !== null; item = item.right) {
      if (item.deleted) continue
      if (item.countable) deletions += item.length
      item.delete(transaction)
    }
    for (const item of root._map.values()) {
      if (item.deleted) continue
      deletions += 1
      item.delete(transaction)
    }
  })
  if (root._searchMarker !== null) root._searchMarker.length = 0
  return { changed: deletions > 0, insertions: 0, deletions }
}

const sum = (a: RootReplacement, b: RootReplacement): RootReplacement => ({
  changed: a.changed || b.changed,
  insertions: a.insertions + b.insertions,
  deletions: a.deletions + b.deletions,
})
