import type { Budget } from './myers.ts'
import { Graphemes } from './text-graphemes.ts'
import { editsMaxFor, stepsMax } from './text-plan.ts'
import type { TidyEffort } from './tidy-formatting.ts'

/** What one replacement may still spend, all its texts together; beyond, the result gets coarser. */
export interface Effort extends TidyEffort {
  readonly budget: Budget
  readonly graphemes: Graphemes
  /** Edits inside texts. */
  editsLeft: number
}

/** Some tens of milliseconds. */
const tidiedMax = 1_000_000

export const effortFor = (items: number): Effort => ({
  budget: { steps: stepsMax },
  graphemes: new Graphemes(),
  editsLeft: editsMaxFor(items),
  tidyLeft: tidiedMax,
})
