import type { EditRequest, TargetRequest } from '../../../../../src/core/content/edit/check-edits.ts'

/**
 * A plain implementation of the edits of text and rich text, on values. It is independent of the server and of
 * Yjs, and has no regard to speed.
 */

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type Attributes = Readonly<Record<string, Json>>

/** One character, inline element or embed. */
export interface Unit {
  readonly character: string
  /** Formatting; null if the model does not determine it. */
  readonly marks: Attributes | null
  /** Identity; null in new content. */
  readonly id: string | null
  /** True for an embed of a text root. It is not a part of the text. */
  readonly isEmbed?: boolean
  /** True for an inline element. It has no formatting. */
  readonly isAtom?: boolean
}

/** A block with text, a container of blocks, or an element without content. */
export interface Block {
  readonly id: string | null
  readonly name: string
  attributes: Attributes
  /** The text of the block; null if it has none. */
  units: Unit[] | null
  blocks: Block[]
}

/** Rules of a kind of root. */
export interface Rules {
  readonly kind: 'text' | 'xml' | 'xmltext'
  /** Whether the only block of a root stays, without its text, when it is removed. */
  readonly keepsOnlyBlock: boolean
  levelOf(block: Block): number | null
  /** Returns a new paragraph next to a block; null: at an end of the root. */
  newBlock(root: Block, near: Block | null): Pick<Block, 'name' | 'attributes'>
  /** Returns the formatting after `mark`. */
  marked(marks: Attributes, name: string, value: Json): Attributes
}

export class ModelError extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** Code of an edit whose result the model does not determine. */
export const notModeled = 'not modeled'

const notFound = (): never => {
  throw new ModelError('crdt/target-not-found')
}
const ambiguous = (): never => {
  throw new ModelError('crdt/target-ambiguous')
}
const unsupported = (): never => {
  throw new ModelError('crdt/edit-not-supported')
}

/** A range of the units of a block. */
export interface Range {
  readonly block: Block
  readonly start: number
  readonly end: number
}

type Resolved =
  | { readonly is: 'ranges'; readonly ranges: readonly Range[] }
  | { readonly is: 'block'; readonly block: Block; readonly isHeading: boolean; readonly line: number }

/** Returns the blocks that are not containers, in the order of the document. */
export function leavesOf(block: Block): Block[] {
  if (block.units !== null || block.blocks.length === 0)
    return block.name === 'root' && block.units === null ? [] : [block]
  return block.blocks.flatMap(leavesOf)
}

export const clone = ({ units, blocks, ...block }: Block): Block => ({
  ...block,
  units: units === null ? null : [...units],
  blocks: blocks.map(clone),
})

export function parentOf(root: Block, child: Block): Block | null {
  if (root.blocks.includes(child)) return root
  for (const block of root.blocks) {
    const found = parentOf(block, child)
    if (found !== null) return found
  }
  return null
}

/** The ranges of the lines of a text, without their line breaks. */
export function linesIn(root: Block): Range[] {
  const lines: Range[] = []
  const units = root.units ?? []
  let start = 0
  for (const [index, { character }] of units.entries()) {
    if (character !== '\n') continue
    lines.push({ block: root, start, end: index })
    start = index + 1
  }
  if (units.slice(start).some(({ isEmbed }) => isEmbed !== true))
    lines.push({ block: root, start, end: units.length })
  return lines
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&').replace(/\s+/g, '\\s+')

/** Returns all places of a quote, overlapping ones included. */
export function matchesOf(
  leaves: readonly Block[],
  target: Exclude<TargetRequest, string>,
): (readonly Range[])[] {
  const { quote = '', before = '', after = '', acrossBlocks = false } = target
  const places: { block: Block; index: number }[] = []
  let text = ''
  for (const block of leaves) {
    for (const [index, { character, isEmbed }] of (block.units ?? []).entries()) {
      if (isEmbed === true) continue
      places.push({ block, index })
      text += character
    }
    places.push({ block, index: -1 })
    text += acrossBlocks ? '\n' : '\u0000'
  }
  const pattern = new RegExp(`(${escaped(before)})(${escaped(quote)})${escaped(after)}`, 'y')
  const found: (readonly Range[])[] = []
  for (let at = 0; at < text.length; at++) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) continue
    const start = at + (match[1] as string).length
    const ranges = new Map<Block, Range>()
    for (const { block, index } of places.slice(start, start + (match[2] as string).length))
      if (index >= 0) ranges.set(block, { block, start: ranges.get(block)?.start ?? index, end: index + 1 })
    found.push([...ranges.values()])
  }
  return found
}

