import type { DocumentReading } from '../../content/read-document.ts'
import type { DocumentPath } from '../../model/address.ts'
import { StorageError } from '../../storage/storage-error.ts'
import type { DocumentRoot, NewContent, PutReport } from './document-offline.ts'
import { listingHint } from './listing-hints.ts'
import { callOnline, type OnlineServer } from './rest-client.ts'

/** Reads one document through the REST API. @throws StorageError with the error of the server */
export async function readOnline(
  server: OnlineServer,
  path: DocumentPath,
  reading: DocumentReading,
): Promise<DocumentRoot> {
  const [found] = (await call(server, '/v2/crdt/get', { ...path, ...reading })) as readonly DocumentRoot[]
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
  return reportOf(created, await call(server, '/v2/crdt/apply', { ...path, update, create: true }))
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
  return reportOf(created, await call(server, '/v2/crdt/update', { ...path, ...content, upsert: true }))
}

function reportOf(created: boolean, data: unknown): PutReport {
  const { changed, bytes, insertions, deletions } = data as PutReport
  if (insertions === undefined || deletions === undefined) return { created, changed, bytes }
  return { created, changed, bytes, insertions, deletions }
}

/**
 * Returns whether the document has the editor. Requests the format `roots`, because that response does not
 * contain the content.
 */
async function exists(server: OnlineServer, path: DocumentPath): Promise<boolean> {
  try {
    return (
      ((await call(server, '/v2/crdt/get', { ...path, format: 'roots' })) as readonly unknown[]).length > 0
    )
  } catch (error) {
    if (error instanceof StorageError && error.message.includes('NOT_FOUND')) return false
    throw error
  }
}

const call = async (server: OnlineServer, path: string, data: object): Promise<unknown> =>
  (await callOnline(server, path, data)).data
