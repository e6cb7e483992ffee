import type { Clock } from '../clock.ts'
import type { Reading } from '../content/reading.ts'
import { readDocument } from '../content/reading.ts'
import { Tenants } from '../directory/tenants.ts'
import { ApiError } from '../errors.ts'
import {
  addressKey,
  type DocumentAddress,
  type DocumentPath,
  decodeSegment,
  idProblem,
} from '../model/address.ts'
import { loadRoom } from '../rooms/loading.ts'
import { StorageError } from '../storage/problem.ts'
import { openStopped } from '../storage/stopped.ts'
import { DocumentRestorer, PastClock, type Placed } from './restore-document.ts'
import { documentsOf } from './restore-records.ts'

/** A root of a document, as `POST /v2/crdt/get` shows it. */
export interface ShownDocument {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/** The document that `organization/document/editor` names, percent-encoded. @throws StorageError */
export function parsePath(text: string): DocumentPath {
  const segments = text.split('/').map(decodeSegment)
  const [organizationId, documentId, editorId, ...others] = segments
  if (organizationId == null || documentId == null || editorId == null || others.length > 0)
    throw new StorageError(
      `${JSON.stringify(text)} is no address: organization/document/editor, each percent-encoded`,
    )
  for (const id of [organizationId, documentId, editorId]) {
    const problem = idProblem(id)
    if (problem !== null) throw new StorageError(`the id ${JSON.stringify(id)} ${problem}`)
  }
  return { organizationId, documentId, editorId }
}

/** Reads one document from the store of a stopped server. @throws StorageError, EngineOpenError, CorruptRecord */
export async function getStopped(
  directory: string,
  address: DocumentAddress,
  reading: Reading,
): Promise<ShownDocument> {
  const engine = await openStopped(directory, 'open')
  try {
    const { loaded, state } = await loadRoom(engine.log, addressKey(address))
    if (loaded.state !== 'live') throw new StorageError('there is no such document')
    return asStorageError(() => readDocument(state.doc, reading))
  } finally {
    await engine.close()
  }
}

/** Merges an update into a document of the store of a stopped server, or makes one of it. @throws as `getStopped` */
export async function putStopped(
  directory: string,
  address: DocumentAddress,
  bytes: Uint8Array,
  clock: Clock,
): Promise<Placed> {
  const engine = await openStopped(directory, 'refuse')
  try {
    if (!(await new Tenants(engine.kv).isTenant(address)))
      throw new StorageError(`the store has no API key ${JSON.stringify(address.apiKey)} of that workspace`)
    const documents = new DocumentRestorer(engine.log, new PastClock())
    const document = { address, bytes, log: null }
    await documents.plan(document)
    await ensureRecords(engine, address, clock)
    return await documents.place(document)
  } finally {
    await engine.close()
  }
}

async function ensureRecords(
  engine: Parameters<typeof documentsOf>[0],
  address: DocumentAddress,
  clock: Clock,
): Promise<void> {
  const records = documentsOf(engine, clock)
  try {
    await records.ensure(address, address.documentId)
    await records.requireEnabled(address, address.documentId)
  } catch (error) {
    throw forOperator(error)
  }
}

function asStorageError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw forOperator(error)
  }
}

const forOperator = (error: unknown): unknown =>
  error instanceof ApiError ? new StorageError(error.message, { cause: error }) : error
