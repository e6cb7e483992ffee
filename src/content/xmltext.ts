import * as Y from 'yjs'
import { type Change, unchanged } from './change.ts'
import { Formats } from './delta-state.ts'
import { asRoot } from './kind.ts'
import { ValueNumbers } from './value-numbers.ts'
import { effortFor } from './xml-effort.ts'
import { NodeNumbers } from './xml-hash.ts'
import type { SharedText } from './xmltext-data.ts'
import { StreamReader } from './xmltext-live.ts'
import { SharedPlan } from './xmltext-plan.ts'
import { type Written, writtenText } from './xmltext-read.ts'
import { StreamTrees } from './xmltext-tree.ts'

function readersOf() {
  const formats = new Formats()
  const trees = new StreamTrees(formats, new ValueNumbers(), new NodeNumbers())
  return { formats, trees, reader: new StreamReader(formats, trees) }
}

/** A root of shared texts inside one another, as Lexical and Slate make it; `replaceXmlText` with it changes nothing. */
export function readXmlText(doc: Y.Doc, contentKey: string): Written {
  const { formats, reader } = readersOf()
  const root = doc.share.get(contentKey) ?? asRoot(new Y.XmlText())
  return writtenText(reader.text(root, formats.of({})), formats)
}

/**
 * Makes text, embedded values and attributes of the root `contentKey` those of `target`. Embedded shared values of the
 * same kind pair by id, else by what they have in common, and are updated in place. Equal already: nothing happens.
 */
export function replaceXmlText(doc: Y.Doc, contentKey: string, target: SharedText): Change {
  const { formats, trees, reader } = readersOf()
  const known = doc.share.get(contentKey)
  const live = reader.text(known ?? asRoot(new Y.XmlText()), formats.of({}))
  const wanted = trees.child(target, {}, null)
  if (live.number === wanted.number) return unchanged
  const type = known ?? doc.get(contentKey)
  const plan = new SharedPlan(formats, reader, effortFor(reader.items))
  plan.update({ ...live, type }, wanted)
  doc.transact((transaction) => plan.write(transaction))
  return { changed: true, insertions: plan.insertions, deletions: plan.deletions }
}
