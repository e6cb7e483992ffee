/** What another server has stored of one document, by the name that it has there. */
export type StoredDocument =
  | {
      readonly name: string
      /** Yjs updates (V1), as stored: not vetted. */
      readonly updates: readonly Uint8Array[]
    }
  | {
      readonly name: string
      /** Why it cannot be read: a sentence without a stop. */
      readonly problem: string
    }

/** Where documents come from. To be closed. */
export interface ImportSource {
  /** How many documents there are, for the progress bar: cheap beside reading them. */
  count(): Promise<number>
  /** All documents, one after the other: a name comes once. @throws StorageError when it cannot be read on */
  documents(): AsyncIterable<StoredDocument>
  close(): Promise<void>
}
