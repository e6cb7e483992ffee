/** A document in the data of another server. `name` is the name of the document on that server. */
export type StoredDocument =
  | {
      readonly name: string
      /** Yjs updates (V1) as they are stored. They are not vetted. */
      readonly updates: readonly Uint8Array[]
    }
  | {
      readonly name: string
      /** Reason why the document cannot be read, as a sentence without a period. */
      readonly problem: string
    }

/** Documents of another server that can be imported. The caller must close the source. */
export interface ImportSource {
  /**
   * Returns the number of documents for the progress bar. Counting is much faster than reading the documents.
   */
  count(): Promise<number>
  /**
   * Yields all documents. Each name occurs once. @throws StorageError if the source cannot be read further
   */
  documents(): AsyncIterable<StoredDocument>
  close(): Promise<void>
}
