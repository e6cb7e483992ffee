import type { DocumentReading } from '../../content/read-document.ts'
import type { DocumentPath } from '../../model/address.ts'
import type { DocumentRoot } from './document-offline.ts'

export interface CatalogOrganization {
  readonly organizationId: string
  readonly organizationName: string
  /** Epoch milliseconds. */
  readonly lastUpdated: number
}

export interface CatalogDocument {
  readonly organizationId: string
  readonly documentId: string
  readonly documentName: string
  readonly disabled: boolean
  /** Of the record, not of the content; epoch milliseconds. */
  readonly lastUpdated: number
}

export interface CatalogEditor extends DocumentPath {
  /** When the content was edited last, in epoch milliseconds. */
  readonly lastUpdated: number
  /** '' when nobody is known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
}

export interface CatalogVersion {
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
export interface Catalog {
  organizations(): AsyncGenerator<CatalogOrganization>
  documents(organizationId: string): AsyncGenerator<CatalogDocument>
  editors(organizationId: string, documentId: string): AsyncGenerator<CatalogEditor>
  /** The newest first. */
  versions(path: DocumentPath): AsyncGenerator<CatalogVersion>
  /** @param versionId null: as it is now */
  content(path: DocumentPath, versionId: string | null, reading: DocumentReading): Promise<DocumentRoot>
  readonly close: () => Promise<void>
}
