import type { BackupSchedule } from '../capabilities/backups/backup-schedule.ts'
import type { ObjectSweeper } from '../capabilities/backups/objects/object-sweeper.ts'
import type { SealedObjects } from '../capabilities/backups/objects/sealed-objects.ts'
import { BranchService } from '../capabilities/branches/branch-service.ts'
import { CallbackCaller } from '../capabilities/callbacks/callback-caller.ts'
import { CallbackDecider } from '../capabilities/callbacks/callback-decider.ts'
import { CallbackTester } from '../capabilities/callbacks/callback-tester.ts'
import { DocumentLoader } from '../capabilities/callbacks/document-loader.ts'
import { type CommentModule, createCommentModule } from '../capabilities/comments/comment-module.ts'
import { participantsOf } from '../capabilities/comments/participants.ts'
import { DecisionMemory } from '../capabilities/decisions/decision-memory.ts'
import { createFeedRemoval, FeedService } from '../capabilities/feed/feed-service.ts'
import { createVersionParts } from '../capabilities/history/create-version-parts.ts'
import { VersionService } from '../capabilities/history/version-service.ts'
import type { MetricsHistory } from '../capabilities/observability/metrics-history.ts'
import { StreamService } from '../capabilities/streams/stream-service.ts'
import type { CallbackFunctions } from '../capabilities/subscriptions/callbacks/callback-functions.ts'
import { createWebhookModule, type WebhookModule } from '../capabilities/subscriptions/webhook-module.ts'
import { createUsage, type UsageModule } from '../capabilities/usage/create-usage.ts'
import { allUserDataSources } from '../capabilities/userdata/all-sources.ts'
import { UserDataService } from '../capabilities/userdata/user-data-service.ts'
import type { ContentServices } from '../capabilities/webhooks/event-content.ts'
import type { EventListeners } from '../capabilities/webhooks/event-listeners.ts'
import { WebhookService } from '../capabilities/webhooks/webhook-service.ts'
import { AccessChangeFeed } from '../core/access/access-change-feed.ts'
import { AllowedOrigins } from '../core/access/allowed-origins.ts'
import { RealtimeAccess } from '../core/access/realtime-access.ts'
import { AccessReader } from '../core/access/roles/document-access.ts'
import type { RoleDecider } from '../core/access/roles/role-decision.ts'
import { createIdentityProvider } from '../core/access/tokens/create-identity-provider.ts'
import { MintedTokens } from '../core/access/tokens/minted.ts'
import { describeClaim } from '../core/access/tokens/misspelled-claims.ts'
import { RealtimeTokens } from '../core/access/tokens/realtime-tokens.ts'
import type { Audit } from '../core/audit/audit.ts'
import type { RecentRequests } from '../core/audit/recent-requests.ts'
import type { Clock } from '../core/base/clock.ts'
import type { Log } from '../core/base/log.ts'
import type { Config } from '../core/config/config.ts'
import { publicUrlOf } from '../core/config/public-url.ts'
import { BranchStore } from '../core/directory/branches/branch-store.ts'
import { CallQuota } from '../core/directory/call-quota.ts'
import { createDirectory, type Directory } from '../core/directory/directory.ts'
import type { OrganizationScope } from '../core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../core/directory/organizations/organization-store.ts'
import { SchemaService } from '../core/directory/schemas/schema-service.ts'
import { StorageQuota } from '../core/directory/storage-quota.ts'
import type { ServerCredentials } from '../core/directory/tenants/credentials-file.ts'
import type { Tenancy } from '../core/directory/tenants/tenancy.ts'
import { ChangeJobs } from '../core/events/change-jobs.ts'
import { ChangeWindows } from '../core/events/change-windows.ts'
import { combineEditListeners, type EditListener } from '../core/events/debounce-windows.ts'
import { EventRecorder, type HasSubscriber } from '../core/events/event-recorder.ts'
import { eventTopic } from '../core/events/outbound-event.ts'
import type { Metrics } from '../core/metrics/metrics.ts'
import type { Tenant } from '../core/model/address.ts'
import { DestinationPolicy } from '../core/outgoing/destination-policy.ts'
import { resolveName } from '../core/outgoing/dns-resolve.ts'
import { ClusterRates } from '../core/quota/cluster-rates.ts'
import type { LimitReports } from '../core/quota/limit-reports.ts'
import type { MemoryLedger } from '../core/quota/memory-bounds.ts'
import type { TickShares } from '../core/quota/tick-shares.ts'
import type { DocumentRegistry } from '../core/rooms/room/room-options.ts'
import { RoomRegistry } from '../core/rooms/room/room-registry.ts'
import type { Engine } from '../core/store/engine.ts'
import type { RejectionLog } from '../core/sync/connect/rejection-log.ts'
import type { SpanSource } from '../core/tracing/span.ts'
import type { Tracer } from '../core/tracing/trace.ts'
import { IdempotencyService } from '../rest/idempotency/idempotency-service.ts'
import { PageTokens } from '../rest/paging/page-tokens.ts'
import { createCascade } from './create-cascade.ts'
import { creationsOf } from './limits-from-config.ts'

