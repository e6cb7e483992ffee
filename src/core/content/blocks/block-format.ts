import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import { Output } from '../output.ts'
import type { RootReplacement } from '../yjs/root-replacement.ts'
import type { NeutralBlock } from './block.ts'
import { BlockKeys, isInvisible } from './block-keys.ts'
import type { LiveBlock } from './merge-blocks.ts'

/**
 * Blocks and formatting that a root supports. Markdown reads the syntax of all others as text, and HTML reads only
 * their content.
 */
export interface BlockFeatures {
  readonly table: boolean
  readonly strike: boolean
  readonly taskList: boolean
  /** True if an image is a block, and not part of a line. */
  readonly blockImages: boolean
}

/** The features of most roots. */
export const allFeatures: BlockFeatures = { table: true, strike: true, taskList: true, blockImages: true }

/** A text that was read as blocks. */
export interface ParsedBlocks {
  readonly blocks: readonly NeutralBlock[]
  /** For each block, the position at which it starts: a line of Markdown, or a node at the top of HTML. */
  readonly starts: readonly number[]
  /** The id of each custom node, with the line of its first placeholder from 1; null if it is not known. */
  readonly placeholders: ReadonlyMap<string, number | null>
}

/** Blocks that were written as a text. */
export interface WrittenBlocks {
  readonly text: string
  /** For each block, the position at which it starts. A block without text has the position of the next. */
  readonly starts: readonly number[]
}

export interface BlockFormat {
  readonly name: 'markdown' | 'html'
  /**
   * Tables that the format can represent. `simple`: tables with one header row and one line in each cell.
   * `all`: tables without merged cells.
   */
  readonly tables: 'simple' | 'all'
  /** Whether the format can represent underlined, subscript and superscript text. */
  readonly hasAllMarks: boolean
  /** @throws ApiError INVALID_ARGUMENT if the text exceeds a limit */
  parse(text: string, features: BlockFeatures): ParsedBlocks
  /** @throws ApiError RESOURCE_EXHAUSTED as for `Output` */
  write(blocks: readonly NeutralBlock[], output: Output): WrittenBlocks
}

/** A text that was parsed with all features. */
export interface TextOfBlocks {
  readonly format: BlockFormat
  readonly text: string
  readonly usual: ParsedBlocks
}

/** The form of blocks that a root supports. */
export interface BlockForm {
  readonly features: BlockFeatures
  /** Returns a block of a text in the form in which the root can represent it. By default, all blocks stay. */
  fitted?(block: NeutralBlock): NeutralBlock
}

/** The content of a root as blocks. Each kind of root has its own type of target. */
export interface StoredRoot<Target> extends BlockForm {
  readonly blocks: readonly NeutralBlock[]
  /** The target that changes nothing. */
  readonly unchanged: Target
  /** Returns whether the root has the node for which a placeholder stands. */
  hasNode(id: string): boolean
  /** Returns the target in which stored blocks become the wanted ones. */
  merged(live: readonly LiveBlock[], wanted: readonly NeutralBlock[], keys: BlockKeys): Target
}

/**
 * Checks that the `data` of a target is a text within the limits of its format.
 * @throws ApiError INVALID_ARGUMENT with the problem, and its line if the format has lines
 */
