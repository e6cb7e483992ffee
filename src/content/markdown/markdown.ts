import type * as Y from 'yjs'
import type { NeutralBlock } from '../blocks/block.ts'
import { BlockKeys, isInvisible } from '../blocks/block-keys.ts'
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
import { type MarkdownFeatures, type ParsedMarkdown, parseMarkdown } from './parse-markdown.ts'
import { writeMarkdown } from './write-markdown.ts'

/** A text in Markdown that was parsed with the usual features. */
export interface CheckedMarkdown {
  readonly text: string
  readonly parsed: ParsedMarkdown
}

/**
 * Checks that the `data` of a Markdown target is a text within the limits.
 * @throws ApiError INVALID_ARGUMENT with the problem and its line
 */
export function checkMarkdown(data: unknown): CheckedMarkdown {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "markdown", not ${jsonTypeName(data)}`)
  return { text: data, parsed: parseMarkdown(data) }
}

/**
 * Makes the root `contentKey` equal to a text in Markdown. Content that Markdown cannot represent stays with
 * the text that stays. If the text is the Markdown of the root, nothing changes.
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no node of the root
 */
export const replaceMarkdown = (doc: Y.Doc, contentKey: string, target: CheckedMarkdown): ReplacementResult =>
  applyToRoot(doc, contentKey, planMarkdown(doc.share.get(contentKey), contentKey, target))

/** Compares a root with Markdown, like `planXml`. */
export const planMarkdown = (
  type: SharedRoot | undefined,
  contentKey: string,
  target: CheckedMarkdown,
): PlannedUpdate | null =>
  planTree(type, contentKey, (vocabulary, marks, numbers, root) =>
    targetOf(target, contentKey, vocabulary, marks, numbers, root),
  )

/**
 * Returns the tree of Markdown whose blocks are all new in the document, in the names of the document.
 * @throws ApiError INVALID_ARGUMENT if the text has a placeholder
 */
export const newMarkdown =
  ({ text, parsed: usual }: CheckedMarkdown): TargetTree =>
  (vocabulary, marks, numbers, root) => {
    requireMarkdownRoot(vocabulary, vocabulary.contentKey)
    const dialect = dialectFor(root, vocabulary, vocabulary.contentKey)
    vocabulary.assumeRichText()
    const features = featuresOf(dialect)
    const wanted = Object.values(features).every(Boolean) ? usual : parseMarkdown(text, features)
    if (wanted.placeholders.size > 0)
      throw invalidContent(
        'new content must not have a placeholder; remove it, or keep the stored node with /v2/crdt/update',
      )
    const writer = new BlockWriter(dialect, marks, numbers, new Map())
    const blocks = wanted.blocks.map((block) => writer.build(block))
    return writer.named('', blocks, new Map())
  }

/**
 * Returns the content of a root as Markdown. Nodes that Markdown cannot represent appear as placeholders.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readMarkdown(doc: Y.Doc, contentKey: string, output = new Output()): string {
  const vocabulary = new ObservedSchema(contentKey)
  const marks = new MarkTable(vocabulary)
  const { root } = readTree(doc.share.get(contentKey), vocabulary, marks, new NodeInterner(), output)
  const reader = new BlockReader(dialectFor(root, vocabulary, contentKey), marks)
  return writeMarkdown(reader.blocks(root.children), output).text
}

function targetOf(
  { text, parsed: usual }: CheckedMarkdown,
  contentKey: string,
  vocabulary: ObservedSchema,
  marks: MarkTable,
  numbers: NodeInterner,
  root: LiveElement,
): XmlElement {
  requireMarkdownRoot(vocabulary, contentKey)
  const dialect = dialectFor(root, vocabulary, contentKey)
  vocabulary.assumeRichText()
  const reader = new BlockReader(dialect, marks)
  const blocks = reader.blocks(root.children)
  const features = featuresOf(dialect)
  const parse = (source: string): ParsedMarkdown => parseMarkdown(source, features)
  const wanted = Object.values(features).every(Boolean) ? usual : parse(text)
  const stored = wanted.placeholders.size === 0 ? new Map<string, LiveNode>() : nodesById(root)
  for (const [id, line] of wanted.placeholders) {
    if (stored.has(id)) continue
    throw invalidContent(
      `data has a placeholder at line ${line} for a node that the document does not have: "${id}"; ` +
        'remove it, or read the document again',
      { line },
    )
  }
  const keys = new BlockKeys()
  const live = unchangedEnds(blocks, wanted.blocks, keys, parse) ?? wholeViews(blocks, text, parse)
  if (live === null) return root
  const writer = new BlockWriter(dialect, marks, numbers, stored)
  const merger = new BlockMerger(reader, writer, marks, { steps: stepsMax }, keys)
  return writer.named('', merger.merge(live, wanted.blocks), new Map())
}

function requireMarkdownRoot(vocabulary: ObservedSchema, contentKey: string): void {
  if (isBlockNote(vocabulary, contentKey))
    throw invalidContent('type "markdown" does not support roots of BlockNote; send type "xml"')
}

const featuresOf = ({ nodes, marks, hasBlockImages }: Dialect): MarkdownFeatures => ({
  table: nodes.table !== undefined,
  strike: marks.strike !== undefined,
  taskList: nodes.taskList !== undefined,
  blockImages: hasBlockImages,
})

/**
 * Returns the stored blocks with their views, without writing the blocks at the start and the end that the
 * wanted blocks equal. Returns null if a block between them is not read as it is stored.
 */
function unchangedEnds(
  blocks: readonly NeutralBlock[],
  wanted: readonly NeutralBlock[],
  keys: BlockKeys,
  parse: (text: string) => ParsedMarkdown,
): LiveBlock[] | null {
  const equal = (block: NeutralBlock | undefined, other: NeutralBlock | undefined): boolean =>
    block !== undefined && other !== undefined && keys.of(block) === keys.of(other)
  let [start, wantedStart] = [0, 0]
  for (; start < blocks.length; start++) {
    if (isInvisible(blocks[start] as NeutralBlock)) continue
    if (!equal(blocks[start], wanted[wantedStart])) break
    wantedStart += 1
  }
  let [end, wantedEnd] = [blocks.length, wanted.length]
  for (; end > start; end--) {
    if (isInvisible(blocks[end - 1] as NeutralBlock)) continue
    if (wantedEnd === wantedStart || !equal(blocks[end - 1], wanted[wantedEnd - 1])) break
    wantedEnd -= 1
  }
  const middle = blocks.slice(start, end)
  const written = writeMarkdown(middle, new Output())
  const changed = liveBlocks(middle, written.lines, parse(written.text))
  const isExact = changed.every(
    ({ block, views: [first, ...others] }) =>
      isInvisible(block) || (first !== undefined && others.length === 0 && keys.of(first) === keys.of(block)),
  )
  if (!isExact) return null
  const asStored = (block: NeutralBlock): LiveBlock => ({ block, views: isInvisible(block) ? [] : [block] })
  return [...blocks.slice(0, start).map(asStored), ...changed, ...blocks.slice(end).map(asStored)]
}

/** Returns all stored blocks with their views; null if the text is that of the stored blocks. */
function wholeViews(
  blocks: readonly NeutralBlock[],
  text: string,
  parse: (text: string) => ParsedMarkdown,
): LiveBlock[] | null {
  const written = writeMarkdown(blocks, new Output())
  return written.text === text ? null : liveBlocks(blocks, written.lines, parse(written.text))
}

/** Assigns the blocks that a text is read as to the blocks that were written, by their lines. */
function liveBlocks(
  blocks: readonly NeutralBlock[],
  starts: readonly number[],
  parsed: ParsedMarkdown,
): LiveBlock[] {
  let at = 0
  return blocks.map((block, index) => {
    if (isInvisible(block)) return { block, views: [] }
    const end = starts[index + 1] ?? Number.POSITIVE_INFINITY
    const first = at
    while (at < parsed.blocks.length && (parsed.lines[at] as number) < end) at += 1
    return { block, views: parsed.blocks.slice(first, at) }
  })
}
