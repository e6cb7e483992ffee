/** A document in the data of another server, with its name at that server. */
export type StoredDocument =
  | {
      readonly name: string
      /** Yjs updates (V1) as they are stored. They are not vetted. */
      readonly updates: readonly Uint8Array[]
    }
  | {
      readonly name: string
      /** Why the document cannot be read, as a sentence without a period. */
      readonly problem: string
    }

/** Documents to import. The caller must close the source. */
export interface ImportSource {
  /** Returns the number of documents for the progress bar. Costs little compared to reading the documents. */
  count(): Promise<number>
  /** Yields all documents, each name once. @throws StorageError if the source cannot be read further */
  documents(): AsyncIterable<StoredDocument>
  close(): Promise<void>
}
