import MarkdownIt from 'markdown-it'
import { diffTokens, type Hunk } from '../../src/core/content/diff/diff.ts'
import type { EditRequest } from '../../src/core/content/edit/check-edits.ts'

const parser = new MarkdownIt({ html: true })

/** A part of Markdown that an agent changes as a whole: a block, or an item of a list without the items in it. */
interface Unit {
  readonly source: string
  /** Index of the first block of the unit in the document. */
  readonly firstBlock: number
  /** Markdown of each block; null if the block is not a line of text, such as a code block. */
  readonly blocks: readonly (string | null)[]
  /** Columns before the marker of a list item; null if the unit is not an item. */
  readonly indent: number | null
}

const withoutText = new Set(['fence', 'code_block', 'html_block', 'hr'])

function unitsOf(markdown: string): readonly Unit[] {
  const lines = markdown.split('\n')
  const starts: number[] = []
  const blocks: (string | null)[][] = []
  for (const { type, level, map, content } of parser.parse(markdown, {})) {
    const isUnit = type === 'list_item_open' || (level === 0 && !type.endsWith('list_open'))
    if (isUnit && map !== null) {
      starts.push(map[0])
      blocks.push([])
    }
    if (withoutText.has(type)) blocks.at(-1)?.push(null)
    else if (type === 'inline') blocks.at(-1)?.push(content)
  }
  let firstBlock = 0
  return starts.map((start, index) => {
    const source = lines
      .slice(start, starts[index + 1])
      .join('\n')
      .trimEnd()
    const own = blocks[index] ?? []
    firstBlock += own.length
    const indent = /^(\s*)(?:[-*+]|\d+[.)])\s/.exec(source)?.[1]?.length ?? null
    return { source, firstBlock: firstBlock - own.length, blocks: own, indent }
  })
}

/**
 * Returns the edits that an agent could send to change Markdown: it quotes changed words, replaces blocks that
 * change more, and inserts and removes blocks. The edits go from the end to the start, so that an edit does not
 * change the indexes of earlier blocks.
 */
export function agentEdits(before: string, after: string): readonly EditRequest[] {
  const [a, b] = [unitsOf(before), unitsOf(after)]
  const numbers = new Map<string, number>()
  const tokens = (units: readonly Unit[]): Int32Array =>
    Int32Array.from(units, ({ source }) => {
      const number = numbers.get(source) ?? numbers.size
      numbers.set(source, number)
      return number
    })
  const hunks = diffTokens(tokens(a), tokens(b), { steps: 1_000_000 })
  return hunks.reverse().flatMap((hunk) => editsOfHunk(hunk, a, b, before))
}

function editsOfHunk(
  { aStart, aEnd, bStart, bEnd }: Hunk,
  a: readonly Unit[],
  b: readonly Unit[],
  before: string,
): readonly EditRequest[] {
  let paired = 0
  while (aStart + paired < aEnd && bStart + paired < bEnd) {
    const [from, to] = [a[aStart + paired], b[bStart + paired]]
    if (from?.indent !== to?.indent || from?.blocks.length !== to?.blocks.length) break
    paired += 1
  }
  const edits: EditRequest[] = []
  const added = b.slice(bStart + paired, bEnd)
  if (added.length > 0) edits.push(insertion(added, a.slice(0, aStart + paired), a[aEnd]))
  for (const { firstBlock, blocks } of a.slice(aStart + paired, aEnd).reverse())
    for (let block = firstBlock + blocks.length - 1; block >= firstBlock; block -= 1)
      edits.push({ remove: { target: { block } } })
  for (let index = paired - 1; index >= 0; index -= 1)
    edits.push(...changesOf(a[aStart + index] as Unit, b[bStart + index] as Unit, before))
  return edits
}

/** Inserts new units before an item or a block, or after the item or the block before them. */
function insertion(added: readonly Unit[], previous: readonly Unit[], next: Unit | undefined): EditRequest {
  const first = added[0] as Unit
  const content = added
    .map(({ source, indent }, index) => {
      const isItem = indent !== null && added[index - 1]?.indent != null
      return index === 0 ? source : `${isItem ? '\n' : '\n\n'}${source}`
    })
    .join('')
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line.slice(first.indent ?? 0) : line))
    .join('\n')
  const text = { content, format: 'markdown' }
  const { indent } = first
  const left =
    indent === null
      ? previous.at(-1)
      : previous.findLast((unit) => unit.indent === null || unit.indent <= indent)
  if (left !== undefined && (left.indent === null || indent !== null))
    return { insert: { after: { block: left.firstBlock + left.blocks.length - 1 }, ...text } }
  return {
    insert: next === undefined ? { at: 'end', ...text } : { before: { block: next.firstBlock }, ...text },
  }
}

/** Changes the blocks of a unit that differ. */
function changesOf(from: Unit, to: Unit, before: string): readonly EditRequest[] {
  const edits: EditRequest[] = []
  for (let index = from.blocks.length - 1; index >= 0; index -= 1) {
    const [old, text] = [from.blocks[index] as string | null, to.blocks[index] as string | null]
    const isOne = from.blocks.length === 1 && from.indent === null
    if (old === text && !isOne) continue
    const quoted = old === null || text === null ? null : quotedChange(old, text, before)
    if (quoted !== null) edits.push({ replace: quoted })
    else {
      const content = isOne ? to.source : (text ?? '')
      edits.push({ replace: { find: { block: from.firstBlock + index }, with: content, format: 'markdown' } })
    }
  }
  return edits
}

/**
 * Returns the replacement of the changed words with words around them, so that the quote is unique. Returns null
 * if Markdown syntax is among them.
 */
function quotedChange(from: string, to: string, before: string): { find: string; with: string } | null {
  const [a, b] = [from.split(/(?<= )/), to.split(/(?<= )/)]
  let [start, end] = [0, 0]
  const shorter = Math.min(a.length, b.length)
  while (start < shorter && a[start] === b[start]) start += 1
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1
  for (let around = 1; around < 8; around += 1) {
    const [first, last] = [Math.max(0, start - around), Math.max(0, end - around)]
    const find = a
      .slice(first, a.length - last)
      .join('')
      .trim()
    const replacement = b
      .slice(first, b.length - last)
      .join('')
      .trim()
    if (/[`*_[\]<>|#\\~\n]|https?:|^\W*$/.test(find + replacement)) return null
    if (before.split(find).length === 2) return { find, with: replacement }
  }
  return null
}
