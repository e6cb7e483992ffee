import type * as Y from 'yjs'
import { Output } from '../output.ts'
import type { CompiledSchema } from '../schemas/compiled-schema.ts'
import type { ObservedSchema } from '../xml/observed-schema.ts'
import { readTree, XmlScope } from '../xml/read-tree.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import { type LiveElement, type LiveNode, nodesWithin, type XmlElement } from '../xml/tree.ts'
import { xmlValues } from '../xml/value-codec.ts'
import { replaceTree } from '../xml/xml.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import {
  type BlockForm,
  type BlockFormat,
  newBlocksFor,
  type StoredRoot,
  type TextOfBlocks,
  targetOfText,
  withEmptinessWarning,
} from './block-format.ts'
import { BlockReader } from './block-reader.ts'
import { BlockWriter } from './block-writer.ts'
import { type Dialect, dialectOf, lineMarks } from './dialect.ts'
import { BlockMerger } from './merge-blocks.ts'
import { joinLists, noteBlock, splitLists, splitLive } from './note-blocks.ts'
import { NoteTree } from './note-tree.ts'

/** Returns the id of a node of XML: that of its first item. */
function storedId(node: LiveNode): string {
  const item = (node.kind === 'text' ? node.parts[0]?.type : node.type)?._item
  return item === null || item === undefined ? '0-0' : `${item.id.client}-${item.id.clock}`
}

/** Returns the dialect of a root, with the marks that a format can represent. */
function dialectFor(
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
  for (const node of nodesWithin(root)) {
    const isLine = node.kind === 'element' && (node.name === 'paragraph' || node.name === 'heading')
    if (isLine && node.children.some((child) => child.kind === 'element' && child.name === 'image'))
      return true
  }
  return false
}

/** Returns all nodes of a root by their ids. */
function nodesById(root: LiveElement): ReadonlyMap<string, LiveNode> {
  const nodes = new Map<string, LiveNode>()
  for (const node of nodesWithin(root)) if (node !== root) nodes.set(storedId(node), node)
  return nodes
}

/**
 * Makes an XML root equal to a text. Content that the format cannot represent stays with the text that stays.
 * If the text is that of the root, nothing changes.
 * @param schema the schema in whose normal form new nodes and marks are written; null without one
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no node of the root
 */
export function replaceXmlBlocks(
  doc: Y.Doc,
  contentKey: string,
  target: TextOfBlocks,
  schema: CompiledSchema | null = null,
): RootReplacement {
  const treeIn: TargetTree['treeIn'] = (scope, root) =>
    targetOfText(target, storedRoot(target.format, scope, root))
  const result = replaceTree(doc, contentKey, { treeIn, values: xmlValues }, schema)
  return withEmptinessWarning(result, [target])
}

/**
 * Returns the content of an XML root as text. Nodes that the format cannot represent appear as placeholders.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readXmlBlocks(
  doc: Y.Doc,
  contentKey: string,
  format: BlockFormat,
  output = new Output(),
): string {
  const scope = new XmlScope(contentKey)
  const { root } = readTree(doc.share.get(contentKey), scope, output)
  const { blocks } = storedRoot(format, scope, root)
  return format.write(blocks, output).text
}

/**
 * Returns the tree of a text whose blocks are all new in the document, in the names of the document.
 * @throws ApiError INVALID_ARGUMENT if the text has a placeholder
 */
export const newXmlBlocks = (target: TextOfBlocks): TargetTree => ({
  values: xmlValues,
  treeIn: (scope, root, replaced) => {
    const { vocabulary, marks } = scope
    const dialect = dialectFor(root, vocabulary, target.format)
    vocabulary.assumeRichText()
    const blocks = newBlocksFor(target, formOf(dialect))
    const writer = new BlockWriter(dialect, scope, new Map())
    const built = (dialect.isFlat ? splitLists(blocks) : blocks).map((block) => writer.build(block))
    const reader = new BlockReader(dialect, marks, (node) => storedId(node as LiveNode))
    const merger = new BlockMerger(reader, writer)
    const kept = replaced === undefined ? built : merger.formatted({ live: [replaced], built })
    const nodes = dialect.isFlat ? new NoteTree(root, scope, false).restoredBlocks(kept) : kept
    return writer.named('', nodes, new Map())
  },
})

function storedRoot(format: BlockFormat, scope: XmlScope, root: LiveElement): StoredRoot<XmlElement> {
  const { vocabulary, marks } = scope
  const dialect = dialectFor(root, vocabulary, format)
  vocabulary.assumeRichText()
  const reader = new BlockReader(dialect, marks, (node) => storedId(node as LiveNode), format.tables)
  const note = dialect.isFlat ? new NoteTree(root, scope, format.tables === 'simple') : null
  const view = note?.view ?? root
  const read = reader.blocks(view.children)
  const lists = note === null ? null : joinLists(read)
  let nodes: ReadonlyMap<string, LiveNode> | null = null
  const nodeOf = (id: string): LiveNode | undefined => {
    nodes ??= nodesById(view)
    return nodes.get(id)
  }
  return {
    ...formOf(dialect),
    blocks: lists?.blocks ?? read,
    unchanged: root,
    hasNode: (id) => nodeOf(id) !== undefined,
    merged: (live, wanted, keys) => {
      const writer = new BlockWriter(dialect, scope, nodes ?? new Map())
      const merger = new BlockMerger(reader, writer, keys)
      return note === null || lists === null
        ? writer.named('', merger.merge(live, wanted), new Map())
        : note.restored(merger.merge(splitLive(live, lists.parts), splitLists(wanted)))
    },
  }
}

/** Returns the form of blocks that editors with this dialect support. */
const formOf = (dialect: Dialect): BlockForm => ({
  features: {
    table: dialect.nodes.table !== undefined,
    strike: dialect.marks.strike !== undefined,
    taskList: dialect.nodes.taskList !== undefined,
    blockImages: dialect.hasBlockImages,
  },
  ...(dialect.isFlat && { fitted: noteBlock }),
})
