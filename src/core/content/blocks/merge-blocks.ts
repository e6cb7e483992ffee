import { memoized } from '../../base/maps.ts'
import { diffTokens, keptPositions } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { diffText } from '../diff/text-diff.ts'
import { stepsMax } from '../text/plan.ts'
import { NodeAligner } from '../xml/align.ts'
import type { MarkSet } from '../xml/mark-sets.ts'
import type { XmlElement, XmlNode } from '../xml/tree.ts'
import { type BlockMarks, type BlockNode, blockChildren, type Inline } from './block.ts'
import { atomKey, BlockKeys, isInvisible, marksKey } from './block-keys.ts'
import type { BlockReader } from './block-reader.ts'
import type { BlockWriter } from './block-writer.ts'

/** Maximum number of edits inside one line. If there are more, the line counts as one edit. */
const lineEditsMax = 10_000

/** A stored block, and the blocks that its text in a format is read as. */
export interface LiveBlock {
  readonly block: BlockNode
  readonly views: readonly BlockNode[]
}

/** A range without unchanged blocks: its stored nodes, and its blocks as if all of them were new. */
interface ChangedRange {
  readonly live: readonly XmlNode[]
  readonly built: readonly XmlNode[]
}

/**
 * Merges new blocks, which a text format states, with the stored blocks. A block whose text is unchanged
 * remains as it is stored, including content that the format cannot represent. Other blocks keep the
 * attributes and the formatting that the format cannot represent, on the text that stays. A block that becomes
 * another kind of block is a new element, because Yjs cannot rename elements.
 */
export class BlockMerger {
  readonly #reader: BlockReader
  readonly #writer: BlockWriter
  readonly #budget: DiffBudget = { steps: stepsMax }
  readonly #aligner = new NodeAligner(this.#budget)
  readonly #keys: BlockKeys
  readonly #sets = new Map<string, MarkSet>()
  /** The stored nodes whose attributes a wanted block has. */
  readonly #taken = new Set<XmlNode>()
  readonly #ranges = new Map<ChangedRange, StayingText | null>()

  constructor(reader: BlockReader, writer: BlockWriter, keys = new BlockKeys()) {
    this.#reader = reader
    this.#writer = writer
    this.#keys = keys
  }

