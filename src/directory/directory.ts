import type { Clock } from '../clock.ts'
import type { Engine } from '../engine/engine.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Log } from '../log.ts'
import { DocumentService } from './documents/document-service.ts'
import { EditActivityRecorder } from './documents/edit-activity-recorder.ts'
import { FolderService } from './documents/folder-service.ts'
import { VisitRecorder } from './documents/visit-recorder.ts'
import type { ForgetJudgments } from './judged-comments.ts'
import { ActivityService } from './organizations/activity-service.ts'
import { GroupService } from './organizations/group-service.ts'
import { OrganizationService } from './organizations/organization-service.ts'
import type { OrganizationStore } from './organizations/organization-store.ts'
import { UserService } from './organizations/user-service.ts'
import { PermissionService } from './permissions/permission-service.ts'
import { CascadeRemoval, type DocumentCascade, type OrganizationCascade } from './removal/cascade-removal.ts'
import { RemovalService } from './removal/removal-service.ts'
import type { AccessType } from './store/records.ts'

/** The services for the contents of organizations. */
export interface Directory {
  readonly organizations: OrganizationService
  readonly documents: DocumentService
  readonly folders: FolderService
  readonly users: UserService
  readonly groups: GroupService
  readonly permissions: PermissionService
  readonly activities: ActivityService
  /** Start it; stop it after rooms are closed. */
  readonly edits: EditActivityRecorder
  /** Start it; stop it before clients are disconnected. */
  readonly visits: VisitRecorder
  /** Start it; stop it before the engine is closed. */
  readonly removals: RemovalService
}

interface DirectoryOptions {
  readonly store: OrganizationStore
  readonly clock: Clock
  readonly log: Log
  readonly forget: OrganizationCascade
  readonly forgetDocument: DocumentCascade
  readonly forgetJudgments: ForgetJudgments
  readonly events: EventRecorder
  /** Window in which the edits of a user to an editor become one activity, in ms. */
  readonly editWindowMs: number
  /** A user who returns to a document within this time has not left it, in ms. */
  readonly awayMs: number
  /** The access type of new documents and folders that inherit none. */
  readonly defaultAccess: AccessType
}

export function createDirectory(
  engine: Engine,
  { store, clock, log, events, editWindowMs, awayMs, defaultAccess, ...forgetting }: DirectoryOptions,
): Directory {
  const { kv, log: documentLog, bus, queue, cluster, fences } = engine
  const removal = new CascadeRemoval({ kv, log: documentLog, bus, store, ...forgetting })
  const removals = new RemovalService({ engine, removal, clock, log })
  const organizations = new OrganizationService({ kv, store, removals, clock })
  return {
    organizations,
    documents: new DocumentService({ store, organizations, removals, clock, fences, defaultAccess }),
    folders: new FolderService(store, removals, clock, defaultAccess),
    users: new UserService(store, clock),
    groups: new GroupService(store, clock),
    permissions: new PermissionService(store, clock),
    activities: new ActivityService(store, events),
    edits: new EditActivityRecorder({
      store,
      queue,
      clock,
      log,
      windowMs: editWindowMs,
      node: cluster.self,
    }),
    visits: new VisitRecorder({ engine, store, events, clock, log, awayMs }),
    removals,
  }
}
