import type { NewValue } from '../yjs/new-values.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'

/** New elements, put after the element that had the index `after` before any edit; −1 for the start. */
export interface Insertion {
  readonly after: number
  readonly values: readonly NewValue[]
}

/** What to change in one sequence. */
export interface ArrayEdit {
  readonly in: 'array'
  readonly type: SharedRoot
  /** 1 for each element that goes. */
  readonly removed: Uint8Array
  /** In order of their places. */
  readonly insertions: readonly Insertion[]
}
