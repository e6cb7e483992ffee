import type { ObservedSchema } from '../xml/observed-schema.ts'
import type { LiveElement, LiveNode } from '../xml/tree.ts'
import type { BlockFormat } from './block-format.ts'
import type { NodeIds } from './block-reader.ts'
import { type Dialect, dialectOf, lineMarks } from './dialect.ts'

/** The id of a node of XML is that of its first item. */
export const xmlIds: NodeIds = { idOf: storedId }

function storedId(node: LiveNode): string {
  const item = (node.kind === 'text' ? node.parts[0]?.type : node.type)?._item
  return item === null || item === undefined ? '0-0' : `${item.id.client}-${item.id.clock}`
}

/** Returns the dialect of a root, with the marks that a format can represent. */
export function dialectFor(
  root: LiveElement,
  vocabulary: ObservedSchema,
  { hasAllMarks }: Pick<BlockFormat, 'hasAllMarks'>,
): Dialect {
  const dialect = dialectOf(vocabulary, vocabulary.contentKey, hasInlineImages(root))
  if (!hasAllMarks) return dialect
  const underline = dialect.isFlat && vocabulary.editor === null ? { underline: 'underline' } : {}
  return { ...dialect, marks: { ...dialect.marks, ...underline, ...lineMarks(vocabulary) } }
}

/** Returns whether a paragraph or a heading contains an image. */
function hasInlineImages(root: LiveElement): boolean {
  const waiting: LiveNode[] = [root]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.kind === 'text') continue
    const isLine = node.name === 'paragraph' || node.name === 'heading'
    for (const child of node.children) {
      if (isLine && child.kind === 'element' && child.name === 'image') return true
      waiting.push(child)
    }
  }
  return false
}

/** Returns all nodes of a root by their ids. */
export function nodesById(root: LiveElement): ReadonlyMap<string, LiveNode> {
  const nodes = new Map<string, LiveNode>()
  const waiting: LiveNode[] = [...root.children]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    nodes.set(storedId(node), node)
    if (node.kind === 'element') for (const child of node.children) waiting.push(child)
  }
  return nodes
}
