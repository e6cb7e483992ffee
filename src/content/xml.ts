import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type Change, unchanged } from './change.ts'
import { nameOf } from './json.ts'
import { effortFor } from './xml-effort.ts'
import { NodeNumbers } from './xml-hash.ts'
import { readTree } from './xml-live.ts'
import { Marks } from './xml-marks.ts'
import { type ParsedElement, parseXml } from './xml-parse.ts'
import { targetTree } from './xml-target.ts'
import { Vocabulary } from './xml-vocabulary.ts'
import { XmlUpdater } from './xml-write.ts'

/** The `data` of an XML target: a well-formed fragment; throws INVALID_ARGUMENT saying what is wrong and where. */
export function checkXml(data: unknown): ParsedElement {
  if (typeof data !== 'string') throw invalid(`data must be a string for type "xml", not ${nameOf(data)}`)
  return parseXml(data)
}

/**
 * Makes the elements and texts of the root `contentKey` equal to the parsed XML with few, small operations: what is
 * equal keeps its identity and the cursors in it, elements of the same name are updated. Equal already: nothing happens.
 * What XML cannot say (embeds, hooks) stays as it is.
 */
export function replaceXml(doc: Y.Doc, contentKey: string, parsed: ParsedElement): Change {
  const vocabulary = new Vocabulary(contentKey)
  const marks = new Marks(vocabulary)
  const numbers = new NodeNumbers()
  const { root, items } = readTree(doc.share.get(contentKey), vocabulary, marks, numbers)
  const target = targetTree(parsed, vocabulary, marks, numbers)
  if (root.number === target.number) return unchanged
  const live = doc.share.has(contentKey) ? root : { ...root, type: doc.get(contentKey) }
  return doc.transact((transaction) => {
    const updater = new XmlUpdater(transaction, vocabulary, marks, effortFor(items))
    updater.update(live, target)
    return { changed: true, insertions: updater.insertions, deletions: updater.deletions }
  })
}
