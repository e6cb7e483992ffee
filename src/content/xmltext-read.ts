import type { Formats } from './delta-state.ts'
import type { JsonObject } from './json.ts'
import { type ChildNode, isChild, type StreamNode } from './xmltext-nodes.ts'

/** What `data` of an xmltext target says, as read: members without content are left out. */
export type Written = Readonly<Record<string, unknown>>

/** Writes a tree as data, the form that is checked and compared again. */
export function writtenText({ shared, children }: ChildNode, formats: Formats): Written {
  const attributes = shared.kind === 'text' ? shared.attributes : {}
  const delta = children.flatMap((node) => piecesOf(node, formats))
  return { ...unlessEmpty('attributes', attributes), ...(delta.length > 0 ? { delta } : {}) }
}

function piecesOf(node: StreamNode, formats: Formats): Written[] {
  const formatting = (format: number): Written => unlessEmpty('attributes', formats.get(format).attributes)
  if (isChild(node)) return [{ ...writtenChild(node, formats), ...formatting(node.format) }]
  return node.runs.map(({ start, marks }, index) => ({
    insert: node.text.slice(start, node.runs[index + 1]?.start ?? node.text.length),
    ...formatting(marks),
  }))
}

function writtenChild(node: ChildNode, formats: Formats): Written {
  const { shared, children } = node
  if (shared.kind === 'text') return { text: writtenText(node, formats) }
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

const unlessEmpty = (name: string, value: JsonObject): Written =>
  Object.keys(value).length === 0 ? {} : { [name]: value }
