import { Graphemes } from '../text/graphemes.ts'
import { editsMaxFor, stepsMax, type TextBudget } from '../text/plan.ts'
import type { CleanupBudget } from '../yjs/cleanup-formatting.ts'

/**
 * Remaining budget of one replacement, for all its texts. When the budget is used up, the result becomes
 * coarser.
 */
export interface XmlBudget extends CleanupBudget, TextBudget {
  /**
   * Budget for elements and texts that are deleted individually. Each deletion costs the number of items of
   * the document, because Yjs shifts all items for a deletion.
   */
  deletionsLeft: number
  /** Number of items of the document. */
  readonly items: number
}

/**
 * Budget for `deletionsLeft`, as deleted nodes times items. It takes about a second, also at clients that
 * receive the change. Creating 50,000 elements again takes the same time.
 */
const deletedTimesItems = 1_000_000_000

/** Budget for `tidyLeft`, the cleanup of formatting. It takes some tens of milliseconds. */
const tidiedMax = 1_000_000

export const budgetFor = (items: number): XmlBudget => ({
  budget: { steps: stepsMax },
  graphemes: new Graphemes(),
  editsLeft: editsMaxFor(items),
  deletionsLeft: deletedTimesItems,
  items,
  tidyLeft: tidiedMax,
})
