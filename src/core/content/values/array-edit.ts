import type { SharedRoot } from '../yjs/root-kind.ts'
import type { NewValue } from './new-values.ts'

/**
 * New elements of a sequence. They are inserted after the element that had the index `after` before any edit;
 * −1 stands for the start.
 */
export interface Insertion {
  readonly after: number
  readonly values: readonly NewValue[]
}

/** The changes of one sequence. */
export interface ArrayEdit {
  readonly in: 'array'
  readonly type: SharedRoot
  /** Contains 1 for each element that is removed, otherwise 0. */
  readonly removed: Uint8Array
  /** Insertions in the order of their positions. */
  readonly insertions: readonly Insertion[]
}
