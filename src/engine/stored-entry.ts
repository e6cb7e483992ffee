import type { Job, Key } from './engine.ts'

/** Something that is stored, whatever the engine. */
export type StoredEntry =
  | {
      /** There is a log of it, or there was one, which no late append brings back. */
      readonly is: 'document'
      readonly key: Key
      readonly state: 'live' | 'deleted'
      readonly epoch: number
    }
  | { readonly is: 'value'; readonly part: Key; readonly key: Key; readonly value: Uint8Array }
  | { readonly is: 'blob'; readonly key: Key; readonly value: Uint8Array }
  /** Waits, or has been put aside for good, with the error of its last attempt. */
  | (Job & { readonly is: 'job' | 'buried'; readonly error: string })
