import type { Key, LoadedLog } from './engine.ts'

/**
 * A stored item that differs from the bytes that were written, or that is missing. The member `what`
 * identifies the item.
 */
export interface Damage {
  readonly kind: 'store' | 'file' | 'document' | 'version' | 'attribution' | 'record' | 'index' | 'job'
  readonly what: string
  readonly problem: string
}

export interface StoreCheck {
  readonly damages: readonly Damage[]
  /** Number of stored records. `bytes` is the total size of their keys and values. */
  readonly records: number
  readonly bytes: number
  /** Number of live documents. */
  readonly documents: number
}

export type LiveLog = Extract<LoadedLog, { state: 'live' }>

/**
 * An entry that must exist because another entry exists. The required entry is in the same partition, or it
 * is a blob.
 */
export interface ExpectedEntry {
  readonly in: 'partition' | 'blobs'
  readonly key: Key
}

/**
 * The record that marks a partition whose removal takes several commits. `isBeing` returns whether a value of
 * this record means that the removal is in progress.
 */
export interface PendingRemoval {
  readonly key: Key
  readonly isBeing: (value: Uint8Array) => boolean
}

export interface CheckOptions {
  /**
   * Returns the record that marks the removal of a partition; null if this kind of partition has no such
   * record. While a partition is being removed, some of its entries may be missing.
   */
  readonly removed: (part: Key) => PendingRemoval | null
  /** Returns the entries that must exist because this value is stored under this key. */
  readonly expected: (part: Key, key: Key, value: Uint8Array) => readonly ExpectedEntry[]
  /**
   * Checks the content of a document whose stored records can be read. Returns the reason why the content is
   * unusable; null if it is usable.
   */
  readonly contentProblem: (loaded: LiveLog) => Promise<string | null>
  readonly onProgress: (step: string, share: number) => void
}