/** Dependencies that all parts of a server use. */
export interface ServerBase {
  readonly config: Config
  readonly log: Log
  /** Writes traces; undefined if nothing is traced. */
  readonly tracer: Tracer | undefined
  /** Creates the spans of traces (OpenTelemetry); null if no exporter is configured. */
  readonly spans: SpanSource | null
  readonly rejections: RejectionLog
  readonly clock: Clock
  readonly engine: Engine
  /** Time in ms within which a client must finish a message or read sent bytes; see `SlowTransfers`. */
  readonly transferTimeoutMs: number
  readonly metrics: Metrics
  /** Makes backups at an interval; null if none are configured. */
  readonly backups: BackupSchedule | null
  /** Object storage of the contents of saved versions; null if none is configured. */
  readonly objects: SealedObjects | null
  readonly sweeper: ObjectSweeper | null
  readonly metricsHistory: MetricsHistory
  readonly reports: LimitReports
  readonly memoryAccounts: MemoryLedger
  readonly tickShares: TickShares
  readonly tenancy: Tenancy
  readonly auditing: Audit
  readonly recent: RecentRequests
  /** Callbacks that are functions of this process; null if there are none. */
  readonly functions: CallbackFunctions | null
  readonly listeners: EventListeners
  /** Aborted when the server must not get new clients any more. The server then still answers requests. */
  readonly leaving: AbortSignal
  readonly stopping: AbortSignal
}

/** Services that the edges use. */
export interface ServerServices extends ServerBase {
  readonly tokens: RealtimeTokens
  readonly rooms: RoomRegistry
  readonly versions: VersionService
  readonly branches: BranchService
  readonly organizations: OrganizationStore
  readonly directory: Directory
  readonly memory: DecisionMemory
  readonly schemas: SchemaService
  readonly userData: UserDataService
  readonly comments: CommentModule
  readonly subscribing: WebhookModule
  readonly webhooks: WebhookService
  readonly feed: FeedService
  readonly accessNews: AccessChangeFeed
  readonly accessReader: AccessReader
  readonly origins: AllowedOrigins
  /** Identities of tokens, and their rights. */
  readonly access: RealtimeAccess
  readonly callbacks: CallbackCaller
  readonly callbackTester: CallbackTester
  /** Decides about users whom no grant gives a role. */
  readonly decider: RoleDecider
  readonly destinations: DestinationPolicy
  readonly loader: DocumentLoader
  readonly streams: StreamService
  readonly pageTokens: PageTokens
  readonly idempotentCalls: IdempotencyService
  readonly storage: StorageQuota
  readonly usage: UsageModule
  readonly callQuota: CallQuota
  /** Rate limits that apply to all nodes together. */
  readonly rates: ClusterRates
  /** Tenant of callers without credentials; null if credentials are required. */
  readonly defaultTenant: Tenant | null
}

/** Maximum bytes of pending updates in one room. */
const heldBytesMax = 16_777_216
/**
 * Time in ms for which a room collects awareness changes. A room thus sends at most 25 messages per second.
 */
const awarenessWindowMs = 40
/**
 * Time in ms after which an idle document is converted to bytes. The conversion happens after one to two
 * times this time.
 */
