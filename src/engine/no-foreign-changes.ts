import type { ForeignChanges } from './engine.ts'

/** The changes of a store that no other process writes to. */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}
