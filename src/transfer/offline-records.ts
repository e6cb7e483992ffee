import type { Clock } from '../clock.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { AccessType } from '../directory/store/records.ts'
import type { Engine } from '../engine/engine.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { createLog } from '../log.ts'
import type { Tenant } from '../model/address.ts'

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
): Pick<Directory, 'organizations' | 'documents' | 'folders'> & RecordStore {
  const events = new EventRecorder(clock, hasFeed, undefined, { only: 'feed' })
  const store = new OrganizationStore(engine, events)
  const unused = {
    cascade: [],
    editWindowMs: 0,
    awayMs: 0,
    defaultAccess,
  }
  const parts = { store, clock, log: createLog('silent'), events, ...unused }
  return { ...createDirectory(engine, parts), store }
}

interface RecordStore {
  readonly store: OrganizationStore
}
