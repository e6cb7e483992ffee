import type { Key, LoadedLog } from './engine.ts'

/** A stored item that differs from the bytes that were written. The field `what` names it. */
export interface Damage {
  readonly kind: 'store' | 'file' | 'document' | 'version' | 'record' | 'index' | 'job'
  readonly what: string
  readonly problem: string
}

export interface StoreCheck {
  readonly damages: readonly Damage[]
  /** Number of stored records, and the bytes of their keys and values. */
  readonly records: number
  readonly bytes: number
  /** Number of live documents. */
  readonly documents: number
}

export type LiveLog = Extract<LoadedLog, { state: 'live' }>

/** An entry that must exist because another one exists: in the same partition, or a blob. */
export interface ExpectedEntry {
  readonly in: 'partition' | 'blobs'
  readonly key: Key
}

/**
 * A record of a partition. While `isBeing` is true for its value, the partition is being removed, in several
 * commits.
 */
export interface PendingRemoval {
  readonly key: Key
  readonly isBeing: (value: Uint8Array) => boolean
}

export interface CheckOptions {
  /**
   * Returns the record that states that a partition is being removed. In such a partition, no entry is
   * expected.
   */
  readonly removed: (part: Key) => PendingRemoval | null
  /** Returns the entries that must exist according to a record or an entry of an index. */
  readonly expected: (part: Key, key: Key, value: Uint8Array) => readonly ExpectedEntry[]
  /** Returns why the stored content of an undamaged document is unusable; null if it is usable. */
  readonly contentProblem: (loaded: LiveLog) => Promise<string | null>
  readonly onProgress: (step: string, share: number) => void
}
