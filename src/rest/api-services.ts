import type { BranchService } from '../capabilities/branches/branch-service.ts'
import type { CallbackTester } from '../capabilities/callbacks/callback-tester.ts'
import type { DocumentLoader } from '../capabilities/callbacks/document-loader.ts'
import type { AnnotationService } from '../capabilities/comments/annotation-service.ts'
import type { LocationService } from '../capabilities/comments/location-service.ts'
import type { ReactionService } from '../capabilities/comments/reaction-service.ts'
import type { ThreadService } from '../capabilities/comments/thread-service.ts'
import type { DecisionMemory } from '../capabilities/decisions/decision-memory.ts'
import type { FeedService } from '../capabilities/feed/feed-service.ts'
import type { VersionService } from '../capabilities/history/version-service.ts'
import type { NotificationConfigService } from '../capabilities/notifications/notification-config-service.ts'
import type { NotificationService } from '../capabilities/notifications/notification-service.ts'
import type { MetricsHistory } from '../capabilities/observability/metrics-history.ts'
import type { CallbackConfigService } from '../capabilities/subscriptions/callbacks/callback-config-service.ts'
import type { DeliveryService } from '../capabilities/subscriptions/deliveries/delivery-service.ts'
import type { EndpointService } from '../capabilities/subscriptions/endpoints/endpoint-service.ts'
import type { WebhookConfigService } from '../capabilities/subscriptions/webhook-config-service.ts'
import type { UsageModule } from '../capabilities/usage/create-usage.ts'
import type { UserDataService } from '../capabilities/userdata/user-data-service.ts'
import type { AgentAccess } from '../core/access/agents/agent-access.ts'
import type { AccessReader } from '../core/access/roles/document-access.ts'
import type { PermissionReporter } from '../core/access/roles/permission-report.ts'
import type { RealtimeTokens } from '../core/access/tokens/realtime-tokens.ts'
import type { AuditLog } from '../core/audit/log.ts'
import type { RecentRequests } from '../core/audit/recent-requests.ts'
import type { Clock } from '../core/base/clock.ts'
import type { CallQuota } from '../core/directory/call-quota.ts'
import type { DocumentService } from '../core/directory/documents/document-service.ts'
import type { EditActivityRecorder } from '../core/directory/documents/edit-activity-recorder.ts'
import type { FolderService } from '../core/directory/documents/folder-service.ts'
import type { ActivityService } from '../core/directory/organizations/activity-service.ts'
import type { GroupService } from '../core/directory/organizations/group-service.ts'
import type { OrganizationService } from '../core/directory/organizations/organization-service.ts'
import type { UserService } from '../core/directory/organizations/user-service.ts'
import type { PermissionService } from '../core/directory/permissions/permission-service.ts'
import type { SchemaService } from '../core/directory/schemas/schema-service.ts'
import type { StorageQuota } from '../core/directory/storage-quota.ts'
import type { AccessType } from '../core/directory/store/records.ts'
import type { Tenancy } from '../core/directory/tenants/tenancy.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { DestinationPolicy } from '../core/outgoing/destination-policy.ts'
import type { MinuteLimiter } from '../core/quota/rate-limiter.ts'
import type { RoomRegistry } from '../core/rooms/room/room-registry.ts'
import type { DocumentLog } from '../core/store/engine.ts'
import type { PageTokens } from './paging/page-tokens.ts'

/** Services that operations use. */
export interface ApiServices extends Tenancy {
  readonly tokens: RealtimeTokens
  readonly accessReader: AccessReader
  /** Identifies agents, and decides what they may do. */
  readonly agents: AgentAccess
  readonly rooms: RoomRegistry
  /** Loads editors that do not exist from the backend of their API key. */
  readonly loader: Pick<DocumentLoader, 'ready'>
  readonly versions: VersionService
  readonly branches: BranchService
  readonly organizations: OrganizationService
  readonly documents: DocumentService
  readonly folders: FolderService
  readonly users: UserService
  readonly groups: GroupService
  readonly permissions: PermissionService
  readonly activities: ActivityService
  readonly edits: Pick<EditActivityRecorder, 'announceDeletion' | 'recordDeletion'>
  readonly annotations: AnnotationService
  readonly threads: ThreadService
  readonly reactions: ReactionService
  readonly locations: LocationService
  readonly memory: DecisionMemory
  /** Schemas of content, and the editors to which they are attached. */
  readonly schemas: SchemaService
  readonly permissionReader: PermissionReporter
  readonly notifications: NotificationService
  readonly notificationConfigs: NotificationConfigService
  readonly userData: UserDataService
  readonly webhookConfigs: WebhookConfigService
  readonly endpoints: EndpointService
  readonly callbackConfigs: CallbackConfigService
  readonly callbackTester: CallbackTester
  readonly deliveries: DeliveryService
  /** Decides to which destinations webhooks and callbacks are sent. */
  readonly destinations: Pick<DestinationPolicy, 'problemOf'>
  readonly feed: FeedService
  readonly pageTokens: PageTokens
  readonly storage: StorageQuota
  readonly callQuota: CallQuota
  readonly usage: Pick<UsageModule, 'meter' | 'reader'>
  readonly audit: AuditLog
  readonly recent: RecentRequests
  /** The logs of documents. Their content is accessible only through `rooms`. */
  readonly log: Pick<DocumentLog, 'heads' | 'list'>
  /** Rate limit of the reads of a workspace; null: unlimited. */
  readonly workspaceReads: MinuteLimiter | null
  readonly metrics: Metrics
  readonly metricsHistory: Pick<MetricsHistory, 'read'>
  /** Token that values of the whole server require; null: none. */
  readonly metricsToken: string | null
  /** Name of this node of the cluster. */
  readonly node: string
  readonly clock: Clock
  /**
   * Whether calls create missing resources that they refer to. The member `createMissing` of a call overrides
   * this setting.
   */
  readonly createMissing: boolean
  /** Access type of documents for which none is set. */
  readonly defaultAccess: AccessType
  /** URL at which clients reach the server, without a slash at the end. */
  readonly publicUrl: string
  /** Maximum bytes of the content in one response. */
  readonly responseBytesMax: number
}