const restMs = 20_000
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Creates all services that are between the store and the edges. */
export function createServices(given: ServerBase, credentials: ServerCredentials): ServerServices {
  const { config, clock, log, tracer, tenancy, metrics } = given
  const storage = new StorageQuota({
    engine: given.engine,
    tenants: tenancy.tenants,
    clock,
    log,
    metrics,
    bytesMax: config.maxStoredBytesPerWorkspace,
  })
  const engine = storage.counting(given.engine)
  const base = { ...given, engine }
  const { workspaceId, apiKey, jwtSecret } = credentials
  const first = { workspaceId, apiKey }
  const subscribing = createWebhookModule(engine, clock, base.functions?.callbacks)
  const wanted: HasSubscriber = (tenant, type) =>
    base.listeners.wants(type) || subscribing.subscriptions.wanted(tenant, type)
  const events = new EventRecorder(clock, wanted, tracer)
  const organizations = new OrganizationStore(engine, events)
  const memory = new DecisionMemory(engine.kv, organizations, clock)
  const schemas = new SchemaService({ kv: engine.kv, organizations, clock })
  const branches = new BranchStore(organizations)
  const feedRemoval = createFeedRemoval(engine, clock)
  const everyMs = config.autoVersionMinutes * 60_000
  const kept = createVersionParts(engine, { organizations, clock, log, everyMs })
  const directory = createDirectory(engine, {
    store: organizations,
    clock,
    log,
    events,
    cascade: createCascade({
      engine,
      organizations,
      memory,
      schemas,
      subscribing,
      versions: kept.store,
      branches,
      feedRemoval,
    }),
    editWindowMs: config.editActivityWindowSeconds * 1000,
    awayMs: config.presenceLeaveDelaySeconds * 1000,
    defaultAccess: config.defaultAccess,
  })
  const notes = combineEditListeners([
    directory.edits.windows,
    changeWindows(base, wanted),
    changeJobs(base, subscribing),
    kept.notes,
  ])
  const rates = clusterRatesOf(base)
  const usage = createUsage({ engine, storage, tenants: tenancy.tenants, clock, log })
  const rooms = createRooms({ ...base, rates, usage }, { directory, branches }, notes)
  base.recent.share(rooms.presence.requests, engine.cluster.self)
  const accessNews = new AccessChangeFeed({ engine })
  const accessReader = new AccessReader(organizations, accessNews, clock, config.defaultAccess)
  const versions = new VersionService({ ...kept, rooms, engine, clock, log })
  const comments = createCommentModule({
    store: organizations,
    organizations: directory.organizations,
    events,
    memory,
    engine,
    clock,
    log,
  })
  const { documents } = directory
  const feed = new FeedService({
    ...base,
    organizations,
    removal: feedRemoval,
    configs: subscribing.feedConfigs,
    subscriptions: subscribing.subscriptions,
  })
  const destinations = new DestinationPolicy(config.webhookAllowlist, resolveName)
  const callbacks = new CallbackCaller({ ...base, destinations, receivers: base.functions?.receivers })
  const { subscriptions } = subscribing
  const { leases } = engine
  const tokens = createTokens(base, credentials, accessNews)
  const decider = new CallbackDecider({ caller: callbacks, subscriptions, clock })
  const origins = new AllowedOrigins({
    domains: tenancy.domains,
    news: accessNews,
    clock,
    own: new URL(publicUrlOf(config)).origin,
  })
  const defaultTenant = config.auth === 'none' ? first : null
  return {
    ...base,
    rooms,
    versions,
    branches: new BranchService({
      store: branches,
      organizations,
      documents,
      rooms,
      versions,
      events,
      judging: comments.judging,
      log: engine.log,
      leases: engine.leases,
      clock,
    }),
    tokens,
    subscribing,
    feed,
    webhooks: createWebhooks(
      base,
      subscribing,
      organizations,
      { rooms, documents, schemas },
      feed,
      destinations,
    ),
    callbacks,
    destinations,
    callbackTester: new CallbackTester({ caller: callbacks, rooms, clock }),
    decider,
    access: new RealtimeAccess({
      tokens,
      origins,
      news: accessNews,
      defaultTenant,
      fences: engine.fences,
      reader: accessReader,
      decider,
      clock,
    }),
    streams: new StreamService({
      ...base,
      rooms,
      documents,
      schemas,
      limits: {
        bytes: config.streamBytes,
        ms: config.streamSeconds * 1000,
        perKey: config.streamsPerKey,
        perAgent: config.streamsPerAgent,
      },
    }),
    loader: new DocumentLoader({
      rooms,
      documents,
      schemas,
      storage,
      caller: callbacks,
      subscriptions,
      leases,
      clock,
    }),
    organizations,
    directory,
    memory,
    schemas,
    userData: new UserDataService({
      engine,
      store: organizations,
      revocations: tenancy.revocations,
      traces: allUserDataSources({
        store: organizations,
        presence: rooms.presence,
        memory,
        log: engine.log,
        kv: engine.kv,
        rooms,
        feed: feedRemoval,
      }),
      clock,
      log,
    }),
    comments,
    accessNews,
    accessReader,
    origins,
    pageTokens: new PageTokens(jwtSecret, config.jwtSecretPrevious),
    idempotentCalls: createIdempotentCalls(base, jwtSecret),
    storage,
    usage,
    callQuota: new CallQuota({ tenants: tenancy.tenants, rates, clock, log }),
    rates,
    defaultTenant,
  }
}

const clusterRatesOf = ({ engine: { bus, cluster }, clock }: ServerBase): ClusterRates =>
  new ClusterRates({ bus, self: cluster.self, clock })

const changeWindows = ({ config, clock, engine, tracer }: ServerBase, wanted: HasSubscriber): EditListener =>
  new ChangeWindows({
    clock,
    windowMs: config.updateEventWindowSeconds * 1000,
    clockSkewMs: engine.cluster.clockSkewMs,
    wanted,
    due: () => engine.bus.publish(eventTopic, new Uint8Array()),
    tracer,
  })

