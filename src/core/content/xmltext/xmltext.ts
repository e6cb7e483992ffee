import * as Y from 'yjs'
import { FormatTable } from '../delta/formatted-text.ts'
import { JsonInterner } from '../json/json-interner.ts'
import type { Output } from '../output.ts'
import { budgetFor } from '../xml/budget.ts'
import { NodeInterner } from '../xml/node-interner.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import type { SharedText } from './data.ts'
import { NestedInterner } from './node-interner.ts'
import { NestedPlan } from './plan.ts'
import { NestedTextReader } from './reader.ts'
import { type SerializedText, serializeText } from './serialize.ts'
import { requireText } from './validator.ts'

function readersOf(output?: Output) {
  const formats = new FormatTable()
  const trees = new NestedInterner(formats, new JsonInterner(), new NodeInterner())
  return { formats, trees, reader: new NestedTextReader(formats, trees, output) }
}

/**
 * Reads a root of nested shared texts, in the form that Lexical and Slate create. `replaceXmlText` with the
 * result would change nothing.
 */
export function readXmlText(doc: Y.Doc, contentKey: string, output?: Output): SerializedText {
  const { formats, reader } = readersOf(output)
  const root = doc.share.get(contentKey) ?? new Y.XmlText()
  return serializeText(reader.text(root, formats.of({})), formats)
}

/**
 * Makes text, embedded values and attributes of the root `contentKey` equal to `target`. Embedded shared
 * values of the same kind are paired by id, or by similarity if there is no id, and updated in place. If the
 * root is already equal, nothing changes.
 */
export function replaceXmlText(doc: Y.Doc, contentKey: string, target: SharedText): RootReplacement {
  const { formats, trees, reader } = readersOf()
  const known = doc.share.get(contentKey)
  const live = reader.text(known ?? new Y.XmlText(), formats.of({}))
  const wanted = trees.child(target, {}, null)
  // Content that was read may be written back unchanged, even if `requireText` would reject it.
  if (live.number === wanted.number) return noReplacement
  requireText(target)
  const type = known ?? doc.get(contentKey)
  const plan = new NestedPlan(formats, reader, budgetFor(reader.items))
  plan.update({ ...live, type }, wanted)
  doc.transact((transaction) => plan.write(transaction))
  return { changed: true, insertions: plan.insertions, deletions: plan.deletions }
}
