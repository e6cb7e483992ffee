import type { Clock } from '../clock.ts'
import { createDirectory } from '../directory/directory.ts'
import type { Documents } from '../directory/documents.ts'
import { OrganizationStore } from '../directory/organization-store.ts'
import type { Engine } from '../engine/engine.ts'
import { Events } from '../events/events.ts'
import { createLog } from '../log.ts'

const nothing = (): Promise<void> => Promise.resolve()

/** The records of documents in the store of a stopped server: nothing is removed, and nobody told. */
export function documentsOf(engine: Engine, clock: Clock): Documents {
  const events = new Events(clock, () => false)
  const store = new OrganizationStore(engine, events)
  const unused = { forget: nothing, forgetDocument: nothing, editWindowMs: 0, awayMs: 0 }
  return createDirectory(engine, { store, clock, log: createLog('silent'), events, ...unused }).documents
}