const changeJobs = ({ clock, engine }: ServerBase, { subscriptions }: WebhookModule): EditListener =>
  new ChangeJobs({
    clock,
    wanted: (tenant) => subscriptions.wantsChanges(tenant),
    due: () => engine.bus.publish(eventTopic, new Uint8Array()),
  })

function createRooms(
  {
    config,
    engine,
    clock,
    metrics,
    memoryAccounts,
    reports,
    log,
    tracer,
    spans,
    tenancy,
    rates,
    usage,
  }: ServerBase & Pick<ServerServices, 'rates' | 'usage'>,
  { directory, branches }: { readonly directory: Directory; readonly branches: BranchStore },
  edits: EditListener,
): RoomRegistry {
  const options = {
    documentBytesMax: config.maxDocumentBytes,
    heldBytesMax,
    awarenessWindowMs,
    compactAfterUpdates: config.compactAfterUpdates,
    keepVersionsMs: config.baseVersionSeconds * 1000,
    idleMs: config.idleUnloadSeconds * 1000,
    restMs,
    documentsPerWorkspaceMax: config.maxDocumentsPerWorkspace,
    computeThreads: config.computeThreads,
    threadJobMs: config.threadJobSeconds * 1000,
  }
  const { documents, visits } = directory
  const admit = creationsOf({ config, clock, rates })
  const records: DocumentRegistry = {
    ensure: async (scope, documentId) => void (await documents.ensure(scope, documentId)),
    isGoing: (scope, documentId) => documents.isGoing(scope, documentId),
    mainOf: (address) => documents.mainOf(address),
    rightToChange: (address) => documents.rightToChange(address),
    recordOverlaps: (branch, overlaps) => branches.addOverlaps(branch, overlaps),
    create: async (address) =>
      void (await documents.ensure(address, address.documentId, () => admit(address))),
  }
  const overspent = (workspaceId: string): void => reports.exceeded('integrationMsPerSecond', workspaceId)
  const parts = {
    clock,
    metrics,
    memory: memoryAccounts,
    logger: log,
    tracer,
    spans,
    records,
    edits,
    visits: visits.visits,
    overspent,
    usage: (scope: OrganizationScope) => usage.meter.hold(scope),
    keepsAttribution: (workspaceId: string) => tenancy.attribution.isEnabled(workspaceId),
  }
  return new RoomRegistry(engine, options, parts)
}

function createTokens(
  { config, clock, tenancy, rejections }: ServerBase,
  { jwtSecret, ...first }: ServerCredentials,
  news: AccessChangeFeed,
): RealtimeTokens {
  const { tenants, revocations, mintingSecrets } = tenancy
  return new RealtimeTokens({
    secret: jwtSecret,
    previousSecret: config.jwtSecretPrevious,
    clock,
    isTenant: (tenant) => tenants.isTenant(tenant),
    revokedUntil: (tenant, userId) => revocations.revokedUntil(tenant, userId),
    agentPolicy: config.agentPolicy,
    minted: new MintedTokens({ secrets: mintingSecrets, news, clock }),
    foreign: createIdentityProvider(config, {
      first,
      tenants,
      clock,
      onMisspelledClaim: (claim) => rejections.misspelledClaim(describeClaim(claim)),
    }),
  })
}

const createIdempotentCalls = (
  { config, engine, ...base }: ServerBase,
  jwtSecret: string,
): IdempotencyService =>
  new IdempotencyService({
    ...base,
    kv: engine.kv,
    queue: engine.queue,
    cluster: engine.cluster,
    foreignChanges: engine.foreignChanges,
    secrets: [jwtSecret, config.jwtSecretPrevious].filter((each) => each !== null),
    keepMs: config.idempotencyRetentionHours * hourMs,
  })

function createWebhooks(
  { config, engine, clock, log, tracer, spans, metrics, memoryAccounts, functions, listeners }: ServerBase,
  subscribing: WebhookModule,
  organizations: OrganizationStore,
  editors: ContentServices,
  feed: FeedService,
  destinations: DestinationPolicy,
): WebhookService {
  return new WebhookService({
    ...subscribing,
    feed: feed.writer,
    engine,
    clock,
    log,
    tracer,
    spans,
    metrics,
    organizations,
    participants: (scope, annotationId) => participantsOf(organizations.read(scope), annotationId),
    destinations,
    receivers: functions?.receivers,
    listeners,
    editors,
    contentBytesMax: config.maxWebhookContentBytes,
    unread: memoryAccounts.unreadResponses,
    keepMs: config.webhookLogRetentionDays * dayMs,
  })
}
