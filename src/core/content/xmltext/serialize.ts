import type { FormatTable } from '../delta/formatted-text.ts'
import type { JsonObject } from '../json/json.ts'
import { type ChildNode, isChild, type NestedNode } from './nodes.ts'

/** The `data` of an xmltext target as a read returns it. Members without content are absent. */
export type SerializedText = Readonly<Record<string, unknown>>

/** Converts a tree to data, in the form that is checked and compared. */
export function serializeText({ shared, children }: ChildNode, formats: FormatTable): SerializedText {
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
