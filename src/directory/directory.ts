import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { Events } from '../events/events.ts'
import type { Log } from '../log.ts'
import { Activities } from './activities.ts'
import { Documents } from './documents.ts'
import { Edits } from './edits.ts'
import { Folders } from './folders.ts'
import { Groups } from './groups.ts'
import type { OrganizationStore } from './organization-store.ts'
import { Organizations } from './organizations.ts'
import { Permissions } from './permissions.ts'
import { type ForgetDocument, type ForgetOrganization, Removal } from './removal.ts'
import { Removals } from './removals.ts'
import { Users } from './users.ts'
import { VisitEvents } from './visit-events.ts'

/** What organizations are made of. */
export interface Directory {
  readonly organizations: Organizations
  readonly documents: Documents
  readonly folders: Folders
  readonly users: Users
  readonly groups: Groups
  readonly permissions: Permissions
  readonly activities: Activities
  /** To be started, and stopped after rooms are closed. */
  readonly edits: Edits
  /** To be started, and stopped before clients are. */
  readonly visits: VisitEvents
  /** To be started, and stopped before the engine is closed. */
  readonly removals: Removals
}

interface DirectoryParts {
  readonly store: OrganizationStore
  readonly clock: Clock
  readonly log: Log
  readonly forget: ForgetOrganization
  readonly forgetDocument: ForgetDocument
  readonly events: Events
  /** One activity stands for the edits of a user to an editor in this time. */
  readonly editWindowMs: number
  /** Who comes back to a document within this time has not been away. */
  readonly awayMs: number
}

export function createDirectory(
  engine: Engine,
  { store, clock, log, forget, forgetDocument, events, editWindowMs, awayMs }: DirectoryParts,
): Directory {
  const { kv, log: documentLog, bus, queue, cluster } = engine
  const removal = new Removal({ kv, log: documentLog, bus, cluster, store, forget, forgetDocument })
  const removals = new Removals({ engine, removal, clock, log })
  const organizations = new Organizations({ kv, store, removals, clock })
  return {
    organizations,
    documents: new Documents({ store, organizations, removals, clock }),
    folders: new Folders(store, removals, clock),
    users: new Users(store, clock),
    groups: new Groups(store, clock),
    permissions: new Permissions(store, clock),
    activities: new Activities(store, events),
    edits: new Edits({
      store,
      queue,
      clock,
      log,
      windowMs: editWindowMs,
      sharedBy: cluster.isShared ? cluster.self : null,
    }),
    visits: new VisitEvents({ engine, store, events, clock, log, awayMs }),
    removals,
  }
}
