import type { Engine } from '../store/engine.ts'
import type { DirectoryOptions } from './directory-options.ts'
import { EditActivityRecorder } from './documents/edit-activity-recorder.ts'
import { VisitRecorder } from './documents/visit-recorder.ts'
import { PermissionService } from './permissions/permission-service.ts'
import { CascadeRemoval } from './removal/cascade-removal.ts'
import { DeletionStore } from './removal/deletion-store.ts'
import { RemovalService } from './removal/removal-service.ts'
import { SubjectRemoval } from './removal/subject-removal.ts'
import { ActivityService } from './services/activity-service.ts'
import { DeletionService } from './services/deletion-service.ts'
import { DocumentService } from './services/document-service.ts'
import { FolderService } from './services/folder-service.ts'
import { GroupService } from './services/group-service.ts'
import { OrganizationService } from './services/organization-service.ts'
import { UserService } from './services/user-service.ts'

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
  readonly deletions: DeletionService
}

export function createDirectory(engine: Engine, options: DirectoryOptions): Directory {
  const { kv, fences } = engine
  const { store, clock, log, events, defaultAccess, cascade, keepDeletedMs } = options
  const deletionStore = new DeletionStore(kv, store)
  const removal = new CascadeRemoval(engine, store, cascade, deletionStore)
  const removals = new RemovalService(engine, removal, clock, log, keepDeletedMs)
  const subjectRemoval = new SubjectRemoval(store, cascade)
  const organizations = new OrganizationService(kv, store, removals, clock)
  return {
    organizations,
    documents: new DocumentService({ store, organizations, removals, clock, fences, defaultAccess }),
    folders: new FolderService(store, removals, clock, defaultAccess),
    users: new UserService(store, clock, subjectRemoval),
    groups: new GroupService(store, clock, subjectRemoval),
    permissions: new PermissionService(store, clock),
    activities: new ActivityService(store, events),
    edits: new EditActivityRecorder(engine, options),
    visits: new VisitRecorder(engine, options),
    removals,
    deletions: new DeletionService(deletionStore, removals),
  }
}
