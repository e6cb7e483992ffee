import type { ForeignChanges } from './engine.ts'

/**
 * Implements `ForeignChanges` for a store that no other process writes to. There are no changes to report.
 */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}
