import type { PermissionReader } from '../access/permission-report.ts'
import type { Tokens } from '../access/tokens.ts'
import type { AuditLog } from '../audit/log.ts'
import type { Clock } from '../clock.ts'
import type { Annotations } from '../comments/annotations.ts'
import type { Locations } from '../comments/locations.ts'
import type { Reactions } from '../comments/reactions.ts'
import type { Threads } from '../comments/threads.ts'
import type { Activities } from '../directory/activities.ts'
import type { Documents } from '../directory/documents.ts'
import type { Folders } from '../directory/folders.ts'
import type { Groups } from '../directory/groups.ts'
import type { Organizations } from '../directory/organizations.ts'
import type { Permissions } from '../directory/permissions.ts'
import type { Tenancy } from '../directory/tenancy.ts'
import type { Users } from '../directory/users.ts'
import type { DocumentLog } from '../engine/engine.ts'
import type { Memory } from '../memory/memory.ts'
import type { Metrics } from '../metrics.ts'
import type { NotificationConfigs } from '../notifications/configs.ts'
import type { Notifications } from '../notifications/notifications.ts'
import type { MinuteLimiter } from '../quota/rate-limiter.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { WebhookConfigs } from '../subscriptions/configs.ts'
import type { Deliveries } from '../subscriptions/deliveries.ts'
import type { Endpoints } from '../subscriptions/endpoints.ts'
import type { UserData } from '../userdata/user-data.ts'
import type { Versions } from '../versions/versions.ts'
import type { PageTokens } from './page-tokens.ts'

/** What operations work with. */
export interface Services extends Tenancy {
  readonly tokens: Tokens
  readonly rooms: Rooms
  readonly versions: Versions
  readonly organizations: Organizations
  readonly documents: Documents
  readonly folders: Folders
  readonly users: Users
  readonly groups: Groups
  readonly permissions: Permissions
  readonly activities: Activities
  readonly annotations: Annotations
  readonly threads: Threads
  readonly reactions: Reactions
  readonly locations: Locations
  readonly memory: Memory
  readonly permissionReader: PermissionReader
  readonly notifications: Notifications
  readonly notificationConfigs: NotificationConfigs
  readonly userData: UserData
  readonly webhookConfigs: WebhookConfigs
  readonly endpoints: Endpoints
  readonly deliveries: Deliveries
  readonly pageTokens: PageTokens
  readonly audit: AuditLog
  /** Which documents there are; their content is reached through `rooms` only. */
  readonly log: Pick<DocumentLog, 'heads' | 'list'>
  /** Reads of a workspace; null: no limit. */
  readonly workspaceReads: MinuteLimiter | null
  readonly metrics: Metrics
  readonly clock: Clock
  readonly allowSubdocuments: boolean
  /** How clients reach the server, without a slash at its end. */
  readonly publicUrl: string
}
