import type { DocumentReading } from '../../../core/content/read-document.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import type { DocumentRoot } from './document-offline.ts'

export interface CatalogOrganization {
  readonly organizationId: string
  readonly organizationName: string
  /** Time of the last change in epoch milliseconds. */
  readonly lastUpdated: number
}

export interface CatalogDocument {
  readonly organizationId: string
  readonly documentId: string
  readonly documentName: string
  readonly disabled: boolean
  /** Time of the last change of the document's record (not of its content), in epoch milliseconds. */
  readonly lastUpdated: number
}

export interface CatalogEditor extends DocumentPath {
  /** Time of the last edit in epoch milliseconds. */
  readonly lastUpdated: number
  /** Id of the user of the last edit; '' if the user is not known. */
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
}

export interface CatalogVersion {
  readonly versionId: string
  readonly kind: string
  readonly label: string
  readonly metadata: object
  /** Time of the creation as ISO 8601. */
  readonly createdAt: string
  readonly createdBy: string
  readonly sizeBytes: number
  /** Version of the content (epoch and head). */
  readonly version: string
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

/**
 * Lists and reads the documents of a running server or of a stopped server's store. Each listing is read page
 * by page, so it never fills the memory. All methods throw StorageError if the requested organization,
 * document, editor or version does not exist.
 */
export interface Catalog {
  organizations(): AsyncGenerator<CatalogOrganization>
  documents(organizationId: string): AsyncGenerator<CatalogDocument>
  editors(organizationId: string, documentId: string): AsyncGenerator<CatalogEditor>
  /** Yields the versions of an editor, the newest first. */
  versions(path: DocumentPath): AsyncGenerator<CatalogVersion>
  /**
   * Reads the content of an editor. @param versionId id of the version to read; null for the current content
   */
  content(path: DocumentPath, versionId: string | null, reading: DocumentReading): Promise<DocumentRoot>
  readonly close: () => Promise<void>
}
