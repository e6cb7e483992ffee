import type { Reading } from '../content/reading.ts'
import { readDocument } from '../content/reading.ts'
import type { DocumentLog } from '../engine/engine.ts'
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
import { openToRead, type StorePlace } from '../storage/stopped.ts'
import { listingHint } from './listing-hints.ts'
import { DocumentRefused } from './merge.ts'
import { type Put, Target, type TargetOptions } from './target.ts'

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
  place: StorePlace,
  address: DocumentAddress,
  reading: Reading,
): Promise<ShownDocument> {
  const store = await openToRead(place)
  try {
    return await readStored(store.engine.log, address, reading)
  } finally {
    await store.close()
  }
}

/** @throws StorageError, CorruptRecord */
export async function readStored(
  log: DocumentLog,
  address: DocumentAddress,
  reading: Reading,
): Promise<ShownDocument> {
  const { loaded, state } = await loadRoom(log, addressKey(address))
  if (loaded.state !== 'live') throw noDocument()
  return refusedAsProblem(async () => readDocument(state.doc, reading))
}

export const noDocument = (): StorageError =>
  new StorageError('there is no such document', { hint: listingHint })

/**
 * Merges an update into a document of the store of a stopped server, or makes one of it.
 * @throws StorageError, EngineOpenError, StoreUnavailable
 */
export async function putStopped(
  place: StorePlace,
  address: DocumentAddress,
  bytes: Uint8Array,
  limits: Omit<TargetOptions, 'deleted'>,
): Promise<Put['is']> {
  const target = await Target.open(place, { ...limits, deleted: 'recreate' })
  try {
    await target.require(address)
    return (await target.add(address, bytes)).is
  } catch (error) {
    if (error instanceof DocumentRefused) throw new StorageError(error.message, { cause: error })
    throw error
  } finally {
    await target.close()
  }
}

/** What the store has not is for the operator to know. @throws StorageError */
export async function refusedAsProblem<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const hint = error.status === 'NOT_FOUND' ? { hint: listingHint } : {}
    throw new StorageError(error.message, { cause: error, ...hint })
  }
}
