import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { NewValue } from './new-values.ts'

/**
 * New elements of a sequence. They are inserted after the element that had the index `after` before any edit;
 * −1 stands for the start.
 */
export interface Insertion {
  readonly after: number
  readonly values: readonly NewValue[]
}

/** The changes of one sequence. */
export interface ArrayEdit {
  readonly in: 'array'
  readonly type: SharedRoot
  /** Contains 1 for each element that is removed, otherwise 0. */
  readonly removed: Uint8Array
  /** Insertions in the order of their positions. */
  readonly insertions: readonly Insertion[]
}

/** Remaining budget for splits in one replacement. */
export interface SplitBudget {
  /**
   * Budget of shifted structs. Each split costs the number of structs of the item's author, because Yjs
   * shifts all these structs. This takes about 0.85 ns for each struct (measured with 13.6.33).
   */
  shiftedStructs: number
  /**
   * Budget of elements that a receiver of the change copies, because each split copies the item. This takes
   * about 6 to 13 ns for each element, and is a step of the limit for updates (`core/update/integration.ts`).
   */
  copiedElements: number
}

/**
 * Returns a budget that takes about 50 ms for shifts, and 30 ms for copies. Together, they are below the number of
 * steps that an event loop spends on one update, so that each node accepts the change.
 */
export const splitBudget = (): SplitBudget => ({ shiftedStructs: 60_000_000, copiedElements: 3_000_000 })

/**
 * Splits the items of a sequence wherever an edit starts or ends, so that each item then stays or is deleted
 * as a whole. If the splits exceed the budget, ranges with many edits are deleted as a whole, and their kept
 * elements are inserted again. This is possible because an item with several elements contains only plain
 * values.
 */
export function splitItems(transaction: Y.Transaction, edit: ArrayEdit, budget: SplitBudget): ArrayEdit {
  const cuts: { item: Y.Item; offsets: readonly number[] }[] = []
  const rewritten: Stretch[] = []
  const edges = edgesOf(edit)
  let index = 0
  for (let item = edit.type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    const offsets: number[] = []
    for (let offset = 1; offset < item.length; offset++)
      if (edges[index + offset] !== edge.none) offsets.push(offset)
    if (offsets.length > 0) {
      const plan = planCuts(transaction, { edit, edges }, { item, index, offsets }, budget)
      cuts.push({ item, offsets: plan.offsets })
      const values = plan.rewritten.length === 0 ? [] : item.content.getContent()
      for (const { start, end } of plan.rewritten)
        rewritten.push({ start: index + start, values: values.slice(start, end) })
    }
    index += item.length
  }
  for (const { item, offsets } of cuts) cut(transaction, item.id, offsets, 0, offsets.length)
  return rewritten.length === 0 ? edit : withRewritten(edit, rewritten)
}

/** Why an element must start an item. */
const edge = { none: 0, deletion: 1, insertion: 2 } as const

/** An edit, and the value of `edge` for each element. */
interface EdgedEdit {
  readonly edit: ArrayEdit
  readonly edges: Uint8Array
}

/** An item, the index of its first element, and the offsets in the item at which edits start and end. */
interface Cuttable {
  readonly item: Y.Item
  readonly index: number
  readonly offsets: readonly number[]
}

interface CutPlan {
  readonly offsets: readonly number[]
  /** Ranges between the splits in which all elements are written again. */
  readonly rewritten: readonly { readonly start: number; readonly end: number }[]
}

function planCuts(
  transaction: Y.Transaction,
  edited: EdgedEdit,
  place: Cuttable,
  budget: SplitBudget,
): CutPlan {
  const { item, index, offsets } = place
  const structs = transaction.doc.store.clients.get(item.id.client)?.length ?? 1
  const isInserted = (offset: number): boolean => edited.edges[index + offset] === edge.insertion
  let plan: CutPlan = { offsets, rewritten: [] }
  let cost = costOf(plan, isInserted, item.length, structs)
  for (let groups = offsets.length >> 1; !isWithin(cost, budget); groups >>= 1) {
    plan = crowded(edited, place, groups)
    const starts = new Set(plan.rewritten.map(({ start }) => start))
    cost = costOf(plan, (offset) => starts.has(offset) || isInserted(offset), item.length, structs)
  }
  budget.shiftedStructs -= cost.shiftedStructs
  budget.copiedElements -= cost.copiedElements
  return plan
}

const isWithin = (cost: SplitBudget, budget: SplitBudget): boolean =>
  cost.shiftedStructs <= budget.shiftedStructs && cost.copiedElements <= budget.copiedElements

