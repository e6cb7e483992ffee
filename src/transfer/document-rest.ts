import type { Reading } from '../content/reading.ts'
import type { DocumentPath } from '../model/address.ts'
import { StorageError } from '../storage/problem.ts'
import type { ShownDocument } from './document.ts'
import { listingHint } from './listing-hints.ts'
import { callServing, type ServingServer } from './serving.ts'

/** Reads one document by REST. @throws StorageError with what the server says */
export async function getServing(
  server: ServingServer,
  path: DocumentPath,
  reading: Reading,
): Promise<ShownDocument> {
  const [found] = (await call(server, '/v2/crdt/get', { ...path, ...reading })) as readonly ShownDocument[]
  if (found === undefined) throw new StorageError('there is no such document', { hint: listingHint })
  return found
}

/** Merges an update into a document, or makes one of it. @throws StorageError */
export async function putUpdateServing(
  server: ServingServer,
  path: DocumentPath,
  bytes: Uint8Array,
): Promise<'changed' | 'there'> {
  const update = Buffer.from(bytes).toString('base64')
  return changeOf(await call(server, '/v2/crdt/apply', { ...path, update, create: true }))
}

/** Replaces the content of a root, or makes a document of it. @throws StorageError */
export async function putContentServing(
  server: ServingServer,
  path: DocumentPath,
  content: ShownDocument,
): Promise<'changed' | 'there'> {
  return changeOf(await call(server, '/v2/crdt/update', { ...path, ...content, upsert: true }))
}

const changeOf = (data: unknown): 'changed' | 'there' =>
  (data as { changed: boolean }).changed ? 'changed' : 'there'

const call = async (server: ServingServer, path: string, data: object): Promise<unknown> =>
  (await callServing(server, path, data)).data
