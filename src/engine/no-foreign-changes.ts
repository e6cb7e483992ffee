import type { ForeignChanges } from './engine.ts'

/** Of a store that no other process writes to. */
export const noForeignChanges: ForeignChanges = {
  maxAgeMs: Number.POSITIVE_INFINITY,
  watch: () => () => {},
}
