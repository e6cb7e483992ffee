import type { Root } from './kind.ts'
import type { NewValue } from './siblings.ts'

/** New elements, put after the element that had the index `after` before any edit; −1 for the start. */
export interface Insertion {
  readonly after: number
  readonly values: readonly NewValue[]
}

/** What to change in one sequence. */
export interface ArrayEdit {
  readonly in: 'array'
  readonly type: Root
  /** 1 for each element that goes. */
  readonly removed: Uint8Array
  /** In order of their places. */
  readonly insertions: readonly Insertion[]
}
