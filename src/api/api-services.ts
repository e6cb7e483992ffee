import type { AgentAccess } from '../access/agents/agent-access.ts'
import type { AccessReader } from '../access/roles/document-access.ts'
import type { PermissionReporter } from '../access/roles/permission-report.ts'
import type { RealtimeTokens } from '../access/tokens/realtime-tokens.ts'
import type { AuditLog } from '../audit/log.ts'
import type { RecentRequests } from '../audit/recent-requests.ts'
import type { BranchService } from '../branches/branch-service.ts'
import type { CallbackTester } from '../callbacks/callback-tester.ts'
import type { DocumentLoader } from '../callbacks/document-loader.ts'
import type { Clock } from '../clock.ts'
import type { AnnotationService } from '../comments/annotation-service.ts'
import type { LocationService } from '../comments/location-service.ts'
import type { ReactionService } from '../comments/reaction-service.ts'
import type { ThreadService } from '../comments/thread-service.ts'
import type { DecisionMemory } from '../decisions/decision-memory.ts'
import type { CallQuota } from '../directory/call-quota.ts'
import type { DocumentService } from '../directory/documents/document-service.ts'
import type { EditActivityRecorder } from '../directory/documents/edit-activity-recorder.ts'
import type { FolderService } from '../directory/documents/folder-service.ts'
import type { ActivityService } from '../directory/organizations/activity-service.ts'
import type { GroupService } from '../directory/organizations/group-service.ts'
import type { OrganizationService } from '../directory/organizations/organization-service.ts'
import type { UserService } from '../directory/organizations/user-service.ts'
import type { PermissionService } from '../directory/permissions/permission-service.ts'
import type { SchemaService } from '../directory/schemas/schema-service.ts'
import type { StorageQuota } from '../directory/storage-quota.ts'
import type { AccessType } from '../directory/store/records.ts'
import type { Tenancy } from '../directory/tenants/tenancy.ts'
import type { DocumentLog } from '../engine/engine.ts'
import type { FeedService } from '../feed/feed-service.ts'
import type { Metrics } from '../metrics.ts'
import type { MetricsHistory } from '../metrics-history.ts'
import type { NotificationConfigService } from '../notifications/notification-config-service.ts'
import type { NotificationService } from '../notifications/notification-service.ts'
import type { DestinationPolicy } from '../outgoing/destination-policy.ts'
import type { MinuteLimiter } from '../quota/rate-limiter.ts'
import type { RoomRegistry } from '../rooms/room/room-registry.ts'
import type { CallbackConfigService } from '../subscriptions/callbacks/callback-config-service.ts'
import type { DeliveryService } from '../subscriptions/deliveries/delivery-service.ts'
import type { EndpointService } from '../subscriptions/endpoints/endpoint-service.ts'
import type { WebhookConfigService } from '../subscriptions/webhook-config-service.ts'
import type { UsageModule } from '../usage/create-usage.ts'
import type { UserDataService } from '../userdata/user-data-service.ts'
import type { VersionService } from '../versions/version-service.ts'
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
