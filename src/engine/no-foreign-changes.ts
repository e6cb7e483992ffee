import type { ForeignChanges } from './engine.ts'

/**
 * Implementation of `ForeignChanges` for a store that no other process writes to: there are no such changes.
 */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}
