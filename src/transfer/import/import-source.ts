/** A document of another server, with its name there. */
export type StoredDocument =
  | {
      readonly name: string
      /** Yjs updates (V1) as stored, not vetted. */
      readonly updates: readonly Uint8Array[]
    }
  | {
      readonly name: string
      /** Why it cannot be read: a sentence without a period. */
      readonly problem: string
    }

/** A source of documents. The caller must close it. */
export interface ImportSource {
  /** Returns the number of documents for the progress bar. Inexpensive compared to reading them. */
  count(): Promise<number>
  /** Yields all documents. Each name occurs once. @throws StorageError if the source cannot be read further */
  documents(): AsyncIterable<StoredDocument>
  close(): Promise<void>
}
