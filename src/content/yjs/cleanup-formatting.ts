import * as Y from 'yjs'
import type { SharedRoot } from './root-kind.ts'

/** What tidying may still cost: items walked along, and attributes that are on at each, which Yjs copies. */
export interface CleanupBudget {
  tidyLeft: number
}

/**
 * Takes away formatting marks without effect from a text that was just changed, if that is affordable. Else every client
 * would do it on receiving the change, and so take away marks that a next one still builds on.
 *
 * Whether there are any shows only in the stored items: text that is formatted nowhere may have marks, such as those
 * that were around what has been deleted, or that stand at its end. It is done inside the transaction of the change.
 */
export function cleanupFormatting(type: SharedRoot, effort: CleanupBudget): void {
  const cost = costOfTidying(type)
  if (cost === 0 || cost > effort.tidyLeft) return
  effort.tidyLeft -= cost
  type.doc?.transact((transaction) => {
    if (!hasNewMarks(type, transaction)) removeOverridden(type, transaction)
  })
  // It needs nothing that other types than texts do not have.
  Y.cleanupYTextFormatting(type as object as Y.Text)
}

/** Those who receive new marks look through the first gap of the text only, as `cleanupYTextFormatting` does. */
function hasNewMarks(type: SharedRoot, { beforeState }: Y.Transaction): boolean {
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted || !(item.content instanceof Y.ContentFormat)) continue
    if (item.id.clock >= (beforeState.get(item.id.client) ?? 0)) return true
  }
  return false
}

/**
 * Takes away each mark that another of its name follows with nothing in between, as those do who receive deletions and
 * no new marks (`cleanupContextlessFormattingGap` of Yjs).
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

/** 0 where there are no marks. */
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
