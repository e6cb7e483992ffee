import * as Y from 'yjs'
import { planFormattedText } from '../../delta/delta.ts'
import {
  FormatTable,
  type FormattedTarget,
  type FormattedText,
  FormattedTextBuilder,
  type FormattedTextState,
  readFormatted,
  tooManyAttributes,
} from '../../delta/formatted-text.ts'
import { Output } from '../../output.ts'
import { applyToRoot, type ReplacementResult } from '../../replacement-result.ts'
import { stepsMax } from '../../text/plan.ts'
import { NodeInterner } from '../../xml/node-interner.ts'
import type { XmlNode } from '../../xml/tree.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import {
  type BlockFeatures,
  type BlockFormat,
  type StoredRoot,
  type TextOfBlocks,
  targetOfText,
} from '../block-format.ts'
import { BlockReader, type NodeIds } from '../block-reader.ts'
import { BlockWriter } from '../block-writer.ts'
import { FormatMarks } from '../format-marks.ts'
import { BlockMerger } from '../merge-blocks.ts'
import { quillDialect } from './quill-dialect.ts'
import { type QuillPiece, quillPieces } from './quill-target.ts'
import { readQuillTree } from './quill-tree.ts'

/** Features of a text of Quill. A table in another format is stored as text. */
const quillFeatures: BlockFeatures = { table: false, strike: true, taskList: true, blockImages: false }

/**
 * Makes a text of Quill equal to a text in a format. Formatting and embeds that the format cannot represent
 * stay. If the text is that of the root, nothing changes.
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no embed of the root, or if the root has more
 * than 200,000 attributes
 */
export const replaceQuillBlocks = (
  doc: Y.Doc,
  contentKey: string,
  target: TextOfBlocks,
): ReplacementResult => {
  const root = doc.share.get(contentKey)
  const plan = planFormattedText(root, (formats, stored) =>
    targetOfText(target, new QuillRoot(root, target.format, formats, stored)),
  )
  return applyToRoot(doc, contentKey, plan)
}

/**
 * Returns the content of a text of Quill in a format. Content that the format cannot represent appears as
 * placeholders.
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`; INVALID_ARGUMENT if the root has more than 200,000
 * attributes
 */
export function readQuillBlocks(
  doc: Y.Doc,
  contentKey: string,
  format: BlockFormat,
  output = new Output(),
): string {
  const root = doc.share.get(contentKey)
  const formats = new FormatTable()
  const stored = readFormatted(root, formats, output)
  return format.write(new QuillRoot(root, format, formats, stored).blocks, output).text
}

/** A text of Quill as blocks. */
class QuillRoot implements StoredRoot<FormattedTarget> {
  readonly features = quillFeatures
  readonly unchanged: FormattedTarget
  readonly #formats: FormatTable
  readonly #marks: FormatMarks
  readonly #nodes = new Map<string, XmlNode>()
  readonly #writer: BlockWriter
  readonly #reader: BlockReader
  readonly #tree: ReturnType<typeof readQuillTree>
  readonly blocks: StoredRoot<FormattedTarget>['blocks']

  constructor(
    root: SharedRoot | undefined,
    { tables }: BlockFormat,
    formats: FormatTable,
    { content, complete }: FormattedTextState,
  ) {
    if (!complete) throw tooManyAttributes()
    this.unchanged = content
    this.#formats = formats
    this.#marks = new FormatMarks(formats)
    this.#writer = new BlockWriter(quillDialect, this.#marks, new NodeInterner(), this.#nodes)
    this.#tree = readQuillTree(content, formats, this.#writer)
    const ids = new QuillIds(root, this.#tree.offsets)
    for (const node of this.#tree.offsets.keys()) this.#nodes.set(ids.idOf(node), node)
    this.#reader = new BlockReader(quillDialect, this.#marks, ids, tables)
    this.blocks = this.#reader.blocks(this.#tree.root.children)
  }

  hasNode = (id: string): boolean => this.#nodes.has(id)

  merged: StoredRoot<FormattedTarget>['merged'] = (live, wanted, keys) => {
    const merger = new BlockMerger(this.#reader, this.#writer, this.#marks, { steps: stepsMax }, keys)
    const pieces = quillPieces(merger.merge(live, wanted), this.#tree.embeds, this.#formats)
    return targetFrom(pieces, this.#formats, endsOpen(this.unchanged))
  }
}

/** Returns whether the last line of a text has no line break. Quill shows one at the end of every text. */
const endsOpen = ({ text }: FormattedText): boolean => !text.endsWith('\n')

/**
 * Returns the text that consists of these pieces.
 * @param isOpen whether the last line has no line break, if this line has no attributes
 */
function targetFrom(pieces: readonly QuillPiece[], formats: FormatTable, isOpen: boolean): FormattedTarget {
  const content = new FormattedTextBuilder(formats)
  /** Offsets at which code starts and ends, in turn. */
  const code: number[] = []
  const last = pieces.at(-1)
  const dropsLast = isOpen && last?.insert === '\n' && last.format === 0
  for (const { insert, format, isCode } of dropsLast ? pieces.slice(0, -1) : pieces) {
    if (isCode !== (code.length % 2 === 1)) code.push(content.length)
    content.add(insert, format)
  }
  const { text, runs, embeds } = content
  const kept = new Map<string, number>()
  let next = 0
  const keptFormat = (from: number, to: number, targetAt: number): number => {
    while ((code[next] ?? Number.POSITIVE_INFINITY) <= targetAt) next += 1
    if (from === to || next % 2 === 1) return to
    const key = `${from} ${to}`
    const format = kept.get(key) ?? withUnstated(formats, from, to)
    kept.set(key, format)
    return format
  }
  return { text, runs, embeds, keptFormat }
}

/** Attributes that Markdown states, on texts, embeds and line breaks. */
const statedNames: ReadonlySet<string> = new Set(
  'bold italic strike code link alt blockquote code-block header indent list table'.split(' '),
)

/** Adds the attributes of stored text that Markdown cannot represent. */
function withUnstated(formats: FormatTable, from: number, to: number): number {
  const [stored, wanted] = [formats.get(from).attributes, formats.get(to).attributes]
  const unstated = Object.entries(stored).filter(([name]) => !statedNames.has(name))
  return formats.of(Object.fromEntries([...unstated, ...Object.entries(wanted)]))
}

/** Returns the number of characters that an item has in a formatted text. */
function lengthInText({ content, deleted }: Y.Item): number {
  if (deleted) return 0
  if (content instanceof Y.ContentString) return content.str.length
  return content instanceof Y.ContentEmbed || content instanceof Y.ContentType ? 1 : 0
}

/** The ids of the nodes of a text. A node has the id of its embed, or of its first line break. */
class QuillIds implements NodeIds {
  readonly #offsets: ReadonlyMap<XmlNode, number>
  readonly #ids = new Map<number, string>()

  constructor(root: SharedRoot | undefined, offsets: ReadonlyMap<XmlNode, number>) {
    this.#offsets = offsets
    const wanted = [...new Set(offsets.values())].sort((a, b) => a - b)
    let [at, next] = [0, 0]
    for (let item = root?._start ?? null; item !== null && next < wanted.length; item = item.right) {
      const length = lengthInText(item)
      for (let offset = wanted[next]; offset !== undefined && offset < at + length; offset = wanted[++next])
        this.#ids.set(offset, `${item.id.client}-${item.id.clock + offset - at}`)
      at += length
    }
  }

  idOf(node: XmlNode): string {
    return this.#ids.get(this.#offsets.get(node) ?? -1) ?? '0-0'
  }
}
