import { diffTokens, type Hunk, keptPositions } from '../diff/diff.ts'
import type { DiffBudget } from '../diff/myers.ts'
import { diffText } from '../diff/text-diff.ts'
import { NodeAligner } from '../xml/align.ts'
import type { MarkSet } from '../xml/mark-sets.ts'
import type { XmlElement, XmlNode } from '../xml/tree.ts'
import { type BlockMarks, type BlockNode, blockChildren, type Inline } from './block.ts'
import { atomKey, BlockKeys, isInvisible, marksKey } from './block-keys.ts'
import type { BlockReader } from './block-reader.ts'
import type { BlockWriter } from './block-writer.ts'
import type { MarkIndex } from './dialect.ts'

/** Maximum number of edits inside one line. If there are more, the line counts as one edit. */
const lineEditsMax = 10_000

/** A stored block, and the blocks that its text in a format is read as. */
export interface LiveBlock {
  readonly block: BlockNode
  readonly views: readonly BlockNode[]
}

/**
 * Merges new blocks, which a text format states, with the stored blocks. A block whose text is unchanged
 * remains as it is stored, including content that the format cannot represent. Other blocks keep the
 * attributes and the formatting that the format cannot represent, on the text that stays.
 */
export class BlockMerger {
  readonly #reader: BlockReader
  readonly #writer: BlockWriter
  readonly #marks: MarkIndex
  readonly #budget: DiffBudget
  readonly #aligner: NodeAligner
  readonly #keys: BlockKeys
  readonly #sets = new Map<string, MarkSet>()

  constructor(
    reader: BlockReader,
    writer: BlockWriter,
    marks: MarkIndex,
    budget: DiffBudget,
    keys = new BlockKeys(),
  ) {
    this.#reader = reader
    this.#writer = writer
    this.#marks = marks
    this.#keys = keys
    this.#budget = budget
    this.#aligner = new NodeAligner(budget)
  }

