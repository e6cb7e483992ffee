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
  /** Time of the last change of the record, not of the content, in epoch milliseconds. */
  readonly lastUpdated: number
}

export interface CatalogEditor extends DocumentPath {
  /** Time of the last edit in epoch milliseconds. */
  readonly lastUpdated: number
  /** '' if the user is not known. */
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
  /** Version of the document (epoch and head). */
  readonly version: string
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

/**
 * The documents of a running server, or of the store of a stopped one. Listings are read on demand and never collected
 * in memory. All methods throw StorageError if something does not exist.
 */
export interface Catalog {
  organizations(): AsyncGenerator<CatalogOrganization>
  documents(organizationId: string): AsyncGenerator<CatalogDocument>
  editors(organizationId: string, documentId: string): AsyncGenerator<CatalogEditor>
  /** The newest first. */
  versions(path: DocumentPath): AsyncGenerator<CatalogVersion>
  /** @param versionId null for the current content */
  content(path: DocumentPath, versionId: string | null, reading: DocumentReading): Promise<DocumentRoot>
  readonly close: () => Promise<void>
}
