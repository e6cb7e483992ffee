import * as Y from 'yjs'
import type { ArrayEdit, Insertion } from './array-edit.ts'
import type { NewValue } from './siblings.ts'

/** What one replacement may still spend on cuts. */
export interface CutBudget {
  /** Each cut counts the structs of its author: Yjs shifts them all for it, about 0.85 ns each (with 13.6.33). */
  shiftedStructs: number
}

/** Some 50 ms. */
export const cutBudget = (): CutBudget => ({ shiftedStructs: 60_000_000 })

/**
 * Cuts the items of a sequence wherever an edit begins or ends, so that each then stays or goes as a whole. Once that has
 * become too costly, items go as a whole and what was to stay of them is inserted anew: only plain values share an item.
 */
export function cutItems(transaction: Y.Transaction, edit: ArrayEdit, budget: CutBudget): ArrayEdit {
  const cuts: { item: Y.Item; offsets: number[] }[] = []
  const rewritten: Stretch[] = []
  const edges = edgesOf(edit)
  let index = 0
  for (let item = edit.type._start; item !== null; item = item.right) {
    if (item.deleted || !item.countable) continue
    const offsets: number[] = []
    for (let offset = 1; offset < item.length; offset++) if (edges[index + offset] === 1) offsets.push(offset)
    if (offsets.length > 0) {
      budget.shiftedStructs -=
        offsets.length * (transaction.doc.store.clients.get(item.id.client)?.length ?? 0)
      if (budget.shiftedStructs >= 0) cuts.push({ item, offsets })
      else rewritten.push({ start: index, values: item.content.getContent() })
    }
    index += item.length
  }
  for (const { item, offsets } of cuts) cut(transaction, item.id, offsets, 0, offsets.length)
  return rewritten.length === 0 ? edit : withRewritten(edit, rewritten)
}

/** 1 at the index of each element that must begin an item. */
function edgesOf({ removed, insertions }: ArrayEdit): Uint8Array {
  const edges = removed.map((value, index) => (index > 0 && value !== removed[index - 1] ? 1 : 0))
  for (const { after } of insertions) edges[after + 1] = 1
  return edges
}

/** The middle first: each cut copies what is in the item, so from one end it would be quadratic. */
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

/** The elements of one item. */
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
