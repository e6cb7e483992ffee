import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Engine } from '../store/engine.ts'
import { EditActivityRecorder } from './documents/edit-activity-recorder.ts'
import { VisitRecorder } from './documents/visit-recorder.ts'
import type { OrganizationStore } from './organizations/organization-store.ts'
import { PermissionService } from './permissions/permission-service.ts'
import type { CascadeHandler } from './removal/cascade-handler.ts'
import { CascadeRemoval } from './removal/cascade-removal.ts'
import { RemovalService } from './removal/removal-service.ts'
import { SubjectRemoval } from './removal/subject-removal.ts'
import { ActivityService } from './services/activity-service.ts'
import { DocumentService } from './services/document-service.ts'
import { FolderService } from './services/folder-service.ts'
import { GroupService } from './services/group-service.ts'
import { OrganizationService } from './services/organization-service.ts'
import { UserService } from './services/user-service.ts'
import type { AccessType } from './store/records.ts'

/** The services for organizations and everything in them. */
export interface Directory {
  readonly organizations: OrganizationService
  readonly documents: DocumentService
  readonly folders: FolderService
  readonly users: UserService
  readonly groups: GroupService
  readonly permissions: PermissionService
  readonly activities: ActivityService
  /**
   * Records the edits of users as activities. Call its `start` method, and its `stop` method after the rooms
   * are closed.
   */
  readonly edits: EditActivityRecorder
  /**
   * Records joins and leaves. Call its `start` method, and its `stop` method before clients are disconnected.
   */
  readonly visits: VisitRecorder
  /**
   * Removes the contents of deleted resources. Call its `start` method, and its `stop` method before the
   * engine is closed.
   */
  readonly removals: RemovalService
}

interface DirectoryOptions {
  readonly store: OrganizationStore
  readonly clock: Clock
  readonly log: Log
  /**
   * The handlers of the modules that store data for resources of organizations, in the order in which they
   * are called.
   */
  readonly cascade: readonly CascadeHandler[]
  readonly events: EventRecorder
  /** Window in ms. All edits of one user to one editor within a window become one activity. */
  readonly editWindowMs: number
  /** Time in ms. If a user returns to a document within this time, the user counts as not having left. */
  readonly awayMs: number
  /** The access type of new documents and folders that do not inherit an access type. */
  readonly defaultAccess: AccessType
}

export function createDirectory(
  engine: Engine,
  { store, clock, log, events, editWindowMs, awayMs, defaultAccess, cascade }: DirectoryOptions,
): Directory {
  const { kv, log: documentLog, bus, queue, fences } = engine
  const removal = new CascadeRemoval({ kv, log: documentLog, bus, store, cascade })
  const removals = new RemovalService({ engine, removal, clock, log })
  const subjectRemoval = new SubjectRemoval(store, cascade)
  const organizations = new OrganizationService({ kv, store, removals, clock })
  return {
    organizations,
    documents: new DocumentService({ store, organizations, removals, clock, fences, defaultAccess }),
    folders: new FolderService(store, removals, clock, defaultAccess),
    users: new UserService(store, clock, subjectRemoval),
    groups: new GroupService(store, clock, subjectRemoval),
    permissions: new PermissionService(store, clock),
    activities: new ActivityService(store, events),
    edits: new EditActivityRecorder({
      store,
      events,
      queue,
      clock,
      log,
      windowMs: editWindowMs,
    }),
    visits: new VisitRecorder({ engine, store, events, clock, log, awayMs }),
    removals,
  }
}
