import { equalityDeep } from 'lib0/function'
import type { Json } from '../../json/json.ts'
import { structsIn } from '../../values/replace-values.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { EditTarget, InsertedContent, MatchedPlace } from '../edit.ts'
import { candidatesMax, editNotSupported, targetAmbiguous, targetNotFound } from '../edit-errors.ts'
import { type AnchoredRoot, locatePositions } from './anchor-positions.ts'
import { findQuote } from './find-quote.ts'
import { type FlowView, type TextBlock, type TextRange, textIn, type ViewNode } from './flow-view.ts'
import { comparedText } from './normalized-text.ts'
import { placeOf, shownText } from './places.ts'
import type { QuoteRanges } from './quote-search.ts'
import { similarPlaces } from './similar-places.ts'
import { isWithin, rowAround } from './xml-names.ts'

/** The part of a view to which a target refers. */
export type ResolvedTarget =
  | { readonly is: 'text'; readonly ranges: QuoteRanges }
  | { readonly is: 'block'; readonly block: number; readonly isHeading: boolean }
  | { readonly is: 'node'; readonly node: ViewNode; readonly block: number }

export const isHeading = (
  target: ResolvedTarget,
): target is Extract<ResolvedTarget, { is: 'block' }> & { readonly isHeading: true } =>
  target.is === 'block' && target.isHeading

export interface TargetRoot extends AnchoredRoot {
  /** Called with each target that is found. */
  readonly resolved: (target: ResolvedTarget) => void
}

/**
 * Returns the part of the view to which a target refers.
 * @param place position of the edit in the request, for messages
 * @param content the content that replaces the target, if any
 * @throws ApiError FAILED_PRECONDITION if there is no such part, or if there are several; WorkLimitError
 */
export function resolveTarget(
  root: TargetRoot,
  target: EditTarget,
  place: string,
  content?: InsertedContent,
): ResolvedTarget {
  const found = findTarget(root, target, place)
  const units = unitsIn(root.view, found)
  const contentUnits = content?.format === 'text' ? content.text.length : 0
  spendOnWriting(root, units)
  root.view.work.spend(units * contentUnits * stepsPerPair)
  root.resolved(found)
  return found
}

/** Steps of comparing a target with its new text, for each pair of UTF-16 units. */
const stepsPerPair = 0.1

/** Maximum changes of Yjs for each UTF-16 unit of a target. Short ranges between changes are written again. */
const changesPerUnit = 0.25

/** Steps of one change of Yjs for each struct of the document: Yjs shifts all structs of a client. */
const stepsPerStruct = 0.1

/** Counts the work of changing text. @param units UTF-16 units of the changed text @throws WorkLimitError */
export function spendOnWriting({ view, doc }: TargetRoot, units: number): void {
  const changes = 2 + units * changesPerUnit
  view.work.spend(units + changes * structsIn(doc) * stepsPerStruct)
}

function unitsIn(view: FlowView, target: ResolvedTarget): number {
  if (target.is === 'text') return target.ranges.reduce((sum, { start, end }) => sum + end - start, 0)
  const isNode = target.is === 'node' && target.node.inline === null
  const [first, end] = isNode
    ? [target.node.firstBlock, target.node.endBlock]
    : [target.block, target.block + 1]
  let units = 0
  for (const block of view.blocks.slice(first, end)) units += 1 + block.end - block.start
  return units
}

function findTarget(root: TargetRoot, target: EditTarget, place: string): ResolvedTarget {
  const { view } = root
  if (target.is === 'quote') return { is: 'text', ranges: findQuote(view, target, place) }
  if (target.is === 'anchor') return { is: 'text', ranges: [anchorRange(root, target, place)] }
  if (target.is === 'heading')
    return { is: 'block', block: findHeading(view, target, place), isHeading: true }
  if (target.is === 'row') return findRow(view, target, place)
  if (target.is === 'attribute') return findNode(view, target, place)
  if (target.is === 'path') {
    throw editNotSupported(`${place}: a path needs a map or an array; use a quote, a heading or a block`)
  }
  if (view.blocks[target.index] === undefined) {
    const count = view.blocks.length
    throw targetNotFound(`${place}: the document has ${count} blocks, but no block ${target.index}`)
  }
  return { is: 'block', block: target.index, isHeading: false }
}

/** Returns the description of a target for the response. */
export function placeOfTarget(view: FlowView, target: ResolvedTarget): MatchedPlace {
  if (target.is === 'text') return placeOf(view, target.ranges[0])
  const block = view.blocks[target.block]
  if (target.is === 'node' && target.node.inline !== null) return placeOf(view, target.node.inline)
  return block === undefined ? {} : placeOf(view, block)
}

/** A target by its text, of which the document may have several. */
type NamedTarget = Extract<EditTarget, { is: 'heading' | 'row' }>

function findHeading(view: FlowView, target: NamedTarget, place: string): number {
  const isHeading = (block: TextBlock): boolean => block.level !== null
  const found = blocksWith(view, target.text, isHeading)
  return chosenOf(view, found, target, place, isHeading)
}

