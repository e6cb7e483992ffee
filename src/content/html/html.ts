import type * as Y from 'yjs'
import type { BlockNode, NeutralBlock } from '../blocks/block.ts'
import { isInvisible } from '../blocks/block-keys.ts'
import { BlockReader } from '../blocks/block-reader.ts'
import { BlockWriter } from '../blocks/block-writer.ts'
import { type Dialect, isBlockNote } from '../blocks/dialect.ts'
import { BlockMerger, type LiveBlock } from '../blocks/merge-blocks.ts'
import { dialectFor, nodesById } from '../blocks/stored-blocks.ts'
import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import { Output } from '../output.ts'
import { applyToRoot, type PlannedUpdate, type ReplacementResult } from '../replacement-result.ts'
import { stepsMax } from '../text/plan.ts'
import { MarkTable } from '../xml/mark-sets.ts'
import { NodeInterner } from '../xml/node-interner.ts'
import { ObservedSchema } from '../xml/observed-schema.ts'
import { readTree } from '../xml/read-tree.ts'
import type { TargetTree } from '../xml/target-tree.ts'
import type { LiveElement, LiveNode, XmlElement } from '../xml/tree.ts'
import { planTree } from '../xml/xml.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { allHtmlFeatures, type HtmlFeatures, HtmlReader } from './html-reader.ts'
import { type HtmlNode, isElement, parseHtml } from './parse-html.ts'
import { writeHtml } from './write-html.ts'

/** A text in HTML that was parsed, and its blocks for an editor that has all features. */
export interface CheckedHtml {
  readonly text: string
  readonly nodes: readonly HtmlNode[]
  readonly usual: HtmlBlocks
}

interface HtmlBlocks {
  readonly blocks: readonly NeutralBlock[]
  readonly placeholders: ReadonlySet<string>
}

function blocksOf(nodes: readonly HtmlNode[], features: HtmlFeatures): HtmlBlocks {
  const reader = new HtmlReader(features)
  return { blocks: reader.blocks(nodes), placeholders: reader.placeholders }
}

/**
 * Checks that the `data` of an HTML target is a text within the limits. All HTML is well-formed for browsers.
 * @throws ApiError INVALID_ARGUMENT with the exceeded limit
 */
export function checkHtml(data: unknown): CheckedHtml {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "html", not ${jsonTypeName(data)}`)
  const nodes = parseHtml(data)
  return { text: data, nodes, usual: blocksOf(nodes, allHtmlFeatures) }
}

/**
 * Makes the root `contentKey` equal to a text in HTML. Content that HTML cannot represent stays with the text
 * that stays. If the text is the HTML of the root, nothing changes.
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no node of the root
 */
export const replaceHtml = (doc: Y.Doc, contentKey: string, target: CheckedHtml): ReplacementResult =>
  applyToRoot(doc, contentKey, planHtml(doc.share.get(contentKey), contentKey, target))

/** Compares a root with HTML, like `planXml`. */
export const planHtml = (
  type: SharedRoot | undefined,
  contentKey: string,
  target: CheckedHtml,
): PlannedUpdate | null =>
  planTree(type, contentKey, (vocabulary, marks, numbers, root) =>
    targetOf(target, contentKey, vocabulary, marks, numbers, root),
  )

/**
 * Returns the tree of HTML whose blocks are all new in the document, in the names of the document.
 * @throws ApiError INVALID_ARGUMENT if the text has a placeholder
 */
export const newHtml =
  ({ nodes }: CheckedHtml): TargetTree =>
  (vocabulary, marks, numbers, root) => {
    requireHtmlRoot(vocabulary, vocabulary.contentKey)
    const dialect = dialectFor(root, vocabulary, vocabulary.contentKey)
    vocabulary.assumeRichText()
    const reader = new HtmlReader(featuresOf(dialect))
    const wanted = reader.blocks(nodes)
    if (reader.placeholders.size > 0)
      throw invalidContent(
        'new content must not have a placeholder; remove it, or keep the stored node with /v2/crdt/update',
      )
    const writer = new BlockWriter(dialect, marks, numbers, new Map())
    const blocks = wanted.map((block) => writer.build(block))
    return writer.named('', blocks, new Map())
  }

/**
 * Returns the content of a root as HTML. Nodes that HTML cannot represent appear as placeholders.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readHtml(doc: Y.Doc, contentKey: string, output = new Output()): string {
  const vocabulary = new ObservedSchema(contentKey)
  const marks = new MarkTable(vocabulary)
  const { root } = readTree(doc.share.get(contentKey), vocabulary, marks, new NodeInterner(), output)
  const reader = new BlockReader(dialectFor(root, vocabulary, contentKey), marks, 'all')
  return writeHtml(reader.blocks(root.children), output)
}

function targetOf(
  { text, nodes, usual }: CheckedHtml,
  contentKey: string,
  vocabulary: ObservedSchema,
  marks: MarkTable,
  numbers: NodeInterner,
  root: LiveElement,
): XmlElement {
  const dialect = dialectFor(root, vocabulary, contentKey)
  const reader = new BlockReader(dialect, marks, 'all')
  const blocks = reader.blocks(root.children)
  const written = writeHtml(blocks, new Output())
  if (written === text) return root
  requireHtmlRoot(vocabulary, contentKey)
  vocabulary.assumeRichText()
  const features = featuresOf(dialect)
  const wanted = Object.values(features).every(Boolean) ? usual : blocksOf(nodes, features)
  const stored = wanted.placeholders.size === 0 ? new Map<string, LiveNode>() : nodesById(root)
  for (const id of wanted.placeholders) {
    if (stored.has(id)) continue
    throw invalidContent(
      `data has a placeholder for a node that the document does not have: ${JSON.stringify(id.slice(0, 50))}; ` +
        'remove it, or read the document again',
    )
  }
  const live = liveBlocks(blocks, parseHtml(written), features)
  const writer = new BlockWriter(dialect, marks, numbers, stored)
  const merger = new BlockMerger(reader, writer, marks, { steps: stepsMax })
  return writer.named('', merger.merge(live, wanted.blocks), new Map())
}

function requireHtmlRoot(vocabulary: ObservedSchema, contentKey: string): void {
  if (isBlockNote(vocabulary, contentKey))
    throw invalidContent('type "html" does not support roots of BlockNote; send type "xml" or "prosemirror"')
}

const featuresOf = ({ nodes, hasBlockImages }: Dialect): HtmlFeatures => ({
  table: nodes.table !== undefined,
  taskList: nodes.taskList !== undefined,
  blockImages: hasBlockImages,
})

/**
 * Returns the stored blocks with the blocks as which their HTML is read. Each block that is visible was
 * written as one element.
 */
function liveBlocks(
  blocks: readonly BlockNode[],
  written: readonly HtmlNode[],
  features: HtmlFeatures,
): LiveBlock[] {
  const elements = written.filter(isElement)
  let at = 0
  return blocks.map((block) => {
    if (isInvisible(block)) return { block, views: [] }
    const element = elements[at++]
    return { block, views: element === undefined ? [] : new HtmlReader(features).blocks([element]) }
  })
}
