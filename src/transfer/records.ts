import type { Clock } from '../clock.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import { OrganizationStore } from '../directory/organization-store.ts'
import type { Engine } from '../engine/engine.ts'
import { Events } from '../events/events.ts'
import { createLog } from '../log.ts'

const nothing = (): Promise<void> => Promise.resolve()

/** The records in the store of a stopped server: nothing is removed, and nobody told. */
export function recordsOf(
  engine: Engine,
  clock: Clock,
): Pick<Directory, 'organizations' | 'documents'> & Store {
  const events = new Events(clock, () => false)
  const store = new OrganizationStore(engine, events)
  const unused = { forget: nothing, forgetDocument: nothing, editWindowMs: 0, awayMs: 0 }
  const parts = { store, clock, log: createLog('silent'), events, ...unused }
  return { ...createDirectory(engine, parts), store }
}

interface Store {
  readonly store: OrganizationStore
}
