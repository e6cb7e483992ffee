import type { Job, Key } from './engine.ts'

/** One item of a store, in a form that does not depend on the engine. */
export type StoredEntry =
  | {
      /** The log of a document. `deleted`: only its epoch is stored, so that late appends are rejected. */
      readonly is: 'document'
      readonly key: Key
      readonly state: 'live' | 'deleted'
      readonly epoch: number
    }
  | { readonly is: 'value'; readonly part: Key; readonly key: Key; readonly value: Uint8Array }
  | { readonly is: 'blob'; readonly key: Key; readonly value: Uint8Array }
  /** A waiting job (`job`) or a dead letter (`buried`). `error` is the error of its last attempt. */
  | (Job & { readonly is: 'job' | 'buried'; readonly error: string })

/** Data of a store whose keys are in few ranges. */
export interface StoredSelection {
  /** Prefixes of the keys of documents. Their logs are selected. */
  readonly logs: readonly Key[]
  /** Prefixes of the keys of blobs. */
  readonly blobs: readonly Key[]
  /** Prefixes of keys in partitions of the Kv. */
  readonly values: readonly { readonly part: Key; readonly prefix: Key }[]
}
