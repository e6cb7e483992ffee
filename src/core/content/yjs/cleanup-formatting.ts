import { equalityDeep } from 'lib0/function'
import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import type { SharedRoot } from './root-kind.ts'

/**
 * Remaining budget of cleanups of formatting. Each item costs one, plus one for each attribute that is active
 * at the item, because Yjs copies these attributes.
 */
export interface CleanupBudget {
  tidyLeft: number
}

/**
 * Removes formatting marks that have no effect from a text that was just changed, if the budget allows it.
 * Otherwise every client would remove them when it receives the change, and might remove marks that a later
 * change needs.
 *
 * Only the stored items show whether there are such marks: even unformatted text may have marks, for example
 * around deleted text or at its end. The cleanup runs inside the transaction of the change.
 */
export function cleanupFormatting(type: SharedRoot, effort: CleanupBudget): void {
  const cost = costOfTidying(type)
  if (cost === 0 || cost > effort.tidyLeft) return
  effort.tidyLeft -= cost
  type.doc?.transact((transaction) => {
    if (hasNewMarks(type, transaction)) removeRepeated(type, transaction)
    else removeOverridden(type, transaction)
  })
  // `cleanupYTextFormatting` only needs members that all shared types have.
  Y.cleanupYTextFormatting(type as Y.Text)
}

/**
 * Returns whether the transaction has added marks. In that case, a client that receives the change checks
 * only the first gap of the text, like `cleanupYTextFormatting`.
 */
function hasNewMarks(type: SharedRoot, transaction: Y.Transaction): boolean {
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentFormat)) continue
    if (isNew(item, transaction)) return true
  }
  return false
}

/**
 * Removes marks that end a formatting and start it again at the same place, if the transaction has added one
 * of them. Yjs adds such marks between an inserted text and a text that gets the same formatting. An editor
 * would read two texts, and would write the formatting again.
 */
function removeRepeated(type: SharedRoot, transaction: Y.Transaction): void {
  const values = new Map<string, unknown>()
  let gap: Y.Item[] = []
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (item.content instanceof Y.ContentFormat) gap.push(item)
    else if (item.countable) {
      if (gap.length > 1) removeRepeatedIn(gap, values, transaction)
      for (const { deleted, content } of gap)
        if (!deleted && content instanceof Y.ContentFormat) values.set(content.key, content.value)
      gap = []
    }
  }
}

/** @param values the formatting before the gap */
function removeRepeatedIn(
  gap: readonly Y.Item[],
  values: ReadonlyMap<string, unknown>,
  transaction: Y.Transaction,
): void {
  const ofKeys = new Map<string, { readonly items: Y.Item[]; last: unknown }>()
  for (const item of gap) {
    const { key, value } = item.content as Y.ContentFormat
    const ofKey = memoized(ofKeys, key, () => ({ items: [], last: null }))
    ofKey.items.push(item)
    ofKey.last = value
  }
  for (const [key, { items, last }] of ofKeys) {
    const isRepeated = items.length > 1 && equalityDeep(values.get(key) ?? null, last)
    if (isRepeated && items.some((item) => isNew(item, transaction)))
      for (const item of items) item.delete(transaction)
  }
}

const isNew = ({ id }: Y.Item, { beforeState }: Y.Transaction): boolean =>
  id.clock >= (beforeState.get(id.client) ?? 0)

/**
 * Removes each mark that is directly followed by another mark with the same name. A client that receives
 * deletions and no new marks does the same (`cleanupContextlessFormattingGap` of Yjs).
 */
function removeOverridden(type: SharedRoot, transaction: Y.Transaction): void {
  let followed = new Map<string, Y.Item>()
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    if (item.countable) followed = new Map()
    else if (item.content instanceof Y.ContentFormat) {
      followed.get(item.content.key)?.delete(transaction)
      followed.set(item.content.key, item)
    }
  }
}

/** Returns the cost of the cleanup; 0 if the text has no marks. */
function costOfTidying(type: SharedRoot): number {
  const on = new Set<string>()
  let [cost, marks] = [0, 0]
  for (let item = type._start; item !== null; item = item.right) {
    cost += 1
    if (item.deleted) continue
    const { content } = item
    if (!(content instanceof Y.ContentFormat)) cost += on.size
    else {
      marks += 1
      if (content.value === null) on.delete(content.key)
      else on.add(content.key)
    }
  }
  return marks === 0 ? 0 : cost
}
