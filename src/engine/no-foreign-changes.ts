import type { ForeignChanges } from './engine.ts'

/** The foreign changes of a store that no other process writes to: none. */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}
