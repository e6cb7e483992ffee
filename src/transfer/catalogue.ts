import type { Reading } from '../content/reading.ts'
import type { DocumentPath } from '../model/address.ts'
import type { ShownDocument } from './document.ts'

export interface ShownOrganization {
  readonly organizationId: string
  readonly organizationName: string
  /** Epoch milliseconds. */
  readonly lastUpdated: number
}

export interface ShownRecord {
  readonly organizationId: string
  readonly documentId: string
  readonly documentName: string
  readonly disabled: boolean
  /** Of the record, not of the content; epoch milliseconds. */
  readonly lastUpdated: number
}

export interface ShownEditor extends DocumentPath {
  /** When the content was edited last, in epoch milliseconds. */
  readonly lastUpdated: number
  /** '' when nobody is known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
}

export interface ShownVersion {
  readonly versionId: string
  readonly kind: string
  readonly label: string
  readonly metadata: object
  /** ISO 8601. */
  readonly createdAt: string
  readonly createdBy: string
  readonly sizeBytes: number
  /** Names this state. */
  readonly version: string
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

/**
 * What there is, at a server that serves or in the store of a stopped one; read as it is asked for, never gathered. All
 * of it throws StorageError for what is not there.
 */
export interface Catalogue {
  organizations(): AsyncGenerator<ShownOrganization>
  documents(organizationId: string): AsyncGenerator<ShownRecord>
  editors(organizationId: string, documentId: string): AsyncGenerator<ShownEditor>
  /** The newest first. */
  versions(path: DocumentPath): AsyncGenerator<ShownVersion>
  /** @param versionId null: as it is now */
  content(path: DocumentPath, versionId: string | null, reading: Reading): Promise<ShownDocument>
  readonly close: () => Promise<void>
}
