import type { Job, Key } from './engine.ts'

/** One stored item, independent of the engine. */
export type StoredEntry =
  | {
      /** A log of the document exists, or existed and no late append restores it. */
      readonly is: 'document'
      readonly key: Key
      readonly state: 'live' | 'deleted'
      readonly epoch: number
    }
  | { readonly is: 'value'; readonly part: Key; readonly key: Key; readonly value: Uint8Array }
  | { readonly is: 'blob'; readonly key: Key; readonly value: Uint8Array }
  /** A job that waits, or a dead letter with the error of its last attempt. */
  | (Job & { readonly is: 'job' | 'buried'; readonly error: string })
