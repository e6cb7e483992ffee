import * as s from '../../../core/base/schema.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { Catalog, DocumentRoot, PutReport } from './catalog.ts'
import { callOnline, listingHint, listOnline, nullIfRefused, type OnlineServer } from './rest-client.ts'

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

const rootsSchema: s.SchemaOf<readonly DocumentRoot[]> = s.array(
  s.object({ type: s.string, contentKey: s.string, data: s.unknown }),
)

const writtenSchema: s.SchemaOf<Omit<PutReport, 'created'>> = s.object(
  { changed: s.boolean, bytes: s.number },
  { insertions: s.number, deletions: s.number },
)

/** Returns the catalog of a running server, which uses the REST API. */
export function onlineCatalog(server: OnlineServer): Catalog {
  /** Requests the format `roots`, which works for all types of roots, and does not contain the content. */
  const editorsOf = async (path: Omit<DocumentPath, 'editorId'>) =>
    (await callOnline(server, '/v2/crdt/get', { ...path, format: 'roots' }, editorsSchema)).data
  const write = async (operation: string, path: DocumentPath, given: object): Promise<PutReport> => {
    const present = await nullIfRefused(editorsOf(path), 'NOT_FOUND')
    const query = { ...path, ...given }
    const { data } = await callOnline(server, `/v2/crdt/${operation}`, query, writtenSchema)
    const { changed, bytes, insertions, deletions } = data
    const created = present === null || present.length === 0
    if (insertions === undefined || deletions === undefined) return { created, changed, bytes }
    return { created, changed, bytes, insertions, deletions }
  }
  return {
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
      for (const each of await editorsOf({ organizationId, documentId })) {
        const { id: editorId, lastUpdate, lastUpdatedBy, sizeBytes } = each
        const lastUpdated = Date.parse(lastUpdate)
        yield { organizationId, documentId, editorId, lastUpdated, lastUpdatedBy, sizeBytes }
      }
    },
    async content(path, reading) {
      const query = { ...path, ...reading }
      const [found] = (await callOnline(server, '/v2/crdt/get', query, rootsSchema)).data
      if (found === undefined) throw new StorageError('there is no such document', { hint: listingHint })
      return found
    },
    apply: (path, bytes) =>
      write('apply', path, { update: Buffer.from(bytes).toString('base64'), create: true }),
    replace: (path, content) => write('update', path, { ...content, upsert: true }),
    close: () => Promise.resolve(),
  }
}
