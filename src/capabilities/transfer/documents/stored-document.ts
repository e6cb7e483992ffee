import type { Clock } from '../../../core/base/clock.ts'
import { createLog } from '../../../core/base/log.ts'
import { createDirectory, type Directory } from '../../../core/directory/directory.ts'
import { OrganizationStore } from '../../../core/directory/organizations/organization-store.ts'
import type { AccessType } from '../../../core/directory/store/records.ts'
import { EventRecorder } from '../../../core/events/event-recorder.ts'
import type { Tenant } from '../../../core/model/address.ts'
import { loadRoom } from '../../../core/rooms/log/load-room.ts'
import { type ContentSum, contentSum, isSameContent } from '../../../core/rooms/log/merge-stored.ts'
import type { DocumentLog, Engine, Key } from '../../../core/store/engine.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'

/**
 * Returns the services that read and write the records in the store of a stopped server. These services
 * delete nothing. Only the change feed gets their events.
 * @param defaultAccess access type of new documents
 * @param hasFeed whether the change feed of an API key is on
 */
export function recordsOf(
  engine: Engine,
  clock: Clock,
  defaultAccess: AccessType,
  hasFeed: (tenant: Tenant) => boolean = () => false,
): Pick<Directory, 'organizations' | 'documents' | 'folders'> & { readonly store: OrganizationStore } {
  const events = new EventRecorder(clock, hasFeed, undefined, { only: 'feed' })
  const store = new OrganizationStore(engine, events)
  const unused = {
    cascade: [],
    editWindowMs: 0,
    awayMs: 0,
    keepDeletedMs: 0,
    defaultAccess,
  }
  const parts = { store, clock, log: createLog('silent'), events, ...unused }
  return { ...createDirectory(engine, parts), store }
}

export type StoredDocumentState =
  | { readonly state: 'absent' }
  | { readonly state: 'deleted'; readonly epoch: number }
  | {
      readonly state: 'live'
      readonly epoch: number
      readonly head: number
      /** The complete state of the document (encoding V1). */
      readonly bytes: Uint8Array
    }

/** Reads the state of a document from the store. @throws CorruptRecordError, StoreUnavailableError */
export async function readStoredState(log: DocumentLog, doc: Key): Promise<StoredDocumentState> {
  const { loaded, state } = await loadRoom(log, doc, { isBounded: false })
  if (loaded.state !== 'live') return loaded
  const { epoch, head } = loaded
  return { state: 'live', epoch, head, bytes: state.encode() }
}

/**
 * Reads a document from the store after a write, and checks that it has the content that was written.
 * @throws StorageError if the content differs
 */
export async function readBack(log: DocumentLog, doc: Key, content: ContentSum): Promise<void> {
  const stored = await readStoredState(log, doc)
  if (stored.state === 'live' && isSameContent(contentSum(stored.bytes), content)) return
  throw new StorageError(`document ${JSON.stringify(doc)} differs from what was written: run verify`)
}
