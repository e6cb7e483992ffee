import type { DiffBudget } from '../diff/myers.ts'
import { Graphemes } from '../text/graphemes.ts'
import { editsMaxFor, stepsMax } from '../text/plan.ts'
import type { CleanupBudget } from '../yjs/cleanup-formatting.ts'

/** What one replacement may still spend, all its texts together; beyond, the result gets coarser. */
export interface XmlBudget extends CleanupBudget {
  readonly budget: DiffBudget
  readonly graphemes: Graphemes
  /** Edits inside texts. */
  editsLeft: number
  /** Elements and texts deleted one by one, each counted with the items there are: Yjs shifts them all for it. */
  deletionsLeft: number
  /** Items of the document. */
  readonly items: number
}

/** About a second, at those who receive the change too; it takes as long to make 50,000 elements anew. */
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
