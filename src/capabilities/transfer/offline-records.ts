import type { Clock } from '../../core/base/clock.ts'
import { createLog } from '../../core/base/log.ts'
import { createDirectory, type Directory } from '../../core/directory/directory.ts'
import { OrganizationStore } from '../../core/directory/organizations/organization-store.ts'
import type { AccessType } from '../../core/directory/store/records.ts'
import { EventRecorder } from '../../core/events/event-recorder.ts'
import type { Tenant } from '../../core/model/address.ts'
import type { Engine } from '../../core/store/engine.ts'

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
