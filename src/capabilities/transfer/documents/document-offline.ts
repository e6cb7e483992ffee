import { ApiError } from '../../../core/base/errors.ts'
import { type DocumentReading, readDocument } from '../../../core/content/read-document.ts'
import {
  addressKey,
  type DocumentAddress,
  type DocumentPath,
  decodeSegment,
  idProblem,
} from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { DocumentRejectedError } from '../../../core/rooms/log/merge-stored.ts'
import type { DocumentLog } from '../../../core/store/engine.ts'
import type { StoreLocation } from '../../backups/storage/offline-store.ts'
import { openTenant } from '../../backups/storage/open-tenant.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import { ImportTarget, type PutResult, type TargetOptions } from './import-target.ts'
import { listingHint, versionsHint } from './listing-hints.ts'

/** A root of a document, in the form of the response to `POST /v2/crdt/get`. */
export interface DocumentRoot {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
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

/**
 * Reads one document from the store of a stopped server.
 * @throws StorageError, EngineOpenError, BootstrapError, CorruptRecordError
 */
export async function readOffline(
  place: StoreLocation,
  address: DocumentAddress,
  reading: DocumentReading,
): Promise<DocumentRoot> {
  const store = await openTenant(place, address)
  try {
    return await readStoredDocument(store.engine.log, address, reading)
  } finally {
    await store.close()
  }
}

/** Reads one document from an open store. @throws StorageError, CorruptRecordError */
export async function readStoredDocument(
  log: DocumentLog,
  address: DocumentAddress,
  reading: DocumentReading,
): Promise<DocumentRoot> {
  const { loaded, state } = await loadRoom(log, addressKey(address), { isBounded: false })
  if (loaded.state !== 'live') throw noDocument()
  return toStorageError(async () => readDocument(state.doc, reading))
}

export const noDocument = (): StorageError =>
  new StorageError('there is no such document', { hint: listingHint })

/** The new content of a root. If `contentKey` is undefined, the function `contentKeyOf` chooses the root. */
export interface NewContent extends Omit<DocumentRoot, 'contentKey'> {
  readonly contentKey: string | undefined
}

/** Result of a `put` command. */
export interface PutReport {
  /** True if the command created the editor. */
  readonly created: boolean
  readonly changed: boolean
  /** Size of the update that was written, in bytes. */
  readonly bytes: number
  /** Numbers of insertions and deletions (see `Change`). Present only if the command replaced content. */
  readonly insertions?: number
  readonly deletions?: number
}

type Limits = Omit<TargetOptions, 'deleted'>

/**
 * Merges an update into a document of a stopped server's store. Creates the document if it does not exist.
 * @throws StorageError, EngineOpenError, StoreUnavailableError
 */
export const putUpdateStopped = (
  place: StoreLocation,
  address: DocumentAddress,
  bytes: Uint8Array,
  limits: Limits,
): Promise<PutReport> =>
  withTarget(place, address, limits, async (target) => reportOf(await target.add(address, bytes)))

/**
 * Replaces the content of a root in a stopped server's store. Creates the document if it does not exist.
 * @throws StorageError, EngineOpenError, StoreUnavailableError
 */
export const putContentStopped = (
  place: StoreLocation,
  address: DocumentAddress,
  content: NewContent,
  limits: Limits,
): Promise<PutReport> =>
  withTarget(place, address, limits, async (target) => {
    const { change, ...put } = await target.replace(address, content)
    return { ...reportOf(put), insertions: change.insertions, deletions: change.deletions }
  })

const reportOf = ({ is, writtenBytes }: PutResult): PutReport => ({
  created: is === 'made',
  changed: is !== 'there',
  bytes: writtenBytes,
})

async function withTarget<T>(
  place: StoreLocation,
  address: DocumentAddress,
  limits: Limits,
  work: (target: ImportTarget) => Promise<T>,
): Promise<T> {
  const target = await ImportTarget.open(place, { ...limits, deleted: 'recreate' })
  try {
    await target.require(address)
    return await work(target)
  } catch (error) {
    if (error instanceof DocumentRejectedError) throw new StorageError(error.message, { cause: error })
    throw error
  } finally {
    await target.close()
  }
}

/** Runs `work`, and converts each ApiError to an error for the operator. @throws StorageError */
export async function toStorageError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const listed = error.code === 'version/not-found' ? versionsHint : listingHint
    const hint = error.status === 'NOT_FOUND' ? { hint: listed } : {}
    throw new StorageError(error.message, { cause: error, ...hint })
  }
}
