import type { AccessChangeFeed } from '../core/access/access-change-feed.ts'
import type { AgentAccess } from '../core/access/agents/agent-access.ts'
import type { AllowedOrigins } from '../core/access/allowed-origins.ts'
import type { RealtimeAccess } from '../core/access/realtime-access.ts'
import type { AccessReader } from '../core/access/roles/document-access.ts'
import type { PermissionReporter } from '../core/access/roles/permission-report.ts'
import type { RoleDecider } from '../core/access/roles/role-decision.ts'
import type { RealtimeTokens } from '../core/access/tokens/realtime-tokens.ts'
import type { Audit } from '../core/audit/audit.ts'
import type { RecentRequests } from '../core/audit/recent-requests.ts'
import type { Clock } from '../core/base/clock.ts'
import type { Log } from '../core/base/log.ts'
import type { SpanSource } from '../core/base/span.ts'
import type { Config } from '../core/config/config.ts'
import type { BranchStore } from '../core/directory/branches/branch-store.ts'
import type { CallQuota } from '../core/directory/call-quota.ts'
import type { Directory } from '../core/directory/directory.ts'
import type { OrganizationStore } from '../core/directory/organizations/organization-store.ts'
import type { SchemaService } from '../core/directory/schemas/schema-service.ts'
import type { StorageQuota } from '../core/directory/storage-quota.ts'
import type { Tenancy } from '../core/directory/tenants/tenancy.ts'
import type { UsageSource } from '../core/directory/usage-counts.ts'
import type { UserDataSourceList } from '../core/directory/user-data/user-data-source.ts'
import type { EventRecorder, HasSubscriber } from '../core/events/event-recorder.ts'
import type { Forwarder } from '../core/forwarding/forwarder.ts'
import type { OwnerWork } from '../core/jobs/owner-work.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Tenant } from '../core/model/address.ts'
import type { DestinationPolicy } from '../core/outgoing/destination-policy.ts'
import type { ClusterRates } from '../core/quota/cluster-rates.ts'
import type { LimitReports } from '../core/quota/limit-reports.ts'
import type { MemoryLedger } from '../core/quota/memory-bounds.ts'
import type { MinuteLimiter } from '../core/quota/rate-limiter.ts'
import type { TickShares } from '../core/quota/tick-shares.ts'
import type { EditorLoader } from '../core/rooms/edits/editor-loader.ts'
import type { RoomRegistry } from '../core/rooms/registry/room-registry.ts'
import type { Engine } from '../core/store/engine.ts'
import type { Tracer } from '../core/tracing/trace.ts'
import type { PageTokens } from './page-tokens.ts'

/** What all parts of a server use. */
export interface BaseServices {
  readonly config: Config
  readonly log: Log
  /** Writes traces; undefined if nothing is traced. */
  readonly tracer: Tracer | undefined
  /** Creates the spans of traces (OpenTelemetry); null if no exporter is configured. */
  readonly spans: SpanSource | null
  readonly clock: Clock
  readonly engine: Engine
  /** Time in ms within which a client must finish a message or read sent bytes; see `SlowTransfers`. */
  readonly transferTimeoutMs: number
  readonly metrics: Metrics
  readonly reports: LimitReports
  readonly memoryAccounts: MemoryLedger
  readonly tickShares: TickShares
  readonly tenancy: Tenancy
  readonly auditing: Audit
  readonly recent: RecentRequests
  /** Aborted when the server must not get new clients any more. The server then still answers requests. */
  readonly leaving: AbortSignal
  readonly stopping: AbortSignal
}

/** What the core does by default, and a capability may do instead. */
export interface ReplaceableServices {
  /** Counts the usage. Default: nothing is counted. */
  readonly counts: UsageSource
  /** Decides about users whom no grant gives a role. Default: nobody decides. */
  readonly decider: RoleDecider
  /** Loads editors that do not exist. Default: nothing is loaded. */
  readonly loader: EditorLoader
  /** Whether events are sent. Default: none is. */
  readonly wants: HasSubscriber
}

export interface CoreServices extends BaseServices, ReplaceableServices, Tenancy, Directory {
  readonly store: OrganizationStore
  readonly branchStore: BranchStore
  /** Schemas of content, and the editors to which they are attached. */
  readonly schemas: SchemaService
  readonly storage: StorageQuota
  /** The sources of the data of users. The lists are complete and in order when the server starts. */
  readonly userDataSources: UserDataSourceList
  readonly events: EventRecorder
  readonly rooms: RoomRegistry
  /** Sends requests to the nodes that own their documents. */
  readonly forwarder: Forwarder
  /** Runs background work at the owner of a document. */
  readonly ownerWork: OwnerWork
  readonly tokens: RealtimeTokens
  readonly origins: AllowedOrigins
  readonly accessNews: AccessChangeFeed
  readonly accessReader: AccessReader
  readonly permissionReader: PermissionReporter
  /** Identities of tokens, and their rights. */
  readonly access: RealtimeAccess
  /** Identifies agents, and decides what they may do. */
  readonly agents: AgentAccess
  /** Tenant of callers without credentials; null if credentials are required. */
  readonly defaultTenant: Tenant | null
  /** Decides to which destinations webhooks and callbacks are sent. */
  readonly destinations: DestinationPolicy
  readonly pageTokens: PageTokens
  readonly callQuota: CallQuota
  /** Rate limits that apply to all nodes together. */
  readonly rates: ClusterRates
  /** Rate limit of the reads of a workspace; null: unlimited. */
  readonly workspaceReads: MinuteLimiter | null
  /** URL at which clients reach the server, without a slash at the end. */
  readonly publicUrl: string
}

/** All services of a server. Each capability adds its own to this interface, in its `index.ts`. */
export interface Services extends CoreServices {}
