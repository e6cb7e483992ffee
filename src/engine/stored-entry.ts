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