export function checkFormatted(format: BlockFormat, data: unknown): TextOfBlocks {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "${format.name}", not ${jsonTypeName(data)}`)
  return { format, text: data, usual: format.parse(data, allFeatures) }
}

/** Returns the blocks of a text for a root. */
const blocksFor = ({ format, text, usual }: TextOfBlocks, form: BlockForm): ParsedBlocks =>
  fittedTo(form, Object.values(form.features).every(Boolean) ? usual : format.parse(text, form.features))

const fittedTo = (form: BlockForm, parsed: ParsedBlocks): ParsedBlocks => ({
  ...parsed,
  blocks: parsed.blocks.map((block) => form.fitted?.(block) ?? block),
})

/**
 * Returns the blocks of a text for a root. All blocks must be new in the document.
 * @throws ApiError INVALID_ARGUMENT if the text has a placeholder
 */
export function newBlocksFor(target: TextOfBlocks, form: BlockForm): readonly NeutralBlock[] {
  const { blocks, placeholders } = blocksFor(target, form)
  if (placeholders.size === 0) return blocks
  throw invalidContent(
    'new content must not have a placeholder; remove it, or keep the stored node with /v2/crdt/update',
  )
}

/**
 * Returns the target that makes a root equal to a text. Content that the format cannot represent stays with
 * the text that stays. If the text is that of the root, nothing changes.
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no node of the root
 */
export function targetOfText<Target>(target: TextOfBlocks, root: StoredRoot<Target>): Target {
  const { format, text } = target
  const wanted = blocksFor(target, root)
  requireNodes(wanted, root)
  const keys = new BlockKeys()
  const viewsOf = (blocks: readonly NeutralBlock[], written: WrittenBlocks): LiveBlock[] =>
    liveBlocks(blocks, written.starts, fittedTo(root, format.parse(written.text, root.features)))
  const write = (blocks: readonly NeutralBlock[]): WrittenBlocks => format.write(blocks, new Output())
  const live = unchangedEnds(root.blocks, wanted.blocks, keys, (middle) => viewsOf(middle, write(middle)))
  if (live !== null) return root.merged(live, wanted.blocks, keys)
  const written = write(root.blocks)
  if (written.text === text) return root.unchanged
  return root.merged(viewsOf(root.blocks, written), wanted.blocks, keys)
}

function requireNodes({ placeholders }: ParsedBlocks, root: StoredRoot<unknown>): void {
  for (const [id, line] of placeholders) {
    if (root.hasNode(id)) continue
    const at = line === null ? '' : ` at line ${line}`
    throw invalidContent(
      `data has a placeholder${at} for a node that the document does not have: ` +
        `${JSON.stringify(id.slice(0, 50))}; remove it, or read the document again`,
      line === null ? undefined : { line },
    )
  }
}

/**
 * Returns the stored blocks with their views, without writing the blocks at the start and the end that the
 * wanted blocks equal. Returns null if a block between them is not read as it is stored.
 */
function unchangedEnds(
  blocks: readonly NeutralBlock[],
  wanted: readonly NeutralBlock[],
  keys: BlockKeys,
  viewsOf: (blocks: readonly NeutralBlock[]) => LiveBlock[],
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
  const changed = viewsOf(blocks.slice(start, end))
  const isExact = changed.every(
    ({ block, views: [first, ...others] }) =>
      isInvisible(block) || (first !== undefined && others.length === 0 && keys.of(first) === keys.of(block)),
  )
  if (!isExact) return null
  const asStored = (block: NeutralBlock): LiveBlock => ({ block, views: isInvisible(block) ? [] : [block] })
  return [...blocks.slice(0, start).map(asStored), ...changed, ...blocks.slice(end).map(asStored)]
}

/** Returns each written block with the blocks that its part of the text is read as. The positions decide. */
function liveBlocks(
  blocks: readonly NeutralBlock[],
  starts: readonly number[],
  parsed: ParsedBlocks,
): LiveBlock[] {
  let at = 0
  return blocks.map((block, index) => {
    if (isInvisible(block)) return { block, views: [] }
    const end = starts[index + 1] ?? Number.POSITIVE_INFINITY
    const first = at
    while (at < parsed.blocks.length && (parsed.starts[at] as number) < end) at += 1
    return { block, views: parsed.blocks.slice(first, at) }
  })
}

const warning =
  'the Markdown is not empty, but has no blocks (only, for example, definitions of links), so it stands for no content; ' +
  'to write it as it is, send the format "text"'

/**
 * Adds a warning to the result of a change if one of its texts is Markdown that is not empty, but has no blocks, such as
 * definitions of links. Such a text removes what it replaces, and inserts nothing. HTML states empty blocks.
 */
export function withEmptinessWarning<Result extends RootReplacement>(
  result: Result,
  texts: readonly (TextOfBlocks | null)[],
): Result {
  const isEmpty = texts.some(
    (text) => text?.format.name === 'markdown' && text.usual.blocks.length === 0 && text.text.trim() !== '',
  )
  return isEmpty ? { ...result, warnings: [...(result.warnings ?? []), warning] } : result
}