function findQuote(leaves: readonly Block[], target: Exclude<TargetRequest, string>): readonly Range[] {
  const matches = matchesOf(leaves, target)
  const { occurrence } = target
  if (occurrence === undefined) {
    if (matches.length > 1) ambiguous()
    return matches[0] ?? notFound()
  }
  let count = 0
  let last: Range | null = null
  for (const match of matches) {
    const [first] = match as readonly [Range]
    const isOverlapping =
      last !== null &&
      (leaves.indexOf(first.block) < leaves.indexOf(last.block) ||
        (first.block === last.block && first.start < last.end))
    if (isOverlapping) continue
    count += 1
    if (count === occurrence) return match
    last = match.at(-1) as Range
  }
  return notFound()
}

/** Returns the place of a target. @throws ModelError if the target is missing or ambiguous */
export function resolve(root: Block, rules: Rules, request: TargetRequest): Resolved {
  const target = typeof request === 'string' ? { quote: request } : request
  const leaves = rules.kind === 'text' ? [root] : leavesOf(root)
  if (target.quote !== undefined) return { is: 'ranges', ranges: findQuote(leaves, target) }
  if (target.block !== undefined) {
    const line = target.block
    if (rules.kind === 'text' && line >= linesIn(root).length) notFound()
    const block = rules.kind === 'text' ? root : (leaves[line] ?? notFound())
    return { is: 'block', block, isHeading: false, line }
  }
  const found = leaves.filter(
    (block) => rules.levelOf(block) !== null && textOf(block).trim() === target.heading?.trim(),
  )
  if (found.length > 1 && target.occurrence === undefined) ambiguous()
  const block = found[(target.occurrence ?? 1) - 1] ?? notFound()
  return { is: 'block', block, isHeading: true, line: leaves.indexOf(block) }
}

export const textOf = ({ units }: Block): string => (units ?? []).map(({ character }) => character).join('')

/** Returns the ranges of text that an edit changes: the target, or the places of new text. */
function rangesOf(root: Block, rules: Rules, target: Resolved): readonly Range[] {
  if (target.is === 'ranges') return target.ranges
  if (rules.kind === 'text') return [linesIn(root)[target.line] as Range]
  const { block } = target
  if (block.units === null) return unsupported()
  return [{ block, start: 0, end: block.units.length }]
}

const sameMarks = (a: Unit, b: Unit): boolean => JSON.stringify(a.marks) === JSON.stringify(b.marks)

/** Returns new units. They have the formatting of the units around them, if these have the same formatting. */
function newUnits(text: string, around: readonly (Unit | undefined)[]): Unit[] {
  if (text !== '' && around.some((unit) => unit?.isEmbed === true)) throw new ModelError(notModeled)
  const [first, ...others] = around
  const isSame =
    first !== undefined && others.every((other) => other !== undefined && sameMarks(first, other))
  const isPlain = around.every((unit) => unit?.isAtom !== true && unit?.character !== '\n')
  const marks = isSame && isPlain && !text.includes('\n') ? first.marks : null
  return text.split('').map((character) => ({ character, marks, id: null }))
}

function replaceRange({ block, start, end }: Range, text: string): void {
  const units = block.units as Unit[]
  const around = [units[start - 1], ...units.slice(start, end), units[end]]
  const kept = units.slice(start, end).filter(({ isEmbed }) => isEmbed === true)
  if (kept.length > 0) throw new ModelError(notModeled)
  units.splice(start, end - start, ...newUnits(text, around))
}

