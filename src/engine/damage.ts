import type { Key, LoadedLog } from './engine.ts'

/** Something that is not what was written; `what` names it. */
export interface Damage {
  readonly kind: 'store' | 'file' | 'document' | 'version' | 'record' | 'index' | 'job'
  readonly what: string
  readonly problem: string
}

export interface StoreCheck {
  readonly damages: readonly Damage[]
  /** Stored records, and the bytes of their keys and values. */
  readonly records: number
  readonly bytes: number
  /** Live documents. */
  readonly documents: number
}

export type LiveLog = Extract<LoadedLog, { state: 'live' }>

/** Something that must be there because something else is: in the same partition, or a blob. */
export interface ExpectedEntry {
  readonly in: 'partition' | 'blobs'
  readonly key: Key
}

/** A record of a partition that, while it says so, has the whole of it removed, one commit after the other. */
export interface PendingRemoval {
  readonly key: Key
  readonly isBeing: (value: Uint8Array) => boolean
}

export interface CheckOptions {
  /** What says that a partition is being removed: nothing is expected there any more. */
  readonly removed: (part: Key) => PendingRemoval | null
  /** What a record, or an entry of an index, says that there is. */
  readonly expected: (part: Key, key: Key, value: Uint8Array) => readonly ExpectedEntry[]
  /** Why what is stored of a document is of no use although it is what was written; null when it is. */
  readonly contentProblem: (loaded: LiveLog) => Promise<string | null>
  readonly onProgress: (step: string, share: number) => void
}
