import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type Change, unchanged } from './change.ts'
import { nameOf } from './json.ts'
import type { Root } from './kind.ts'
import { type Effort, effortFor } from './xml-effort.ts'
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
  const known = doc.share.get(contentKey)
  const update = planXml(known, contentKey, parsed)
  if (update === null) return unchanged
  const type = known ?? doc.get(contentKey)
  return doc.transact((transaction) => update(transaction, type))
}

/** Makes the shared type that was planned for, or a new empty one, equal to the target. */
export type XmlUpdate = (transaction: Y.Transaction, type: Root) => Change

/**
 * Compares a root, or a fragment inside of other values, with parsed XML and writes nothing; null when they are equal.
 * `contentKey` says what kind of editor the content is for. Throws INVALID_ARGUMENT when the target is too large.
 */
export function planXml(
  type: Root | undefined,
  contentKey: string,
  parsed: ParsedElement,
  sharedEffort?: Effort,
): XmlUpdate | null {
  const vocabulary = new Vocabulary(contentKey)
  const marks = new Marks(vocabulary)
  const numbers = new NodeNumbers()
  const { root, items } = readTree(type, vocabulary, marks, numbers)
  const target = targetTree(parsed, vocabulary, marks, numbers)
  if (root.number === target.number) return null
  return (transaction, live) => {
    const updater = new XmlUpdater(transaction, vocabulary, marks, sharedEffort ?? effortFor(items))
    updater.update({ ...root, type: live }, target)
    return { changed: true, insertions: updater.insertions, deletions: updater.deletions }
  }
}
