import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { Output } from '../output.ts'
import { applyToRoot, type ReplacementResult } from '../replacement-result.ts'
import type { CompiledSchema } from '../schemas/compiled-schema.ts'
import { stepsMax } from '../text/plan.ts'
import { MarkTable } from '../xml/mark-sets.ts'
import { NodeInterner } from '../xml/node-interner.ts'
import { ObservedSchema } from '../xml/observed-schema.ts'
import { readTree } from '../xml/read-tree.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import type { LiveElement, LiveNode, XmlElement } from '../xml/tree.ts'
import { planTree } from '../xml/xml.ts'
import {
  type BlockFeatures,
  type BlockFormat,
  newBlocksFor,
  type StoredRoot,
  type TextOfBlocks,
  targetOfText,
} from './block-format.ts'
import { BlockReader } from './block-reader.ts'
import { BlockWriter } from './block-writer.ts'
import { type Dialect, isBlockNote } from './dialect.ts'
import { BlockMerger } from './merge-blocks.ts'
import { dialectFor, nodesById, xmlIds } from './stored-blocks.ts'

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
): ReplacementResult {
  const treeIn: TargetTree = (vocabulary, marks, numbers, root) => {
    const tree = targetOfText(target, storedRoot(target.format, vocabulary, marks, numbers, root))
    if (tree.number !== root.number) requireDialect(target.format, vocabulary)
    return tree
  }
  return applyToRoot(doc, contentKey, planTree(doc.share.get(contentKey), contentKey, treeIn, { schema }))
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
  const vocabulary = new ObservedSchema(contentKey)
  const marks = new MarkTable(vocabulary)
  const { root } = readTree(doc.share.get(contentKey), vocabulary, marks, new NodeInterner(), output)
  const reader = new BlockReader(dialectFor(root, vocabulary, format), marks, xmlIds, format.tables)
  return format.write(reader.blocks(root.children), output).text
}

/**
 * Returns the tree of a text whose blocks are all new in the document, in the names of the document.
 * @throws ApiError INVALID_ARGUMENT if the text has a placeholder
 */
export const newXmlBlocks =
  (target: TextOfBlocks): TargetTree =>
  (vocabulary, marks, numbers, root) => {
    requireDialect(target.format, vocabulary)
    const dialect = dialectFor(root, vocabulary, target.format)
    vocabulary.assumeRichText()
    const blocks = newBlocksFor(target, featuresOf(dialect))
    const writer = new BlockWriter(dialect, marks, numbers, new Map())
    return writer.named(
      '',
      blocks.map((block) => writer.build(block)),
      new Map(),
    )
  }

function storedRoot(
  format: BlockFormat,
  vocabulary: ObservedSchema,
  marks: MarkTable,
  numbers: NodeInterner,
  root: LiveElement,
): StoredRoot<XmlElement> {
  const dialect = dialectFor(root, vocabulary, format)
  vocabulary.assumeRichText()
  const reader = new BlockReader(dialect, marks, xmlIds, format.tables)
  let nodes: ReadonlyMap<string, LiveNode> | null = null
  const nodeOf = (id: string): LiveNode | undefined => {
    nodes ??= nodesById(root)
    return nodes.get(id)
  }
  return {
    blocks: reader.blocks(root.children),
    features: featuresOf(dialect),
    unchanged: root,
    hasNode: (id) => nodeOf(id) !== undefined,
    merged: (live, wanted, keys) => {
      const writer = new BlockWriter(dialect, marks, numbers, nodes ?? new Map())
      const merger = new BlockMerger(reader, writer, marks, { steps: stepsMax }, keys)
      return writer.named('', merger.merge(live, wanted), new Map())
    },
  }
}

function requireDialect({ name }: BlockFormat, vocabulary: ObservedSchema): void {
  if (isBlockNote(vocabulary, vocabulary.contentKey))
    throw invalidContent(
      `type "${name}" does not support roots of BlockNote; send type "xml" or "prosemirror"`,
    )
}

const featuresOf = ({ nodes, marks, hasBlockImages }: Dialect): BlockFeatures => ({
  table: nodes.table !== undefined,
  strike: marks.strike !== undefined,
  taskList: nodes.taskList !== undefined,
  blockImages: hasBlockImages,
})
