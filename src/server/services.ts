import { AccessChangeFeed } from '../access/access-change-feed.ts'
import { AllowedOrigins } from '../access/allowed-origins.ts'
import { RealtimeAccess } from '../access/realtime-access.ts'
import { AccessReader } from '../access/roles/document-access.ts'
import type { RoleDecider } from '../access/roles/role-decision.ts'
import { createIdentityProvider } from '../access/tokens/create-identity-provider.ts'
import { MintedTokens } from '../access/tokens/minted.ts'
import { describeClaim } from '../access/tokens/misspelled-claims.ts'
import { RealtimeTokens } from '../access/tokens/realtime-tokens.ts'
import { IdempotencyService } from '../api/idempotency/idempotency-service.ts'
import { PageTokens } from '../api/paging/page-tokens.ts'
import type { Audit } from '../audit/audit.ts'
import type { RecentRequests } from '../audit/recent-requests.ts'
import type { BackupSchedule } from '../backups/backup-schedule.ts'
import { BranchService } from '../branches/branch-service.ts'
import { CallbackCaller } from '../callbacks/callback-caller.ts'
import { CallbackDecider } from '../callbacks/callback-decider.ts'
import { CallbackTester } from '../callbacks/callback-tester.ts'
import { DocumentLoader } from '../callbacks/document-loader.ts'
import type { Clock } from '../clock.ts'
import { type CommentModule, createCommentModule } from '../comments/comment-module.ts'
import { participantsOf } from '../comments/participants.ts'
import { publicUrlOf } from '../config/public-url.ts'
import type { Config } from '../config.ts'
import { DecisionMemory } from '../decisions/decision-memory.ts'
import { BranchStore } from '../directory/branches/branch-store.ts'
import { CallQuota } from '../directory/call-quota.ts'
import { createDirectory, type Directory } from '../directory/directory.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../directory/organizations/organization-store.ts'
import { SchemaService } from '../directory/schemas/schema-service.ts'
import { StorageQuota } from '../directory/storage-quota.ts'
import type { ServerCredentials } from '../directory/tenants/credentials-file.ts'
import type { Tenancy } from '../directory/tenants/tenancy.ts'
import type { Engine } from '../engine/engine.ts'
import { ChangeJobs } from '../events/change-jobs.ts'
import { ChangeWindows } from '../events/change-windows.ts'
import { combineEditListeners, type EditListener } from '../events/debounce-windows.ts'
import { EventRecorder, type HasSubscriber } from '../events/event-recorder.ts'
import { eventTopic } from '../events/outbound-event.ts'
import { createFeedRemoval, FeedService } from '../feed/feed-service.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { MetricsHistory } from '../metrics-history.ts'
import type { Tenant } from '../model/address.ts'
import type { ObjectSweeper } from '../objects/object-sweeper.ts'
import type { SealedObjects } from '../objects/sealed-objects.ts'
import { DestinationPolicy } from '../outgoing/destination-policy.ts'
import { resolveName } from '../outgoing/dns-resolve.ts'
import { ClusterRates } from '../quota/cluster-rates.ts'
import type { LimitReports } from '../quota/limit-reports.ts'
import type { MemoryLedger } from '../quota/memory-bounds.ts'
import type { TickShares } from '../quota/tick-shares.ts'
import type { DocumentRegistry } from '../rooms/room/room-options.ts'
import { RoomRegistry } from '../rooms/room/room-registry.ts'
import { StreamService } from '../streams/stream-service.ts'
import type { CallbackFunctions } from '../subscriptions/callbacks/callback-functions.ts'
import { createWebhookModule, type WebhookModule } from '../subscriptions/webhook-module.ts'
import type { RejectionLog } from '../sync/connect/rejection-log.ts'
import type { Tracer } from '../trace.ts'
import type { SpanSource } from '../tracing/span.ts'
import { createUsage, type UsageModule } from '../usage/create-usage.ts'
import { allUserDataSources } from '../userdata/all-sources.ts'
import { UserDataService } from '../userdata/user-data-service.ts'
import { createVersionParts } from '../versions/create-version-parts.ts'
import { VersionService } from '../versions/version-service.ts'
import type { ContentServices } from '../webhooks/event-content.ts'
import type { EventListeners } from '../webhooks/event-listeners.ts'
import { WebhookService } from '../webhooks/webhook-service.ts'
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
