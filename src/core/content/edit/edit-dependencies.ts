import type { IdRange, StoredId } from '../yjs/range-index.ts'

/** The stored content on which one edit depends, if it is merged into a later version. */
export interface EditDependency {
  /** Shared types that are targets. They must still exist. */
  readonly types: readonly StoredId[]
  /** The text of the target. A part of it must still exist. Empty if the target is not a text. */
  readonly target: readonly IdRange[]
  /** Elements of arrays that the edit deletes. All of them must still exist. */
  readonly elements: readonly IdRange[]
  readonly deleted: readonly IdRange[]
  readonly created: IdRange
  /** True for an insertion, which the server writes again if it is repeated. */
  readonly isInsertion: boolean
}

/** New content at one place: neighbors in a sequence, or the value of a map entry. */
export interface InsertedRun {
  /** Index of the first edit that has inserted a part of it. */
  readonly edit: number
  /** Name of the root that contains it, or the id of the shared type that contains it and must still exist. */
  readonly parent: string | StoredId
  /** Key of a map entry; null in a sequence. */
  readonly key: string | null
  /** The next older content on both sides, deleted or not; null at an end of the sequence. */
  readonly left: StoredId | null
  readonly right: StoredId | null
  /** The content in the form of `comparableForm`. */
  readonly form: string
  /** False if the content only formats text. */
  readonly isCountable: boolean
}

/** The stored content on which the edits of a request depend, and their new content. */
export interface EditDependencies {
  /** The dependencies of each edit, in the order of the request. */
  readonly edits: readonly EditDependency[]
  readonly inserted: readonly InsertedRun[]
}
