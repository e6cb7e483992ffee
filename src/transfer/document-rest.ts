import type { Reading } from '../content/reading.ts'
import { messageOf } from '../errors.ts'
import type { DocumentPath } from '../model/address.ts'
import { StorageError } from '../storage/problem.ts'
import { refusalOf } from '../storage/sources.ts'
import type { ShownDocument } from './document.ts'

/** A server that serves, and what it wants to be shown. */
export interface ServingServer {
  readonly url: string
  readonly apiKey: string
  readonly authToken: string
}

/** Reads one document by REST. @throws StorageError with what the server says */
export async function getServing(
  server: ServingServer,
  path: DocumentPath,
  reading: Reading,
): Promise<ShownDocument> {
  const [found] = (await call(server, '/v2/crdt/get', { ...path, ...reading })) as readonly ShownDocument[]
  if (found === undefined) throw new StorageError('there is no such document')
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

async function call({ url, apiKey, authToken }: ServingServer, path: string, data: object): Promise<unknown> {
  const response = await fetch(new URL(path, url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': apiKey,
      'x-service-auth-token': authToken,
    },
    body: JSON.stringify({ data }),
    redirect: 'error',
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
    throw new StorageError(`${url} cannot be reached: ${messageOf(cause)}`)
  })
  if (!response.ok) throw new StorageError(`${url} refuses: ${await refusalOf(response)}`)
  return ((await response.json()) as { result: { data: unknown } }).result.data
}
