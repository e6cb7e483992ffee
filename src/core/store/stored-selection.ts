import type { Key, KvEntry } from './engine.ts'

/** An entry of the Kv with its partition. */
export interface StoredEntry extends KvEntry {
  readonly part: Key
}

/** Data of a store whose keys are in few ranges. */
export interface StoredSelection {
  /** Prefixes of the keys of documents. Their logs are selected. */
  readonly logs: readonly Key[]
  /** Prefixes of the keys of blobs. */
  readonly blobs: readonly Key[]
  /** Prefixes of keys in partitions of the Kv. */
  readonly values: readonly { readonly part: Key; readonly prefix: Key }[]
}