/** Returns the row of a table that has a cell with this text. */
function findRow(view: FlowView, target: NamedTarget, place: string): ResolvedTarget {
  const isInRow = (block: TextBlock): boolean => rowAround(block.type) !== null
  const rows = new Map<SharedRoot, number>()
  for (const index of blocksWith(view, target.text, () => true)) {
    const row = rowAround((view.blocks[index] as TextBlock).type)
    if (row !== null && !rows.has(row)) rows.set(row, index)
  }
  const found = [...rows.values()]
  const chosen = chosenOf(view, found, target, place, isInRow)
  const type = rowAround((view.blocks[chosen] as TextBlock).type) as SharedRoot
  const isOutside = (block: TextBlock | undefined): boolean => !isWithin(block?.type ?? null, type)
  let [firstBlock, endBlock] = [chosen, chosen + 1]
  while (!isOutside(view.blocks[firstBlock - 1])) firstBlock -= 1
  while (!isOutside(view.blocks[endBlock])) endBlock += 1
  return { is: 'node', node: { type, firstBlock, endBlock, inline: null }, block: firstBlock }
}

/** Returns the indexes of the blocks with a text. */
function blocksWith(view: FlowView, text: string, isSearched: (block: TextBlock) => boolean): number[] {
  const wanted = comparedText(text)
  const found: number[] = []
  for (const [index, block] of view.blocks.entries()) {
    if (!isSearched(block)) continue
    view.work.spend((block.end - block.start) * stepsPerNormalizedUnit)
    if (comparedText(textIn(view, block)) === wanted) found.push(index)
  }
  return found
}

/**
 * Returns the only block of several, or the one that a target chooses.
 * @param isCandidate returns whether a block may be meant, if none was found
 * @throws ApiError FAILED_PRECONDITION
 */
function chosenOf(
  view: FlowView,
  found: readonly number[],
  { is, text, occurrence }: NamedTarget,
  place: string,
  isCandidate: (block: TextBlock) => boolean,
): number {
  const name = is === 'heading' ? 'heading' : 'row with the cell'
  const show = (block: TextBlock): MatchedPlace => placeOf(view, block)
  const chosen = found[(occurrence ?? 1) - 1]
  if (chosen === undefined) {
    const similar = similarPlaces(view, text, isCandidate)
    const count = found.length === 0 ? '' : ` ${occurrence} times`
    throw targetNotFound(
      `${place}: the document does not contain the ${name} ${shownText(text)}${count}`,
      similar.length > 0 ? similar : view.blocks.filter(isCandidate).slice(0, candidatesMax).map(show),
    )
  }
  if (occurrence === null && found.length > 1) {
    throw targetAmbiguous(
      `${place}: the document contains the ${name} ${shownText(text)} ${found.length} times; send occurrence`,
      found.slice(0, candidatesMax).map((index) => show(view.blocks[index] as TextBlock)),
    )
  }
  return chosen
}

/** Steps of normalizing the text of a block, for each UTF-16 unit. */
const stepsPerNormalizedUnit = 8

function findNode(
  view: FlowView,
  { name, value }: Extract<EditTarget, { is: 'attribute' }>,
  place: string,
): ResolvedTarget {
  const found: ResolvedTarget[] = []
  const others: MatchedPlace[] = []
  for (const candidate of view.nodesWith(name)) {
    const { node, block } = candidate
    const target: ResolvedTarget =
      node === null ? { is: 'block', block, isHeading: false } : { is: 'node', node, block }
    if (isSame(candidate.value, value)) found.push(target)
    else if (others.length < candidatesMax) others.push(placeOfTarget(view, target))
  }
  const shown = `${shownText(name)} with the value ${shownText(JSON.stringify(value))}`
  const [target, ...more] = found
  if (target === undefined) {
    throw targetNotFound(`${place}: no node of the document has the attribute ${shown}`, others)
  }
  if (more.length > 0) {
    throw targetAmbiguous(
      `${place}: ${found.length} nodes of the document have the attribute ${shown}; use another target`,
      found.slice(0, candidatesMax).map((each) => placeOfTarget(view, each)),
    )
  }
  return target
}

/** Returns whether two values are equal, or the same text: XML shows numbers and booleans as text. */
const isSame = (stored: Json, value: Json): boolean =>
  equalityDeep(stored, value) ||
  (!isContainer(stored) && !isContainer(value) && String(stored) === String(value))

const isContainer = (value: Json): boolean => typeof value === 'object'

function anchorRange(
  root: TargetRoot,
  { start, end }: Extract<EditTarget, { is: 'anchor' }>,
  place: string,
): TextRange {
  const [from = null, to = null] = locatePositions(root, [start, end])
  if (from === null || to === null || from.flow !== to.flow) {
    throw targetNotFound(`${place}: the text of the anchor is not in the document, or not in one block`)
  }
  const isCaret = Buffer.compare(start, end) === 0
  if (from.offset > to.offset || (from.offset === to.offset && !isCaret)) {
    const near = { flow: from.flow, start: to.offset, end: to.offset }
    throw targetNotFound(`${place}: the text of the anchor was deleted`, [placeOf(root.view, near)])
  }
  return { flow: from.flow, start: from.offset, end: to.offset }
}