function insertAt(block: Block, at: number, text: string): void {
  const units = block.units as Unit[]
  units.splice(at, 0, ...newUnits(text, [units[at - 1], units[at]]))
}

const paragraphsOf = (text: string): string[] => {
  const lines = text.split('\n')
  if (lines.length > 1 && lines.at(-1) === '') lines.pop()
  return lines
}

function forgetMarks({ units }: Block, start: number, length: number): void {
  for (let index = start; index < start + length; index++)
    (units as Unit[])[index] = { ...((units as Unit[])[index] as Unit), marks: null }
}

function insertBlocks(
  root: Block,
  rules: Rules,
  place: { parent: Block; at: number; near: Block | null },
  text: string,
): void {
  if (text === '') return
  const blocks = paragraphsOf(text).map(
    (line): Block => ({
      ...rules.newBlock(root, place.near),
      id: null,
      units: newUnits(line, [undefined]),
      blocks: [],
    }),
  )
  place.parent.blocks.splice(place.at, 0, ...blocks)
}

/** Returns the index after the last sibling of the section of a heading. */
function sectionEnd({ blocks }: Block, heading: Block, rules: Rules): number {
  const level = rules.levelOf(heading) ?? 0
  const start = blocks.indexOf(heading) + 1
  const end = blocks.slice(start).findIndex((block) => {
    const next = rules.levelOf(block)
    return next !== null && next <= level
  })
  return end === -1 ? blocks.length : start + end
}

function insertText(root: Block, rules: Rules, insert: NonNullable<EditRequest['insert']>): void {
  const text = insert.content as string
  const units = root.units ?? []
  if (insert.at !== undefined) {
    insertAt(root, insert.at === 'start' ? 0 : units.length, text)
    return
  }
  const side = insert.before !== undefined ? 'before' : insert.after !== undefined ? 'after' : 'into'
  const target = resolve(root, rules, insert[side] as TargetRequest)
  if (target.is === 'ranges') {
    insertAt(
      root,
      side === 'before' ? (target.ranges[0] as Range).start : (target.ranges.at(-1) as Range).end,
      text,
    )
    return
  }
  const lines = linesIn(root)
  const line = lines[target.line] as Range
  if (side === 'into') insertAt(root, line.end, text)
  else if (text !== '') {
    const added = paragraphsOf(text).join('\n')
    const at = side === 'before' ? line.start : line.end + 1
    if (at <= units.length) insertAt(root, at, `${added}\n`)
    else insertAt(root, units.length, `\n${added}`)
  }
}

function insertRich(
  root: Block,
  rules: Rules,
  insert: NonNullable<EditRequest['insert']>,
  text: string,
): void {
  if (insert.at !== undefined) {
    insertBlocks(
      root,
      rules,
      { parent: root, at: insert.at === 'start' ? 0 : root.blocks.length, near: null },
      text,
    )
    return
  }
  const side = insert.before !== undefined ? 'before' : insert.after !== undefined ? 'after' : 'into'
  const target = resolve(root, rules, insert[side] as TargetRequest)
  if (target.is === 'ranges' || (side === 'into' && !target.isHeading)) {
    const ranges = rangesOf(root, rules, target)
    const range = (side === 'before' ? ranges[0] : ranges.at(-1)) as Range
    const at = side === 'before' ? range.start : range.end
    insertAt(range.block, at, text)
    // Content of a format has its own formatting.
    if (insert.format !== undefined) forgetMarks(range.block, at, text.length)
    return
  }
  const { block } = target
  const parent = parentOf(root, block) as Block
  const index = parent.blocks.indexOf(block)
  const at = side === 'before' ? index : target.isHeading ? sectionEnd(parent, block, rules) : index + 1
  insertBlocks(root, rules, { parent, at, near: block }, text)
}

function removeBlock(root: Block, block: Block): void {
  const parent = parentOf(root, block) as Block
  if (parent !== root && parent.blocks.length === 1) {
    removeBlock(root, parent)
    return
  }
  parent.blocks.splice(parent.blocks.indexOf(block), 1)
}

