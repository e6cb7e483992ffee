import type { Clock } from '../clock.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import { OrganizationStore } from '../directory/organizations/organization-store.ts'
import type { AccessType } from '../directory/store/records.ts'
import type { Engine } from '../engine/engine.ts'
import { EventRecorder } from '../events/event-recorder.ts'
import { createLog } from '../log.ts'

/**
 * Returns the services that read and write the records in the store of a stopped server. These services
 * delete nothing, and publish no events.
 * @param defaultAccess access type of new documents
 */
export function recordsOf(
  engine: Engine,
  clock: Clock,
  defaultAccess: AccessType,
): Pick<Directory, 'organizations' | 'documents'> & RecordStore {
  const events = new EventRecorder(clock, () => false)
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