  /**
   * Returns the nodes that the stored blocks must become.
   * @param parent the kind of block that contains them
   * @param around the changed range that they are in; null at the top
   */
  merge(
    live: readonly LiveBlock[],
    wanted: readonly BlockNode[],
    parent: BlockNode['kind'] | null = null,
    around: ChangedRange | null = null,
  ): XmlNode[] {
    const merged: XmlNode[] = []
    const wantedAt = this.#unchanged(live, wanted)
    let [nextLive, nextWanted] = [0, 0]
    const closeGap = (liveEnd: number, wantedEnd: number): void => {
      const gap = live.slice(nextLive, liveEnd)
      const isStart = nextLive === 0 && { parent }
      for (const node of this.#gap(gap, wanted.slice(nextWanted, wantedEnd), isStart, around))
        merged.push(node)
    }
    live.forEach(({ block, views }, index) => {
      const at = wantedAt[index] as number
      if (at < 0) return
      closeGap(index, at)
      merged.push(this.#origin(block))
      ;[nextLive, nextWanted] = [index + 1, at + views.length]
    })
    closeGap(live.length, wanted.length)
    return merged
  }

  #origin(block: BlockNode): XmlNode {
    return this.#reader.origins.get(block) as XmlNode
  }

  /** Returns for each stored block the position of its unchanged text in the wanted blocks; −1 without one. */
  #unchanged(live: readonly LiveBlock[], wanted: readonly BlockNode[]): number[] {
    const views = live.flatMap((each) => each.views)
    const keysOf = (blocks: readonly BlockNode[]): Int32Array =>
      Int32Array.from(blocks, (block) => this.#keys.of(block))
    const partners = new Int32Array(views.length).fill(-1)
    const hunks = diffTokens(keysOf(views), keysOf(wanted), this.#budget)
    for (const [a, b] of keptPositions(hunks, views.length)) partners[a] = b
    let at = 0
    return live.map((each) => {
      const first = partners[at] ?? -1
      let isWhole = each.views.length > 0 && first >= 0
      for (let index = 0; index < each.views.length; index++, at++) {
        isWhole &&= partners[at] === first + index
      }
      return isWhole ? first : -1
    })
  }

  /**
   * Returns the nodes for a range without unchanged blocks. A stored block without a text in the format, which
   * is an empty paragraph, stays at the start of the range, and after a block that stays. At the start of a
   * parent, the first wanted paragraph fills it.
   */
  #gap(
    live: readonly LiveBlock[],
    wanted: readonly BlockNode[],
    isStart: false | { readonly parent: BlockNode['kind'] | null },
    around: ChangedRange | null,
  ): XmlNode[] {
    const visible = live.filter(({ views }) => views.length > 0)
    const partners = this.#pairs(visible, wanted)
    const [blank] = live
    const [first] = wanted
    const isFilled =
      isStart !== false && blank?.views.length === 0 && first?.kind === 'paragraph' && !partners.has(first)
    if (isFilled) partners.set(first, blank)
    // The empty paragraph that an editor requires at the start of an item goes when a paragraph takes its place.
    // Anywhere else, any block takes its place.
    const inItem = wanted.length === 0 ? visible.length > 0 : first?.kind === 'paragraph'
    const inOther = wanted.length > 0 && visible.length === 0
    const isItem = isStart !== false && (isStart.parent === 'listItem' || isStart.parent === 'taskItem')
    const isNested = isStart !== false && isStart.parent !== null
    const keepsBlanks = isStart === false || !((isNested && inItem) || (!isItem && inOther))
    const before: XmlNode[] = []
    const following = new Map<LiveBlock, XmlNode[]>()
    let last: LiveBlock | null = null
    for (const each of isFilled ? live.slice(1) : live) {
      if (each.views.length > 0) last = each
      else if (last !== null) following.set(last, [...(following.get(last) ?? []), this.#origin(each.block)])
      else if (keepsBlanks) before.push(this.#origin(each.block))
    }
    const built = wanted.map((block) => this.#writer.build(block))
    const range = around ?? { live: live.map(({ block }) => this.#origin(block)), built }
    // First the blocks that stay, so that no other block takes their attributes.
    const changed = wanted.map((block) => {
      const partner = partners.get(block)
      return partner === undefined || this.#isNew(partner, block)
        ? null
        : this.#changed(partner, block, range)
    })
    return [
      ...before,
      ...wanted.flatMap((block, index) => {
        const node = changed[index] ?? this.#formatted(built[index] as XmlNode, range)
        const partner = partners.get(block)
        return [node, ...((partner && following.get(partner)) ?? [])]
      }),
    ]
  }

  /** Returns the nodes of a range that are new in the document, with the formatting of the text that stays in them. */
  formatted(range: ChangedRange): readonly XmlNode[] {
    return range.built.map((node) => this.#formatted(node, range))
  }

  /** Returns the text of a range that stays; null if the stored text has no formatting to keep. */
  #staying(range: ChangedRange): StayingText | null {
    return memoized(this.#ranges, range, () => {
      const lines = linesIn(range.live)
      if (!lines.some((line) => this.#hasFormatting(line))) return null
      const budget = { steps: this.#budget.steps >> 1 }
      this.#budget.steps -= budget.steps
      const staying = new StayingText(lines, linesIn(range.built), this.#reader, budget)
      this.#budget.steps += budget.steps
      return staying
    })
  }

  /** Returns whether a line may have formatting that a format does not state. */
  #hasFormatting({ attributes, children }: XmlElement): boolean {
    if (attributes.some(([name]) => !this.#writer.namesStated('heading').includes(name))) return true
    return children.some((child) =>
      child.kind === 'element'
        ? child.attributes.length > 0
        : child.runs.some(({ marks }) =>
            this.#writer.marks
              .formsOf(marks)
              .some(({ name, attributes: own }) => own.length > 0 || !this.#reader.isKnownMark(name)),
          ),
    )
  }

  /** Returns a new node with the formatting of the text that stays in it. */
  #formatted(node: XmlNode, range: ChangedRange): XmlNode {
    if (node.kind === 'text' || this.#reader.isStoredOrCode(node)) return node
    const staying = this.#staying(range)
    const line = staying?.lineOf(node) ?? null
    if (staying !== null && line !== null) {
      const { origin, isMost } = line
      const kept = isMost && !this.#taken.has(origin) ? this.#writer.accepted(node.name, origin) : []
      if (isMost) this.#taken.add(origin)
      const children = this.#line(staying.stored, line.positions, this.#reader.line(node.children), node.name)
      return this.#writer.named(node.name, children, new Map([...kept, ...node.attributes]))
    }
    const children = node.children.map((child) => this.#formatted(child, range))
    if (children.every((child, index) => child === node.children[index])) return node
    return this.#writer.named(node.name, children, new Map(node.attributes))
  }

  /** Returns for the wanted blocks the similar stored blocks that they replace, in order. */
  #pairs(live: readonly LiveBlock[], wanted: readonly BlockNode[]): Map<BlockNode, LiveBlock> {
    const pairs = new Map<BlockNode, LiveBlock>()
    if (live.length === 0 || wanted.length === 0) return pairs
    const a = live.map(({ block }) => this.#origin(block))
    const b = wanted.map((block) => this.#writer.build(block))
    const pair = (i: number, j: number): unknown => pairs.set(wanted[j] as BlockNode, live[i] as LiveBlock)
    const differences = this.#aligner.differences(a, b)
    for (const { pairs: found } of differences) for (const [x, y] of found) pair(x, y)
    const hunks = differences.map(({ hunk }) => hunk)
    for (const [x, y] of keptPositions(hunks, a.length)) pair(x, y)
    for (const { block } of pairs.values()) this.#taken.add(this.#origin(block))
    return pairs
  }

  /** Returns whether a wanted block is a new node, instead of a changed stored node. */
  #isNew(partner: LiveBlock | undefined, wanted: BlockNode): boolean {
    if (partner === undefined) return true
    const origin = this.#origin(partner.block)
    if (origin.kind === 'text' || wanted.kind === 'custom' || partner.block.kind !== wanted.kind) return true
    // The attributes of an image that stands alone in a paragraph are those of its child.
    return wanted.kind === 'image' && origin.children.length > 0
  }

  /** Returns the node that a stored block becomes. */
  #changed({ block, views }: LiveBlock, wanted: BlockNode, range: ChangedRange): XmlNode {
    const origin = this.#origin(block) as XmlElement
    const [view] = views.length === 1 ? views : []
    const shown = view?.kind === block.kind ? view : block
    const content = this.#content(origin, block, shown, wanted, range)
    return this.#writer.named(origin.name, content, this.#attributes(origin, shown, wanted))
  }

  #content(
    origin: XmlElement,
    block: BlockNode,
    view: BlockNode,
    wanted: BlockNode,
    range: ChangedRange,
  ): XmlNode[] {
    if (wanted.kind === 'codeBlock') return this.#writer.code(wanted.text)
    if ('content' in wanted) {
      const own = new StoredLine([origin], this.#reader)
      const positions = own.positionsOf(textOf(wanted.content), this.#budget)
      const staying = this.#staying(range)
      const joined = staying?.joined(origin, this.#writer.build(wanted) as XmlElement, positions) ?? null
      return staying === null || joined === null
        ? this.#line(own, positions, wanted.content)
        : this.#line(staying.stored, joined, wanted.content)
    }
    if (!('children' in block)) return [...origin.children]
    const merged = this.merge(this.#childViews(block, view), blockChildren(wanted), wanted.kind, range)
    return this.#writer.completed(wanted.kind, merged)
  }

  /** Returns the stored children with their views. Both have the same order, if they correspond at all. */
  #childViews(block: BlockNode, view: BlockNode): LiveBlock[] {
    const children = blockChildren(block)
    const views = blockChildren(view).filter((child) => !isInvisible(child))
    const visible = children.filter((child) => !isInvisible(child))
    const corresponds =
      views.length === visible.length && visible.every((child, index) => child.kind === views[index]?.kind)
    let at = 0
    return children.map((child) => {
      if (isInvisible(child) && child.kind === 'paragraph') return { block: child, views: [] }
      const own = corresponds ? (views[at++] as BlockNode) : child
      return { block: child, views: [own] }
    })
  }

  /** Keeps the attributes that the format does not state, or states as before. */
  #attributes(origin: XmlElement, view: BlockNode, wanted: BlockNode): ReadonlyMap<string, string> {
    const [before, after] = [this.#writer.stated(view), this.#writer.stated(wanted)]
    const names = this.#writer.namesStated(wanted.kind)
    const changed = new Set(names.filter((name) => before.get(name) !== after.get(name)))
    const kept = origin.attributes.filter(([name]) => !changed.has(name))
    return new Map([...kept, ...[...after].filter(([name]) => changed.has(name))])
  }

  /**
   * Returns the line that a stored line becomes.
   * @param positions as `positionsOf` returns them
   * @param newIn name of the new node that the line is in; null if the node stays
   */
  #line(
    a: StoredLine,
    positions: Int32Array,
    wanted: readonly Inline[],
    newIn: string | null = null,
  ): XmlNode[] {
    const kept = a.marksAt(positions)
    const builder = this.#writer.newChildren()
    let at = 0
    for (const inline of wanted) {
      if (inline.kind === 'text') {
        const [first, end] = [at, at + inline.text.length]
        while (at < end) {
          const start = at
          while (at < end && kept[at] === kept[start]) at += 1
          const marks = this.#carried(kept[start] as MarkSet, inline.marks, newIn)
          builder.text(inline.text.slice(start - first, at - first), marks)
        }
      } else {
        const atom = a.atomAt(positions[at] as number)
        const stays = atom !== null && atomKey(atom.inline) === atomKey(inline)
        builder.node(stays ? atom.node : this.#writer.atom(inline))
        at += 1
      }
    }
    return builder.take()
  }

  /**
   * Returns the marks of a text that stays: the marks in the format, in their stored form if the text already
   * has them, and all marks that the format cannot represent.
   */
  #carried(stored: MarkSet, marks: BlockMarks, newIn: string | null): MarkSet {
    const key = `${stored} ${newIn} ${marksKey(marks)}`
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const before = this.#reader.marksOf(stored)
    const isSame = newIn === null && marksKey(before) === marksKey(marks)
    const wanted = isSame ? [] : this.#writer.markForms(marks)
    const isAlone = this.#writer.areAlone(marks)
    let set: MarkSet = isSame ? stored : 0
    for (const form of isSame ? [] : this.#writer.marks.formsOf(stored)) {
      const isKept =
        !isAlone &&
        !wanted.some(({ name }) => this.#writer.excludes(name, form.name)) &&
        (newIn === null || this.#writer.allows(newIn, form.name))
      if (isKept && !this.#reader.isKnownMark(form.name)) set = this.#writer.marks.with(set, form)
    }
    for (const form of wanted) {
      const isLink = form.attributes.length > 0
      const same =
        !isLink || marksKey({ link: before.link as never }) === marksKey({ link: marks.link as never })
      const own = same ? this.#writer.marks.formsOf(stored).find(({ name }) => name === form.name) : undefined
      set = this.#writer.marks.with(set, own ?? form)
    }
    this.#sets.set(key, set)
    return set
  }
}

/** Stands for an atom in the text of a line. */
const atomCharacter = '\ufffc'

const textOf = (line: readonly (Inline | XmlNode)[]): string =>
  line.map((part) => (part.kind === 'text' ? part.text : atomCharacter)).join('')

/** Returns the elements with text, in their order. */
function linesIn(nodes: readonly XmlNode[], lines: XmlElement[] = []): XmlElement[] {
  for (const node of nodes) {
    if (node.kind === 'text') continue
    if (node.children.some(({ kind }) => kind === 'text')) lines.push(node)
    else linesIn(node.children, lines)
  }
  return lines
}

/** The text of a new line that stays. */
interface StayingLine {
  /** The stored position of each character; −1 for new ones. */
  readonly positions: Int32Array
  /** The stored line with the character in the middle of those that stay. */
  readonly origin: XmlElement
  /** Whether more than half of the new line is from `origin`. */
  readonly isMost: boolean
}

/** The text of stored lines that stays in new lines, also if these are other blocks. */
class StayingText {
  readonly stored: StoredLine
  readonly #positions: Int32Array
  /** The first character of each new line. */
  readonly #starts = new Map<XmlNode, number>()

  constructor(
    lines: readonly XmlElement[],
    newLines: readonly XmlElement[],
    reader: BlockReader,
    budget: DiffBudget,
  ) {
    this.stored = new StoredLine(lines, reader)
    const texts = newLines.map(({ children }) => textOf(children))
    let start = 0
    newLines.forEach((line, index) => {
      this.#starts.set(line, start)
      start += (texts[index] as string).length + 1
    })
    this.#positions = this.stored.positionsOf(texts.join('\n'), budget)
  }

  /**
   * Returns the text of a new line that stays. Null for another node, or if the text is another one: less than half of
   * the new line and of the stored line stays, so that the common words are a coincidence.
   */
  lineOf(node: XmlElement): StayingLine | null {
    const start = this.#starts.get(node)
    if (start === undefined) return null
    const positions = this.#positions.subarray(start, start + textOf(node.children).length)
    const kept = positions.filter((position) => position >= 0)
    if (kept.length === 0) return null
    // A line that has most of the characters also has the one in the middle.
    const origin = this.stored.lineAt(kept[kept.length >> 1] as number)
    const own = kept.filter((position) => this.stored.lineAt(position) === origin).length
    const half = Math.min(positions.length, textOf(origin.children).length) / 2
    if (kept.length < half) return null
    return { positions, origin, isMost: own > positions.length / 2 }
  }

  /**
   * Returns the positions of a line that stays, and of the text of other lines in it; null if it has no text. If most
   * of the text is that of another line, its words come first.
   * @param node the line as if it were new
   * @param own its positions in the stored line
   */
  joined(line: XmlElement, node: XmlElement, own: Int32Array): Int32Array | null {
    const start = this.stored.starts.get(line)
    const found = start === undefined ? null : this.lineOf(node)
    if (start === undefined || found === null) return null
    const isOwn = found.origin === line
    return own.map((position, at) => {
      const other = found.positions[at] as number
      return position >= 0 && (isOwn || other < 0) ? start + position : other
    })
  }
}

/** Stored lines: their characters, with one character for each atom, and for the end of a line before another. */
class StoredLine {
  readonly text: string
  /** The marks of each character. */
  readonly #marks: Int32Array
  readonly #atoms = new Map<number, { readonly node: XmlNode; readonly inline: Inline }>()
  /** The first character of each line. */
  readonly starts = new Map<XmlElement, number>()
  readonly #lines: readonly XmlElement[]
  /** The index of the line of each character. */
  readonly #lineAt: Int32Array

  constructor(lines: readonly XmlElement[], reader: BlockReader) {
    this.text = lines.map(({ children }) => textOf(children)).join('\n')
    this.#marks = new Int32Array(this.text.length)
    this.#lines = lines
    this.#lineAt = new Int32Array(this.text.length)
    let at = 0
    lines.forEach((line, index) => {
      this.starts.set(line, at)
      for (const node of line.children) {
        if (node.kind === 'text') {
          node.runs.forEach(({ start, marks }, run) => {
            this.#marks.fill(marks, at + start, at + (node.runs[run + 1]?.start ?? node.text.length))
          })
          at += node.text.length
        } else {
          const [inline] = reader.line([node])
          if (inline !== undefined) this.#atoms.set(at, { node, inline })
          at += 1
        }
      }
      this.#lineAt.fill(index, this.starts.get(line), at)
      at += 1
    })
  }

  /** Returns for each character of a text its position in this one; for new characters −1. */
  positionsOf(text: string, budget: DiffBudget): Int32Array {
    const positions = new Int32Array(text.length).fill(-1)
    const hunks = diffText(this.text, text, budget, lineEditsMax)
    for (const [i, j] of keptPositions(hunks, this.text.length)) positions[j] = i
    return positions
  }

  lineAt = (position: number): XmlElement => this.#lines[this.#lineAt[position] as number] as XmlElement

  atomAt(position: number): { readonly node: XmlNode; readonly inline: Inline } | null {
    return this.#atoms.get(position) ?? null
  }

  /**
   * Returns the marks to keep for each wanted character. New characters take the marks of both their neighbors that
   * stay, if they are the same.
   */
  marksAt(positions: Int32Array): Int32Array {
    const marks = positions.map((position) => (position < 0 ? 0 : (this.#marks[position] as MarkSet)))
    let last = -1
    positions.forEach((position, at) => {
      if (position < 0) return
      if (last >= 0 && marks[last] === marks[at]) marks.fill(marks[at] as MarkSet, last, at)
      last = at
    })
    return marks
  }
}
