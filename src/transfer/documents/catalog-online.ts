import { StorageError } from '../../storage/storage-error.ts'
import type { Catalog, CatalogDocument, CatalogVersion } from './catalog.ts'
import type { DocumentRoot } from './document-offline.ts'
import { readOnline } from './document-online.ts'
import { callOnline, listOnline, type OnlineServer } from './rest-client.ts'

interface Organization {
  readonly id: string
  readonly organizationName: string
  readonly lastUpdated: number
}

type Document = Omit<CatalogDocument, 'documentId'> & { readonly id: string }

interface Editor {
  readonly id: string
  readonly lastUpdate: string
  readonly lastUpdatedBy: string
  readonly sizeBytes: number
}

/** Returns the catalog of a running server. The catalog reads through the REST API. */
export const onlineCatalog = (server: OnlineServer): Catalog => ({
  async *organizations() {
    for await (const each of listOnline<Organization>(server, '/v2/organizations/get', {})) {
      const { id: organizationId, organizationName, lastUpdated } = each
      yield { organizationId, organizationName, lastUpdated }
    }
  },
  async *documents(organizationId) {
    const query = { organizationId }
    for await (const each of listOnline<Document>(server, '/v2/organizations/documents/get', query)) {
      const { id: documentId, documentName, disabled, lastUpdated } = each
      yield { organizationId, documentId, documentName, disabled, lastUpdated }
    }
  },
  async *editors(organizationId, documentId) {
    // Uses the format `roots`, because it works for every document and for all types of roots.
    const query = { organizationId, documentId, format: 'roots' }
    const { data } = await callOnline(server, '/v2/crdt/get', query)
    for (const { id: editorId, lastUpdate, lastUpdatedBy, sizeBytes } of data as readonly Editor[]) {
      const lastUpdated = Date.parse(lastUpdate)
      yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
    }
  },
  versions: (path) => listOnline<CatalogVersion>(server, '/v2/crdt/versions/list', path),
  async content(path, versionId, reading) {
    if (versionId === null) return readOnline(server, path, reading)
    const { data } = await callOnline(server, '/v2/crdt/versions/get', { ...path, ...reading, versionId })
    return data as DocumentRoot
  },
  close: () => Promise.resolve(),
})

/**
 * Restores a version of an editor. The server first saves the current content as a new version. Returns the
 * id of this new version; null if nothing changed.
 * @throws StorageError
 */
export async function restoreOnline(
  server: OnlineServer,
  path: object,
  versionId: string,
): Promise<string | null> {
  const { data } = await callOnline(server, '/v2/crdt/versions/restore', { ...path, versionId })
  if (typeof data !== 'object' || data === null)
    throw new StorageError(`the response of ${server.url} has no data`)
  return (data as { previousVersionId: string | null }).previousVersionId
}
