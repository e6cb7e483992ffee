import type { ChangeOriginEntry } from './attributed-run.ts'

/** Adjacent changes of one author, as `/v2/crdt/changes` returns them. */
export interface HunkEntry {
  readonly anchor: {
    readonly contentKey: string
    readonly path: readonly (string | number)[]
    readonly before: string
    readonly after: string
  }
  readonly deleted: string
  readonly inserted: string
  readonly deletedNodes: readonly string[]
  readonly insertedNodes: readonly string[]
  readonly deletedValues: readonly unknown[]
  readonly insertedValues: readonly unknown[]
  readonly entries: readonly { readonly key: string; readonly before?: unknown; readonly after?: unknown }[]
  readonly formatting: readonly {
    readonly name: string
    readonly before: unknown
    readonly after: unknown
    readonly text: string
  }[]
  /** True if parts are left out, because the hunk is too large. */
  readonly truncated: boolean
}

/** The changes of one author without a long pause. */
export interface ChangeSetEntry extends ChangeOriginEntry {
  readonly changeId: string
  /** ISO 8601; null if the time is unknown. */
  readonly firstAt: string | null
  readonly lastAt: string | null
  /** Numbers of units and values. */
  readonly inserted: number
  readonly deleted: number
  readonly hunks: readonly HunkEntry[]
  /** True if hunks are left out, because there are too many. */
  readonly truncated: boolean
}

/** A sentence about the counts of a change, for example `3 inserted, 1 deleted`. */
export const describeCounts = ({ inserted, deleted }: Pick<ChangeSetEntry, 'inserted' | 'deleted'>): string =>
  `${inserted.toLocaleString()} inserted, ${deleted.toLocaleString()} deleted`
