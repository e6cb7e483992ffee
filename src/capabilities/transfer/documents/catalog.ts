import type { DocumentReading } from '../../../core/content/read-document.ts'
import type { ContentTarget } from '../../../core/content/replace.ts'
import { type DocumentPath, decodeSegment, idProblem } from '../../../core/model/address.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

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

/** A root of a document, in the form of the response to `POST /v2/crdt/get`. */
export interface DocumentRoot {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/** Result of a write. */
export interface PutReport {
  /** True if the call created the editor. */
  readonly created: boolean
  readonly changed: boolean
  /** Size of the update that was written, in bytes. */
  readonly bytes: number
  /** Numbers of insertions and deletions (see `Change`). Present only if the call replaced content. */
  readonly insertions?: number
  readonly deletions?: number
}

/**
 * Lists, reads and writes the documents of a running server or of a stopped server's store. Each listing is read page
 * by page, so it never fills the memory. All methods that read throw StorageError if the requested organization,
 * document or editor does not exist.
 */
export interface Catalog {
  organizations(): AsyncGenerator<CatalogOrganization>
  documents(organizationId: string): AsyncGenerator<CatalogDocument>
  editors(organizationId: string, documentId: string): AsyncGenerator<CatalogEditor>
  /** Reads the current content of an editor. */
  content(path: DocumentPath, reading: DocumentReading): Promise<DocumentRoot>
  /** Merges an update (V1) into an editor. Creates the editor if it does not exist. @throws StorageError */
  apply(path: DocumentPath, update: Uint8Array): Promise<PutReport>
  /** Replaces the content of a root. Creates the editor if it does not exist. @throws StorageError */
  replace(path: DocumentPath, content: ContentTarget): Promise<PutReport>
  readonly close: () => Promise<void>
}

/** Parses `organization/document/editor` with percent-encoded parts. @throws StorageError */
export function parsePath(text: string): DocumentPath {
  const [organizationId = '', documentId = '', editorId = ''] = parseAddressIds(
    text,
    'organization/document/editor',
  )
  return { organizationId, documentId, editorId }
}

/**
 * Parses the percent-encoded ids of an address.
 * @param form the names of the ids, separated by `/`
 * @throws StorageError if there are more or fewer ids, or if one is invalid
 */
export function parseAddressIds(text: string, form: string): readonly string[] {
  const segments = text.split('/').map(decodeSegment)
  const ids = segments.filter((id) => id !== null)
  if (ids.length < segments.length || ids.length !== form.split('/').length)
    throw new StorageError(`invalid address ${JSON.stringify(text)}; expected ${form}, each percent-encoded`)
  for (const id of ids) {
    const problem = idProblem(id)
    if (problem !== null) throw new StorageError(`the id ${JSON.stringify(id)} ${problem}`)
  }
  return ids
}
