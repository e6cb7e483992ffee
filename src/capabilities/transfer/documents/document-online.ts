import * as s from '../../../core/base/schema.ts'
import type { DocumentReading } from '../../../core/content/read-document.ts'
import type { DocumentPath } from '../../../core/model/address.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { DocumentRoot, NewContent, PutReport } from './document-offline.ts'
import { listingHint } from './listing-hints.ts'
import { callOnline, nullIfNotFound, type OnlineServer } from './rest-client.ts'

export const rootSchema: s.SchemaOf<DocumentRoot> = s.object({
  type: s.string,
  contentKey: s.string,
  data: s.unknown,
})

const rootsSchema = s.array(rootSchema)
const editorsSchema = s.array(s.unknown)

const writtenSchema: s.SchemaOf<Omit<PutReport, 'created'>> = s.object(
  { changed: s.boolean, bytes: s.number },
  { insertions: s.number, deletions: s.number },
)

/** Reads one document through the REST API. @throws StorageError with the error of the server */
export async function readOnline(
  server: OnlineServer,
  path: DocumentPath,
  reading: DocumentReading,
): Promise<DocumentRoot> {
  const query = { ...path, ...reading }
  const [found] = (await callOnline(server, '/v2/crdt/get', query, rootsSchema)).data
  if (found === undefined) throw new StorageError('there is no such document', { hint: listingHint })
  return found
}

/**
 * Merges an update into a document of a running server. Creates the document if it does not exist.
 * @throws StorageError
 */
export async function applyOnline(
  server: OnlineServer,
  path: DocumentPath,
  bytes: Uint8Array,
): Promise<PutReport> {
  const update = Buffer.from(bytes).toString('base64')
  const created = !(await exists(server, path))
  const query = { ...path, update, create: true }
  return reportOf(created, (await callOnline(server, '/v2/crdt/apply', query, writtenSchema)).data)
}

/**
 * Replaces the content of a root on a running server. Creates the document if it does not exist.
 * @throws StorageError
 */
export async function replaceOnline(
  server: OnlineServer,
  path: DocumentPath,
  content: NewContent,
): Promise<PutReport> {
  const created = !(await exists(server, path))
  const query = { ...path, ...content, upsert: true }
  return reportOf(created, (await callOnline(server, '/v2/crdt/update', query, writtenSchema)).data)
}

function reportOf(created: boolean, written: Omit<PutReport, 'created'>): PutReport {
  const { changed, bytes, insertions, deletions } = written
  if (insertions === undefined || deletions === undefined) return { created, changed, bytes }
  return { created, changed, bytes, insertions, deletions }
}

/**
 * Returns whether the document has the editor. Requests the format `roots`, because that response does not
 * contain the content.
 */
async function exists(server: OnlineServer, path: DocumentPath): Promise<boolean> {
  const query = { ...path, format: 'roots' }
  const found = await nullIfNotFound(callOnline(server, '/v2/crdt/get', query, editorsSchema))
  return found !== null && found.data.length > 0
}
