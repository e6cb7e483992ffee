import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { CascadeHandler } from './organizations/cascade-handler.ts'
import type { OrganizationStore } from './organizations/organization-store.ts'
import type { AccessType } from './store/records.ts'

/** What the services of a directory have in common. */
export interface DirectoryOptions {
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
  /** Time in ms for which deleted resources can be restored; 0: their data is deleted at once. */
  readonly keepDeletedMs: number
}
