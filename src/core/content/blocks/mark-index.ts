import type { MarkSet } from '../xml/mark-sets.ts'
import type { MarkForm } from '../xml/stored-marks.ts'

/** Sets of marks, by their numbers; 0 is the empty set. */
export interface MarkIndex {
  /** Returns the marks of a set. A mark is always represented by the same object. */
  formsOf(set: MarkSet): readonly MarkForm[]
  /** Returns the set with one more mark. */
  with(set: MarkSet, form: MarkForm): MarkSet
}