/** Returns whether a root contains nothing but a block. */
function isAlone(root: Block, block: Block): boolean {
  const parent = parentOf(root, block) as Block
  return parent.blocks.length === 1 && (parent === root || isAlone(root, parent))
}

const withSet = (attributes: Attributes, set: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries({ ...attributes, ...set }).filter(([name]) => !(name in set) || set[name] !== null),
  )

/**
 * Applies an edit to a root.
 * @param text the text that the content of the edit stands for
 * @throws ModelError if the edit must be rejected
 */
export function applyToBlocks(root: Block, rules: Rules, edit: EditRequest, text: string): void {
  const { replace, insert, remove, mark, attributes, text: at } = edit
  if (replace !== undefined) {
    const target = resolve(root, rules, replace.find)
    const ranges = rangesOf(root, rules, target)
    const lines = text.split('\n')
    const own = lines.length === ranges.length ? lines : [text]
    if (rules.kind === 'text') {
      const [first, last] = [ranges[0] as Range, ranges.at(-1) as Range]
      replaceRange({ ...first, end: last.end }, text)
    } else for (const [index, range] of ranges.entries()) replaceRange(range, own[index] ?? '')
  } else if (insert !== undefined) {
    if (rules.kind === 'text') insertText(root, rules, insert)
    else insertRich(root, rules, insert, text)
  } else if (remove !== undefined) {
    const target = resolve(root, rules, remove.target)
    if (target.is === 'ranges') for (const range of target.ranges) replaceRange(range, '')
    else if (rules.kind === 'text') {
      const { start, end } = linesIn(root)[target.line] as Range
      replaceRange({ block: root, start, end: Math.min(end + 1, (root.units ?? []).length) }, '')
    } else if (rules.keepsOnlyBlock && isAlone(root, target.block))
      for (const range of rangesOf(root, rules, target)) replaceRange(range, '')
    else removeBlock(root, target.block)
  } else if (mark !== undefined) {
    for (const { block, start, end } of rangesOf(root, rules, resolve(root, rules, mark.find))) {
      const units = block.units as Unit[]
      for (let index = start; index < end; index++) {
        const unit = units[index] as Unit
        if (
          unit.isAtom === true ||
          unit.isEmbed === true ||
          (rules.kind === 'text' && unit.character === '\n')
        )
          continue
        const marks = unit.marks && rules.marked(unit.marks, mark.name, mark.value as Json)
        units[index] = { ...unit, marks }
      }
    }
  } else if (attributes !== undefined) {
    const set = attributes.set as Attributes
    const target = resolve(root, rules, attributes.target)
    if (rules.kind === 'text') {
      const { start, end } = rangesOf(root, rules, target)[0] as Range
      if (textOf({ ...root, units: (root.units ?? []).slice(start, end) }).includes('\n')) unsupported()
      const units = root.units as Unit[]
      const found = units.findIndex(({ character }, index) => index >= end && character === '\n')
      const hasValue = Object.values(set).some((value) => value !== null)
      if (found === -1 && !hasValue) return
      if (found === -1) units.push({ character: '\n', marks: withSet({}, set), id: null })
      else
        units[found] = {
          ...(units[found] as Unit),
          marks: units[found]?.marks ? withSet(units[found].marks, set) : null,
        }
    } else {
      const block = target.is === 'block' ? target.block : (target.ranges[0] as Range).block
      block.attributes = withSet(block.attributes, set)
    }
  } else if (at !== undefined) {
    const units = root.units as Unit[]
    const end = at.index + (at.delete ?? 0)
    const splitsPair = (index: number): boolean =>
      /^[\udc00-\udfff]/.test(units[index]?.character ?? '') && units[index - 1]?.isEmbed !== true
    if (end > units.length || splitsPair(at.index) || splitsPair(end)) notFound()
    const around = [units[at.index - 1], ...units.slice(at.index, end), units[end]]
    units.splice(at.index, end - at.index, ...newUnits(at.insert ?? '', around))
  }
}
