import * as s from '../../../core/base/schema.ts'
import { namedUserSchema } from '../../../core/model/named-users.ts'
import type { Catalog, CatalogVersion } from './catalog.ts'
import { readOnline, rootSchema } from './document-online.ts'
import { callOnline, listOnline, type OnlineServer } from './rest-client.ts'

const organizationsSchema = s.array(
  s.object({
    id: s.string,
    organizationName: s.string,
    lastUpdated: s.number,
  }),
)

const documentsSchema = s.array(
  s.object({
    id: s.string,
    documentName: s.string,
    disabled: s.boolean,
    lastUpdated: s.number,
  }),
)

const editorsSchema = s.array(
  s.object({
    id: s.string,
    lastUpdate: s.string,
    lastUpdatedBy: s.string,
    sizeBytes: s.number,
  }),
)

const versionsSchema: s.SchemaOf<readonly CatalogVersion[]> = s.array(
  s.object({
    versionId: s.string,
    kind: s.string,
    label: s.string,
    metadata: s.object({}),
    createdAt: s.string,
    createdBy: s.string,
    sizeBytes: s.number,
    version: s.string,
    authors: s.array(namedUserSchema),
  }),
)

const restoredSchema = s.object({ previousVersionId: s.orNull(s.string) })

/** Returns the catalog of a running server. The catalog reads through the REST API. */
export const onlineCatalog = (server: OnlineServer): Catalog => ({
  async *organizations() {
    for await (const each of listOnline(server, '/v2/organizations/get', {}, organizationsSchema)) {
      const { id: organizationId, organizationName, lastUpdated } = each
      yield { organizationId, organizationName, lastUpdated }
    }
  },
  async *documents(organizationId) {
    const query = { organizationId }
    const path = '/v2/organizations/documents/get'
    for await (const each of listOnline(server, path, query, documentsSchema)) {
      const { id: documentId, documentName, disabled, lastUpdated } = each
      yield { organizationId, documentId, documentName, disabled, lastUpdated }
    }
  },
  async *editors(organizationId, documentId) {
    // Uses the format `roots`, because it works for every document and for all types of roots.
    const query = { organizationId, documentId, format: 'roots' }
    const { data } = await callOnline(server, '/v2/crdt/get', query, editorsSchema)
    for (const { id: editorId, lastUpdate, lastUpdatedBy, sizeBytes } of data) {
      const lastUpdated = Date.parse(lastUpdate)
      yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
    }
  },
  versions: (path) => listOnline(server, '/v2/crdt/versions/list', path, versionsSchema),
  async content(path, versionId, reading) {
    if (versionId === null) return readOnline(server, path, reading)
    const query = { ...path, ...reading, versionId }
    return (await callOnline(server, '/v2/crdt/versions/get', query, rootSchema)).data
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
  const query = { ...path, versionId }
  const { data } = await callOnline(server, '/v2/crdt/versions/restore', query, restoredSchema)
  return data.previousVersionId
}