  /** Returns the nodes that the stored blocks must become. `parent`: the kind of block that contains them. */
  merge(
    live: readonly LiveBlock[],
    wanted: readonly BlockNode[],
    parent: BlockNode['kind'] | null = null,
  ): XmlNode[] {
    const merged: XmlNode[] = []
    const wantedAt = this.#unchanged(live, wanted)
    let [nextLive, nextWanted] = [0, 0]
    const closeGap = (liveEnd: number, wantedEnd: number): void => {
      const gap = live.slice(nextLive, liveEnd)
      const isStart = nextLive === 0 && { parent }
      for (const node of this.#gap(gap, wanted.slice(nextWanted, wantedEnd), isStart)) merged.push(node)
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
    return [
      ...before,
      ...wanted.flatMap((block) => {
        const partner = partners.get(block)
        if (partner === undefined) return [this.#writer.build(block)]
        return [this.#changed(partner, block), ...(following.get(partner) ?? [])]
      }),
    ]
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
    return pairs
  }

  /** Returns the node that a stored block becomes. */
  #changed({ block, views }: LiveBlock, wanted: BlockNode): XmlNode {
    const origin = this.#origin(block)
    if (origin.kind === 'text' || wanted.kind === 'custom' || block.kind !== wanted.kind) {
      return this.#writer.build(wanted)
    }
    // The attributes of an image that stands alone in a paragraph are those of its child.
    if (wanted.kind === 'image' && origin.children.length > 0) return this.#writer.build(wanted)
    const [view] = views.length === 1 ? views : []
    const shown = view?.kind === block.kind ? view : block
    const content = this.#content(origin, block, shown, wanted)
    return this.#writer.named(origin.name, content, this.#attributes(origin, shown, wanted))
  }

  #content(origin: XmlElement, block: BlockNode, view: BlockNode, wanted: BlockNode): XmlNode[] {
    if (wanted.kind === 'codeBlock') return this.#writer.code(wanted.text)
    if ('content' in wanted) return this.#line(origin.children, wanted.content)
    if (!('children' in block)) return [...origin.children]
    const merged = this.merge(this.#childViews(block, view), blockChildren(wanted), wanted.kind)
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

  /** Returns the line that a stored line becomes. */
  #line(live: readonly XmlNode[], wanted: readonly Inline[]): XmlNode[] {
    const a = new StoredLine(live, this.#reader)
    const b = wanted.map((inline) => (inline.kind === 'text' ? inline.text : atomCharacter)).join('')
    const positions = livePositions(a.text, b, diffText(a.text, b, this.#budget, lineEditsMax))
    const builder = this.#writer.newChildren()
    let at = 0
    for (const inline of wanted) {
      if (inline.kind === 'text') {
        for (const { start, end } of a.ranges(positions, at, at + inline.text.length)) {
          builder.text(b.slice(start, end), this.#carried(a.inherited(positions, start), inline.marks))
        }
        at += inline.text.length
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
  #carried(stored: MarkSet, marks: BlockMarks): MarkSet {
    const key = `${stored} ${marksKey(marks)}`
    const known = this.#sets.get(key)
    if (known !== undefined) return known
    const before = this.#reader.marksOf(stored)
    const isSame = marksKey(before) === marksKey(marks)
    const wanted = isSame ? [] : this.#writer.markForms(marks)
    const isAlone = this.#writer.areAlone(marks)
    let set: MarkSet = isSame ? stored : 0
    for (const form of isSame ? [] : this.#marks.formsOf(stored)) {
      const isKept = !isAlone && !wanted.some(({ name }) => this.#writer.excludes(name, form.name))
      if (isKept && !this.#reader.isKnownMark(form.name)) set = this.#marks.with(set, form)
    }
    for (const form of wanted) {
      const isLink = form.attributes.length > 0
      const same =
        !isLink || marksKey({ link: before.link as never }) === marksKey({ link: marks.link as never })
      const own = same ? this.#marks.formsOf(stored).find(({ name }) => name === form.name) : undefined
      set = this.#marks.with(set, own ?? form)
    }
    this.#sets.set(key, set)
    return set
  }
}

/** Stands for an atom in the text of a line. */
const atomCharacter = '\ufffc'

/** Returns for each character of `b` its position in `a`; for new characters −1. */
function livePositions(a: string, b: string, hunks: readonly Hunk[]): Int32Array {
  const positions = new Int32Array(b.length).fill(-1)
  for (const [i, j] of keptPositions(hunks, a.length)) positions[j] = i
  return positions
}

/** A stored line: its characters, with one character for each atom. */
class StoredLine {
  readonly text: string
  /** The marks of each character. */
  readonly #marks: Int32Array
  readonly #atoms = new Map<number, { readonly node: XmlNode; readonly inline: Inline }>()

  constructor(nodes: readonly XmlNode[], reader: BlockReader) {
    this.text = nodes.map((node) => (node.kind === 'text' ? node.text : atomCharacter)).join('')
    this.#marks = new Int32Array(this.text.length)
    let at = 0
    for (const node of nodes) {
      if (node.kind === 'text') {
        for (const run of node.runs) this.#marks.fill(run.marks, at + run.start, at + node.text.length)
        at += node.text.length
      } else {
        const [inline] = reader.line([node])
        if (inline !== undefined) this.#atoms.set(at, { node, inline })
        at += 1
      }
    }
  }

  atomAt(position: number): { readonly node: XmlNode; readonly inline: Inline } | null {
    return this.#atoms.get(position) ?? null
  }

  /** Divides a range of the wanted text where the marks to keep change. */
  *ranges(
    positions: Int32Array,
    start: number,
    end: number,
  ): Generator<{ readonly start: number; readonly end: number }> {
    let from = start
    for (let at = start + 1; at <= end; at++) {
      const isSame =
        at < end && (positions[at] === -1) === (positions[at - 1] === -1) && this.#sameMarks(positions, at)
      if (isSame) continue
      yield { start: from, end: at }
      from = at
    }
  }

  #sameMarks(positions: Int32Array, at: number): boolean {
    const [left, right] = [positions[at - 1] as number, positions[at] as number]
    return right === -1 || this.#marks[left] === this.#marks[right]
  }

  /**
   * Returns the marks to keep for the wanted character at `at`. A new character takes the marks of both its
   * neighbors that stay, if they are the same.
   */
  inherited(positions: Int32Array, at: number): MarkSet {
    const position = positions[at] as number
    if (position !== -1) return this.#marks[position] as MarkSet
    let [left, right] = [at - 1, at + 1]
    while (left >= 0 && positions[left] === -1) left -= 1
    while (right < positions.length && positions[right] === -1) right += 1
    if (left < 0 || right >= positions.length) return 0
    const [before, after] = [this.#marks[positions[left] as number], this.#marks[positions[right] as number]]
    return before === after ? (before as MarkSet) : 0
  }
}
