import type * as Y from 'yjs'
import { invalid } from '../errors.ts'
import { type Change, type TypeUpdate, updateRoot } from './change.ts'
import { nameOf } from './json.ts'
import type { Root } from './kind.ts'
import { type Effort, effortFor } from './xml-effort.ts'
import { NodeNumbers } from './xml-hash.ts'
import { readTree } from './xml-live.ts'
import { Marks } from './xml-marks.ts'
import { type ParsedElement, parseXml } from './xml-parse.ts'
import { targetTree } from './xml-target.ts'
import type { XmlElement } from './xml-tree.ts'
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
export const replaceXml = (doc: Y.Doc, contentKey: string, parsed: ParsedElement): Change =>
  updateRoot(doc, contentKey, planXml(doc.share.get(contentKey), contentKey, parsed))

/** The same with what the root is in another document: names, marks and types of values are those of both. */
export const restoreXml = (doc: Y.Doc, contentKey: string, past: Y.Doc): Change =>
  updateRoot(doc, contentKey, planXmlOf(doc.share.get(contentKey), contentKey, past.share.get(contentKey)))

/**
 * Compares a root, or a fragment inside of other values, with parsed XML and writes nothing; null when they are equal.
 * `contentKey` says what kind of editor the content is for. Throws INVALID_ARGUMENT when the target is too large.
 */
export const planXml = (
  type: Root | undefined,
  contentKey: string,
  parsed: ParsedElement,
  effort?: Effort,
): TypeUpdate | null =>
  plan(
    type,
    contentKey,
    (vocabulary, marks, numbers) => targetTree(parsed, vocabulary, marks, numbers),
    effort,
  )

/** The same with another root or fragment instead of parsed XML. */
export const planXmlOf = (
  type: Root | undefined,
  contentKey: string,
  past: Root | undefined,
  effort?: Effort,
): TypeUpdate | null => plan(type, contentKey, (...known) => readTree(past, ...known).root, effort)

function plan(
  type: Root | undefined,
  contentKey: string,
  targetIn: (vocabulary: Vocabulary, marks: Marks, numbers: NodeNumbers) => XmlElement,
  effort?: Effort,
): TypeUpdate | null {
  const vocabulary = new Vocabulary(contentKey)
  const marks = new Marks(vocabulary)
  const numbers = new NodeNumbers()
  const { root, items } = readTree(type, vocabulary, marks, numbers)
  const target = targetIn(vocabulary, marks, numbers)
  if (root.number === target.number) return null
  return (transaction, live) => {
    const updater = new XmlUpdater(transaction, vocabulary, marks, effort ?? effortFor(items))
    updater.update({ ...root, type: live }, target)
    return { changed: true, insertions: updater.insertions, deletions: updater.deletions }
  }
}
