import type { DiffBudget } from '../diff/myers.ts'
import { Graphemes } from '../text/graphemes.ts'
import { editsMaxFor, stepsMax } from '../text/plan.ts'
import type { CleanupBudget } from '../yjs/cleanup-formatting.ts'

/** Remaining budget of one replacement over all its texts. When it is used up, the result becomes coarser. */
export interface XmlBudget extends CleanupBudget {
  readonly budget: DiffBudget
  readonly graphemes: Graphemes
  /** Edits inside texts. */
  editsLeft: number
  /**
   * Elements and texts that are deleted individually, each multiplied by the number of items: Yjs shifts them
   * all for it.
   */
  deletionsLeft: number
  /** Items of the document. */
  readonly items: number
}

/** About a second, also at clients that receive the change. Creating 50,000 elements again takes as long. */
const deletedTimesItems = 1_000_000_000

/** Some tens of milliseconds. */
const tidiedMax = 1_000_000

export const budgetFor = (items: number): XmlBudget => ({
  budget: { steps: stepsMax },
  graphemes: new Graphemes(),
  editsLeft: editsMaxFor(items),
  deletionsLeft: deletedTimesItems,
  items,
  tidyLeft: tidiedMax,
})
