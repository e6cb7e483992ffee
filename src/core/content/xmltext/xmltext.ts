import * as Y from 'yjs'
import { FormatTable } from '../delta/formatted-text.ts'
import { JsonInterner, type JsonObject } from '../json/json.ts'
import type { Output } from '../output.ts'
import { budgetFor } from '../xml/budget.ts'
import { NodeInterner } from '../xml/tree.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
import { type ChildNode, isChild, NestedInterner, type NestedNode, type SharedText } from './nodes.ts'
import { NestedPlan } from './plan.ts'
import { NestedTextReader } from './reader.ts'
import { requireText } from './validator.ts'

/** The `data` of an xmltext target as a read returns it. Members without content are absent. */
type SerializedText = Readonly<Record<string, unknown>>

/** Converts a tree to data, in the form that is checked and compared. */
function serializeText({ shared, children }: ChildNode, formats: FormatTable): SerializedText {
  const attributes = shared.kind === 'text' ? shared.attributes : {}
  const delta = children.flatMap((node) => piecesOf(node, formats))
  return { ...unlessEmpty('attributes', attributes), ...(delta.length > 0 ? { delta } : {}) }
}

function piecesOf(node: NestedNode, formats: FormatTable): SerializedText[] {
  const formatting = (format: number): SerializedText =>
    unlessEmpty('attributes', formats.get(format).attributes)
  if (isChild(node)) return [{ ...writtenChild(node, formats), ...formatting(node.format) }]
  return node.runs.map(({ start, marks }, index) => ({
    insert: node.text.slice(start, node.runs[index + 1]?.start ?? node.text.length),
    ...formatting(marks),
  }))
}

function writtenChild(node: ChildNode, formats: FormatTable): SerializedText {
  const { shared, children } = node
  if (shared.kind === 'text') return { text: serializeText(node, formats) }
  if (shared.kind === 'map') return { map: shared.value }
  if (shared.kind === 'embed') return { insert: shared.value }
  const inside = children.filter(isChild).map((child) => writtenChild(child, formats))
  return {
    element: {
      name: shared.name,
      ...unlessEmpty('attributes', shared.attributes),
      ...(inside.length > 0 ? { children: inside } : {}),
    },
  }
}

const unlessEmpty = (name: string, value: JsonObject): SerializedText =>
  Object.keys(value).length === 0 ? {} : { [name]: value }

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