/**
 * Returns what a receiver needs for the splits of a plan. It inserts first, in the order of the items, and each
 * insertion splits at its place. The middle one is written first (`write-edits.ts`), so that each level of halves copies the item
 * once. Then the receiver deletes from the start, and each split copies the remainder up to the next insertion.
 */
function costOf(
  { offsets }: CutPlan,
  isInserted: (offset: number) => boolean,
  length: number,
  structs: number,
): SplitBudget {
  let [inserted, copied, end] = [0, 0, length]
  for (let at = offsets.length - 1; at >= 0; at -= 1) {
    const offset = offsets[at] as number
    if (isInserted(offset)) {
      inserted += 1
      end = offset
    } else copied += end - (offsets[at - 1] ?? 0)
  }
  const levels = Math.ceil(Math.log2(inserted + 1))
  return {
    shiftedStructs: offsets.length * (structs + offsets.length / 2),
    copiedElements: copied + levels * length,
  }
}

/**
 * Divides the edits of an item into at most `most` groups, separated by the longest kept ranges. In each group, all
 * elements are written again. A group that only deletes also writes the kept element before it again, because
 * an insertion makes its split less expensive. If no group is allowed, the whole item is written again.
 */
function crowded(
  { edit: { removed }, edges }: EdgedEdit,
  { item, index, offsets }: Cuttable,
  most: number,
): CutPlan {
  if (most < 1) return { offsets: [], rewritten: [{ start: 0, end: item.length }] }
  const stays = offsets.map((offset, at) =>
    at > 0 && removed[index + offset - 1] === 0 ? offset - (offsets[at - 1] as number) : 0,
  )
  const parted = stays.map((_, at) => at).sort((a, b) => (stays[b] as number) - (stays[a] as number))
  const ends = new Set(parted.slice(0, most - 1).filter((at) => stays[at] !== 0))
  const rewritten: { start: number; end: number }[] = []
  const add = (start: number, end: number): void => {
    const onlyDeletes =
      edges[index + start] === edge.deletion && !removed.subarray(index + start, index + end).includes(0)
    rewritten.push({ start: onlyDeletes ? start - 1 : start, end })
  }
  let start = offsets[0] as number
  offsets.forEach((offset, at) => {
    const before = offsets[at - 1]
    if (before === undefined || !ends.has(at)) return
    add(start, before)
    start = offset
  })
  add(start, offsets.at(-1) as number)
  const cuts = rewritten.flatMap(({ start: from, end }) => (from === end ? [from] : [from, end]))
  return {
    offsets: cuts.filter((offset) => offset > 0),
    rewritten: rewritten.filter((stretch) => stretch.end > stretch.start),
  }
}

/** Returns the value of `edge` for each element. */
function edgesOf({ removed, insertions }: ArrayEdit): Uint8Array {
  const edges = removed.map((value, index) =>
    index > 0 && value !== removed[index - 1] ? edge.deletion : edge.none,
  )
  for (const { after } of insertions) edges[after + 1] = edge.insertion
  return edges
}

/**
 * Splits an item at the offsets, the middle one first. Each split copies the remainder of the item, so
 * splitting from one end would take quadratic time.
 */
function cut(
  transaction: Y.Transaction,
  { client, clock }: Y.ID,
  offsets: readonly number[],
  from: number,
  to: number,
): void {
  if (from >= to) return
  const middle = (from + to) >> 1
  Y.getItemCleanStart(transaction, Y.createID(client, clock + (offsets[middle] as number)))
  cut(transaction, { client, clock }, offsets, from, middle)
  cut(transaction, { client, clock }, offsets, middle + 1, to)
}

/** Adjacent elements of one item. */
interface Stretch {
  readonly start: number
  readonly values: readonly unknown[]
}

function withRewritten(edit: ArrayEdit, stretches: readonly Stretch[]): ArrayEdit {
  const removed = edit.removed.slice()
  const insertions: Insertion[] = []
  let next = 0
  const takeUpTo = (index: number): readonly Insertion[] => {
    const from = next
    while ((edit.insertions[next]?.after ?? Number.POSITIVE_INFINITY) <= index) next += 1
    return edit.insertions.slice(from, next)
  }
  for (const { start, values } of stretches) {
    insertions.push(...takeUpTo(start - 1))
    const anew = values.flatMap((value, offset): NewValue[] => {
      const stays = removed[start + offset] === 0
      const inserted = offset < values.length - 1 ? takeUpTo(start + offset) : []
      return [...(stays ? [{ as: 'plain', value } as const] : []), ...inserted.flatMap((made) => made.values)]
    })
    removed.fill(1, start, start + values.length)
    insertions.push({ after: start - 1, values: anew })
  }
  return { ...edit, removed, insertions: [...insertions, ...takeUpTo(removed.length)] }
}
