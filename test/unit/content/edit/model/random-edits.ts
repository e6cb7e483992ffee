import type { EditRequest, TargetRequest } from '../../../../../src/core/content/edit/check-edits.ts'
import type { Random } from '../../../../support/data/random-doc.ts'
import { type Block, leavesOf, linesIn, matchesOf, type Rules, textOf } from './text-model.ts'

const words = ['one', 'two', 'three', 'four', 'five', 'six', '漢字', 'é', '😀', 'seven', 'A', 'b.'] as const

export const randomText = (random: Random, max = 4): string =>
  Array.from({ length: 1 + random.below(max) }, () => random.pick(words)).join(' ')

/** The runs of text between white space and inline elements, in the units of a block. */
const wordsIn = (block: Block): { start: number; end: number }[] =>
  [...textOf(block).matchAll(/[^\s\ufffc]+/g)].map(({ 0: word, index }) => ({
    start: index,
    end: index + word.length,
  }))

/** Returns a quote in a block, as a range of its units; null if the block has no words. */
function randomRange(random: Random, block: Block): { start: number; end: number } | null {
  const found = wordsIn(block)
  if (found.length === 0) return null
  const first = random.below(found.length)
  const last = Math.min(found.length - 1, first + random.below(3))
  const [start, end] = [found[first]?.start as number, found[last]?.end as number]
  const hasElement = textOf(block).slice(start, end).includes('\ufffc')
  return hasElement ? { start, end: found[first]?.end as number } : { start, end }
}

/** Returns a target. Few targets are missing or ambiguous. */
function randomTarget(random: Random, root: Block, rules: Rules): TargetRequest {
  const leaves = rules.kind === 'text' ? [root] : leavesOf(root)
  const way = random.below(20)
  if (way === 0) return 'absent words'
  const count = rules.kind === 'text' ? linesIn(root).length : leaves.length
  if (way < 4) return { block: random.below(Math.max(1, count + (random.once(20) ? 1 : 0))) }
  const headings = leaves.filter((leaf) => rules.levelOf(leaf) !== null)
  if (way < 7 && headings.length > 0 && rules.kind !== 'text') {
    const heading = textOf(random.pick(headings))
    return { heading, ...(random.once(2) && { occurrence: 1 + random.below(2) }) }
  }
  if (way === 7 && leaves.length > 1) {
    const at = random.below(leaves.length - 1)
    const target = acrossTwo(leaves[at] as Block, leaves[at + 1] as Block)
    if (target !== null) return target
  }
  const block = random.pick(leaves)
  const range = randomRange(random, block)
  return range === null ? { block: leaves.indexOf(block) } : quoteAt(random, leaves, block, range)
}

/** Returns a quote of the last word of a block and the first word of the next one. */
function acrossTwo(first: Block, second: Block): TargetRequest | null {
  const [last, next] = [wordsIn(first).at(-1), wordsIn(second)[0]]
  if (last === undefined || next === undefined) return null
  if (textOf(first).length > last.end || next.start > 0) return null
  const [a, b] = [textOf(first).slice(last.start, last.end), textOf(second).slice(next.start, next.end)]
  return { quote: `${a} ${b}`, acrossBlocks: true }
}

function quoteAt(
  random: Random,
  leaves: readonly Block[],
  block: Block,
  { start, end }: { start: number; end: number },
): TargetRequest {
  const text = textOf(block)
  const quote = text.slice(start, end)
  const matches = matchesOf(leaves, { quote })
  if (matches.length === 1 || random.once(20)) return random.once(2) ? quote : { quote }
  if (random.once(2)) return { quote, occurrence: 1 + random.below(matches.length) }
  const before = text.slice(0, start).split('\ufffc').at(-1) ?? ''
  const after = text.slice(end).split('\ufffc')[0] ?? ''
  return {
    quote,
    // A context must not divide a surrogate pair or white space.
    before: before
      .slice(-12)
      .replace(/^[\udc00-\udfff]/, '')
      .trimStart(),
    after: after
      .slice(0, 12)
      .replace(/[\ud800-\udbff]$/, '')
      .trimEnd(),
  }
}

/** An edit, and the text that its content stands for. */
export interface RandomEdit {
  readonly edit: EditRequest
  readonly text: string
}

/** Returns an edit of a root with text. @param marks names and values of `mark` that the root supports */
export function randomEdit(
  random: Random,
  root: Block,
  rules: Rules,
  marks: readonly (readonly [name: string, value: unknown])[],
): RandomEdit {
  const isText = rules.kind === 'text'
  const target = randomTarget(random, root, rules)
  const isBlock = typeof target !== 'string' && target.quote === undefined
  const way = random.below(isText ? 12 : 10)
  if (way < 3) {
    const isAcross = typeof target !== 'string' && target.acrossBlocks === true
    const text = isAcross ? `${randomText(random)}\n${randomText(random)}` : randomText(random)
    const found = random.once(10) ? '' : text
    return { edit: { replace: { find: target, with: found, format: 'text' } }, text: found }
  }
  if (way < 6) return randomInsertion(random, rules, target, isBlock)
  if (way === 6) return { edit: { remove: { target } }, text: '' }
  if (way < 9) {
    const [name, value] = random.pick(marks)
    return { edit: { mark: { find: target, name, value } }, text: '' }
  }
  if (way === 9) {
    const set = { [random.pick(['align', 'indent'])]: random.pick(['left', 2, null]) }
    return { edit: { attributes: { target, set } }, text: '' }
  }
  const length = (root.units ?? []).length
  const index = random.below(length + 1)
  const deletions = random.below(Math.min(6, length - index + 1) + (random.once(30) ? 9 : 0))
  return {
    edit: { text: { index, delete: deletions, insert: random.once(3) ? '' : randomText(random) } },
    text: '',
  }
}

function randomInsertion(random: Random, rules: Rules, target: TargetRequest, isBlock: boolean): RandomEdit {
  const content = randomText(random)
  const second = randomText(random)
  const isAtEnd = random.once(6)
  const place = isAtEnd
    ? { at: random.pick(['start', 'end']) }
    : { [random.pick(['before', 'after', 'into'])]: target }
  const isBlocks = isAtEnd || isBlock
  const isHeading = typeof target !== 'string' && target.heading !== undefined
  if (rules.kind === 'xml' && isBlocks && !('into' in place && !isHeading) && random.once(2)) {
    const [format, text] = random.pick([
      ['markdown', `${content}\n\n${second}`],
      ['html', `<p>${content}</p><p>${second}</p>`],
      ['xml', `<paragraph>${content}</paragraph><paragraph>${second}</paragraph>`],
    ] as const)
    return { edit: { insert: { ...place, content: text, format } }, text: `${content}\n${second}` }
  }
  if (rules.kind === 'xml' && random.once(4) && !isBlocks)
    return { edit: { insert: { ...place, content, format: 'markdown' } }, text: content }
  const text =
    isBlocks && !('into' in place && !isHeading) && random.once(2) ? `${content}\n${second}` : content
  return { edit: { insert: { ...place, content: text, format: 'text' } }, text }
}
