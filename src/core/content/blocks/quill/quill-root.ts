import * as Y from 'yjs'
import { memoized } from '../../../base/maps.ts'
import { planFormattedText } from '../../delta/delta.ts'
import {
  FormatTable,
  type FormattedTarget,
  type FormattedTextState,
  readFormatted,
  tooManyAttributes,
} from '../../delta/formatted-text.ts'
import { type Json, setMember } from '../../json/json.ts'
import { Output } from '../../output.ts'
import type { MarkSet } from '../../xml/mark-sets.ts'
import type { MarkForm } from '../../xml/stored-marks.ts'
import { NodeInterner, type XmlNode } from '../../xml/tree.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import { applyToRoot, type RootReplacement } from '../../yjs/root-replacement.ts'
import type { NeutralBlock } from '../block.ts'
import { type BlockFormat, type StoredRoot, type TextOfBlocks, targetOfText } from '../block-format.ts'
import { BlockKeys, isInvisible } from '../block-keys.ts'
import { BlockReader, type NodeIds } from '../block-reader.ts'
import { BlockWriter } from '../block-writer.ts'
import type { MarkIndex } from '../dialect.ts'
import { BlockMerger, type LiveBlock } from '../merge-blocks.ts'
import { quillDialect, quillFeatures } from './quill-dialect.ts'
import { isOpen, QuillLineWriter, type QuillPiece, targetFrom, withoutLastBreak } from './quill-target.ts'
import { type QuillTree, QuillTreeReader } from './quill-tree.ts'

/** Name of the attribute of a mark whose value is not `true`. */
const valueName = 'value'

/**
 * The formatting attributes of a text as marks: a set of marks is the number of an attribute set. The mark of
 * a link has its address, and every other mark its value as JSON, unless the value is `true`.
 */
class FormatMarks implements MarkIndex {
  readonly #formats: FormatTable
  readonly #forms = new Map<MarkSet, readonly MarkForm[]>()

  constructor(formats: FormatTable) {
    this.#formats = formats
  }

  formsOf(set: MarkSet): readonly MarkForm[] {
    return memoized(this.#forms, set, () =>
      Object.entries(this.#formats.get(set).attributes).map(([name, value]) => formOf(name, value)),
    )
  }

  /** Returns the set with one more mark. The mark replaces another one of the same name. */
  with(set: MarkSet, form: MarkForm): MarkSet {
    const attributes: Record<string, Json> = {}
    const { attributes: others } = this.#formats.get(set)
    for (const [name, value] of Object.entries(others)) setMember(attributes, name, value)
    setMember(attributes, form.name, storedValue(form))
    return this.#formats.of(attributes)
  }
}

function formOf(name: string, value: Json): MarkForm {
  if (value === true) return { name, attributes: [] }
  if (name === 'link' && typeof value === 'string') return { name, attributes: [['href', value]] }
  return { name, attributes: [[valueName, JSON.stringify(value)]] }
}

function storedValue({ name, attributes }: MarkForm): Json {
  const values = new Map(attributes)
  const href = name === 'link' ? values.get('href') : undefined
  if (href !== undefined) return href
  const value = values.get(valueName)
  return value === undefined ? true : (JSON.parse(value) as Json)
}

/**
 * Makes a text of Quill equal to a text in a format. Formatting and embeds that the format cannot represent
 * stay. If the text is that of the root, nothing changes.
 * @throws ApiError INVALID_ARGUMENT if a placeholder stands for no embed of the root, or if the root has more
 * than 200,000 attributes
 */
export const replaceQuillBlocks = (doc: Y.Doc, contentKey: string, target: TextOfBlocks): RootReplacement => {
  const root = doc.share.get(contentKey)
  const plan = planFormattedText(root, (formats, stored) =>
    targetOfText(target, new QuillRoot(root, target.format.tables, formats, stored)),
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
  return format.write(new QuillRoot(root, format.tables, formats, stored).blocks, output).text
}

export class QuillRoot implements StoredRoot<FormattedTarget> {
  readonly features = quillFeatures
  readonly unchanged: FormattedTarget
  readonly #formats: FormatTable
  readonly #nodes = new Map<string, XmlNode>()
  readonly #writer: BlockWriter
  readonly #reader: BlockReader
  readonly #tree: QuillTree
  readonly blocks: StoredRoot<FormattedTarget>['blocks']

  constructor(
    root: SharedRoot | undefined,
    tables: BlockFormat['tables'],
    formats: FormatTable,
    { content, complete }: FormattedTextState,
  ) {
    if (!complete) throw tooManyAttributes()
    this.unchanged = content
    this.#formats = formats
    const marks = new FormatMarks(formats)
    this.#writer = new BlockWriter(quillDialect, { marks, numbers: new NodeInterner() }, this.#nodes)
    this.#tree = new QuillTreeReader(content, formats, this.#writer).read()
    const idOf = nodeIds(root, this.#tree.offsets)
    for (const node of this.#tree.offsets.keys()) this.#nodes.set(idOf(node), node)
    this.#reader = new BlockReader(quillDialect, marks, idOf, tables)
    this.blocks = this.#reader.blocks(this.#tree.root.children)
  }

  hasNode = (id: string): boolean => this.#nodes.has(id)

  merged: StoredRoot<FormattedTarget>['merged'] = (live, wanted, keys) => {
    const pieces = this.#pieces(live, wanted, keys)
    return targetFrom(isOpen(this.unchanged) ? withoutLastBreak(pieces) : pieces, this.#formats)
  }

  /** Returns the lines that the stored lines become. The wanted blocks contain no placeholder. */
  linesOf(wanted: readonly NeutralBlock[]): readonly QuillPiece[] {
    const live = this.blocks.map((block) => ({ block, views: isInvisible(block) ? [] : [block] }))
    return this.#pieces(live, wanted, new BlockKeys())
  }

  #pieces(
    live: readonly LiveBlock[],
    wanted: readonly NeutralBlock[],
    keys: BlockKeys,
  ): readonly QuillPiece[] {
    const merged = new BlockMerger(this.#reader, this.#writer, keys).merge(live, wanted)
    return new QuillLineWriter(this.#tree.embeds, this.#formats).write(merged)
  }
}

/** Returns the number of characters that an item has in a formatted text. */
function lengthInText({ content, deleted }: Y.Item): number {
  if (deleted) return 0
  if (content instanceof Y.ContentString) return content.str.length
  return content instanceof Y.ContentEmbed || content instanceof Y.ContentType ? 1 : 0
}

/** Returns the ids of the nodes of a text. A node has the id of its embed, or of its first line break. */
function nodeIds(root: SharedRoot | undefined, offsets: ReadonlyMap<XmlNode, number>): NodeIds {
  const ids = new Map<number, string>()
  const wanted = [...new Set(offsets.values())].sort((a, b) => a - b)
  let [at, next] = [0, 0]
  for (let item = root?._start ?? null; item !== null && next < wanted.length; item = item.right) {
    const length = lengthInText(item)
    for (let offset = wanted[next]; offset !== undefined && offset < at + length; offset = wanted[++next])
      ids.set(offset, `${item.id.client}-${item.id.clock + offset - at}`)
    at += length
  }
  return (node) => ids.get(offsets.get(node) ?? -1) ?? '0-0'
}
