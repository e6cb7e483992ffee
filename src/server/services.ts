import { capabilities } from '../capabilities/list.ts'
import { AccessChangeFeed } from '../core/access/access-change-feed.ts'
import { AgentAccess } from '../core/access/agents/agent-access.ts'
import { AllowedOrigins } from '../core/access/allowed-origins.ts'
import { RealtimeAccess } from '../core/access/realtime-access.ts'
import { AccessReader } from '../core/access/roles/document-access.ts'
import { PermissionReporter } from '../core/access/roles/permission-report.ts'
import { noDecider } from '../core/access/roles/role-decision.ts'
import { describeClaim } from '../core/access/tokens/claims.ts'
import { createIdentityProvider } from '../core/access/tokens/identity-provider.ts'
import { MintedTokens } from '../core/access/tokens/minted.ts'
import { RealtimeTokens } from '../core/access/tokens/realtime-tokens.ts'
import type { Clock } from '../core/base/clock.ts'
import { publicUrlOf } from '../core/config/public-url.ts'
import { BranchStore } from '../core/directory/branches/branch-store.ts'
import { CallQuota } from '../core/directory/call-quota.ts'
import { createDirectory, type Directory } from '../core/directory/directory.ts'
import type { CascadeHandler } from '../core/directory/organizations/cascade-handler.ts'
import type { OrganizationScope } from '../core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../core/directory/organizations/organization-store.ts'
import { SchemaService } from '../core/directory/schemas/schema-service.ts'
import { StorageQuota } from '../core/directory/storage-quota.ts'
import type { ServerCredentials } from '../core/directory/tenants/credentials-file.ts'
import { uncounted } from '../core/directory/usage-counts.ts'
import { directorySources } from '../core/directory/user-data/directory-sources.ts'
import {
  compareSources,
  type UserDataScope,
  type UserDataSource,
} from '../core/directory/user-data/user-data-source.ts'
import { combineEditListeners, type EditListener } from '../core/events/debounce-windows.ts'
import { EventRecorder } from '../core/events/event-recorder.ts'
import { Forwarder } from '../core/forwarding/forwarder.ts'
import { OwnerWork } from '../core/jobs/owner-work.ts'
import type { DocumentAddress } from '../core/model/address.ts'
import { DestinationPolicy, resolveName } from '../core/outgoing/destination-policy.ts'
import { ClusterRates } from '../core/quota/cluster-rates.ts'
import { changeSource } from '../core/rooms/change-source.ts'
import { noLoader } from '../core/rooms/edits/editor-loader.ts'
import { presenceSource } from '../core/rooms/presence/presence-source.ts'
import { RoomRegistry } from '../core/rooms/registry/room-registry.ts'
import type { DocumentRegistry, RoomRegistryOptions } from '../core/rooms/room/room-dependencies.ts'
import type { RejectionLog } from '../core/sync/admission/rejection-log.ts'
import { IdempotencyService } from '../rest/idempotency/idempotency-service.ts'
import { PageTokens } from '../rest/page-tokens.ts'
import type { BaseServices, CoreServices, ReplaceableServices, Services } from '../rest/services.ts'
import { creationsOf, threadJobMsOf, workspaceReadsOf } from './limits-from-config.ts'

/** What exists before the services: the base, and what the capabilities get from the start of the process. */
export interface ServerBase extends BaseServices, Pick<Services, 'backups' | 'functions' | 'listeners'> {
  readonly rejections: RejectionLog
}

/** Services that the edges use. */
export interface ServerServices extends Services, ServerBase {
  readonly idempotentCalls: IdempotencyService
}

/** Maximum bytes of pending updates in one room. */
const pendingUpdateBytesMax = 16_777_216
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

const replaceable: ReplaceableServices = {
  counts: uncounted,
  decider: noDecider,
  loader: noLoader,
  wants: () => false,
}

/** What capabilities add to the core. The lists are complete before the server starts. */
interface Additions {
  readonly cascade: CascadeHandler[]
  readonly edits: EditListener[]
  readonly userData: {
    readonly ofTenant: UserDataSource<UserDataScope>[]
    readonly ofOrganization: UserDataSource<OrganizationScope>[]
  }
}

/** Creates the services of the core, then those of the capabilities. */
export function createServices(given: ServerBase, credentials: ServerCredentials): ServerServices {
  const additions: Additions = { cascade: [], edits: [], userData: { ofTenant: [], ofOrganization: [] } }
  const services: { -readonly [Name in keyof ServerServices]: ServerServices[Name] } = Object.create(null)
  Object.assign(services, given, replaceable)
  Object.assign(services, createCore(services, credentials, additions))
  for (const { create, cascade, edits, userData } of capabilities) {
    Object.assign(services, create?.(services))
    additions.cascade.push(...(cascade?.(services) ?? []))
    additions.edits.push(...(edits?.(services) ?? []))
    const { ofTenant = [], ofOrganization = [] } = userData?.(services) ?? {}
    additions.userData.ofTenant.push(...ofTenant)
    additions.userData.ofOrganization.push(...ofOrganization)
  }
  additions.userData.ofTenant.sort(compareSources)
  additions.userData.ofOrganization.sort(compareSources)
  // These need services that a capability may replace.
  services.access = createAccess(services)
  const { config } = services
  const secrets = [credentials.jwtSecret, config.jwtSecretPrevious].filter((each) => each !== null)
  const keepMs = config.idempotencyRetentionHours * hourMs
  services.idempotentCalls = new IdempotencyService(services, secrets, keepMs)
  services.agents = new AgentAccess(services.access, services.clock, (reason) =>
    services.metrics.authFailures.inc({ reason }),
  )
  return services
}

/**
 * @param services the base, to which the other services are added later: what may be replaced is read at its use
 */
function createCore(
  services: ServerBase & ReplaceableServices,
  credentials: ServerCredentials,
  { cascade, edits, userData }: Additions,
): Omit<CoreServices, Exclude<keyof ServerBase, 'engine'> | keyof ReplaceableServices | 'access' | 'agents'> {
  const { config, clock, log, tracer, tenancy, metrics } = services
  const storage = new StorageQuota({
    engine: services.engine,
    tenants: tenancy.tenants,
    clock,
    log,
    metrics,
    bytesMax: config.maxStoredBytesPerWorkspace,
  })
  const engine = storage.counting(services.engine)
  const { workspaceId, apiKey, jwtSecret } = credentials
  const events = new EventRecorder(clock, (tenant, type) => services.wants(tenant, type), tracer)
  const store = new OrganizationStore(engine, events)
  const schemas = new SchemaService(engine.kv, store, clock)
  const branchStore = new BranchStore(store)
  cascade.push({
    async removeDocuments(scope, documentIds, goOn) {
      await schemas.forget(scope, documentIds)
      for (const id of documentIds) await branchStore.forgetDocument(scope, id, goOn)
    },
  })
  const directory = createDirectory(engine, {
    store,
    clock,
    log,
    events,
    cascade,
    editWindowMs: config.editActivityWindowSeconds * 1000,
    awayMs: config.presenceLeaveDelaySeconds * 1000,
    defaultAccess: config.defaultAccess,
    keepDeletedMs: config.deletedRetentionDays * 24 * hourMs,
  })
  const rates = new ClusterRates(engine.bus, engine.cluster.self, clock)
  const rooms = createRooms(
    { ...services, engine },
    {
      records: recordsOf(directory, branchStore, creationsOf({ config, clock, rates }), clock),
      edits: combineEditListeners(edits),
      visits: directory.visits.visits,
      // Rooms open after all services exist.
      usage: (scope) => services.counts.hold(scope),
    },
  )
  const ownerWork = new OwnerWork(rooms.presence.requests, engine.cluster)
  edits.push(directory.edits.windows)
  userData.ofTenant.push(presenceSource(rooms.presence))
  userData.ofOrganization.push(...directorySources(store), changeSource(engine.log, rooms, ownerWork))
  services.recent.share(rooms.presence.requests, engine.cluster.self)
  const accessNews = new AccessChangeFeed(engine)
  const publicUrl = publicUrlOf(config)
  return {
    ...tenancy,
    ...directory,
    engine,
    store,
    branchStore,
    schemas,
    storage,
    userDataSources: userData,
    events,
    rooms,
    forwarder: new Forwarder({ ...services, cluster: engine.cluster }, jwtSecret, config.jwtSecretPrevious),
    ownerWork,
    rates,
    accessNews,
    publicUrl,
    accessReader: new AccessReader(store, accessNews, clock, config.defaultAccess),
    permissionReader: new PermissionReporter(store, clock),
    tokens: createTokens(services, credentials, accessNews),
    origins: new AllowedOrigins(tenancy.domains, accessNews, clock, new URL(publicUrl).origin),
    defaultTenant: config.auth === 'none' ? { workspaceId, apiKey } : null,
    destinations: new DestinationPolicy(config.webhookAllowlist, resolveName),
    pageTokens: new PageTokens(jwtSecret, config.jwtSecretPrevious),
    callQuota: new CallQuota(tenancy.tenants, rates, clock, log),
    workspaceReads: workspaceReadsOf({ config, clock, rates }),
  }
}

/** Returns what rooms read and write of the records of their documents. */
const recordsOf = (
  { documents }: Directory,
  branches: BranchStore,
  admit: (address: DocumentAddress) => void,
  clock: Clock,
): DocumentRegistry => ({
  addBranch: (main, user, edit, version) => branches.addUnplaced(main, user, edit, version, clock.now()),
  ensure: async (scope, documentId) => void (await documents.ensure(scope, documentId)),
  isGoing: (scope, documentId) => documents.isGoing(scope, documentId),
  mainOf: (address) => documents.mainOf(address),
  rightToChange: (address) => documents.rightToChange(address),
  recordOverlaps: (branch, overlaps) => branches.addOverlaps(branch, overlaps),
  create: (address, decided) =>
    documents.ensure(address, address.documentId, { admit: () => admit(address), decided }),
})

function createRooms(
  { config, engine, clock, metrics, memoryAccounts, reports, log, tracer, spans, tenancy }: BaseServices,
  given: Pick<RoomRegistryOptions, 'records' | 'edits' | 'visits' | 'usage'>,
): RoomRegistry {
  const options = {
    documentBytesMax: config.maxDocumentBytes,
    pendingUpdateBytesMax,
    awarenessWindowMs,
    compactAfterUpdates: config.compactAfterUpdates,
    keepVersionsMs: config.baseVersionSeconds * 1000,
    idleMs: config.idleUnloadSeconds * 1000,
    restMs,
    documentsPerWorkspaceMax: config.maxDocumentsPerWorkspace,
    computeThreads: config.computeThreads,
    threadJobMs: threadJobMsOf(config),
  }
  return new RoomRegistry(engine, options, {
    ...given,
    clock,
    metrics,
    memory: memoryAccounts,
    logger: log,
    tracer,
    spans,
    overspent: (workspaceId) => reports.exceeded('integrationMsPerSecond', workspaceId),
    keepsAttribution: (workspaceId) => tenancy.attribution.isEnabled(workspaceId),
  })
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
    revokedUntil: (tenant, userIds) => revocations.revokedUntil(tenant, userIds),
    agentPolicy: config.agentPolicy,
    minted: new MintedTokens(mintingSecrets, news, clock),
    foreign: createIdentityProvider(config, first, tenants, clock, (claim) =>
      rejections.misspelledClaim(describeClaim(claim)),
    ),
  })
}

/** Returns the access of realtime clients, which needs the decider. */
const createAccess = (services: Services): RealtimeAccess =>
  new RealtimeAccess({
    ...services,
    news: services.accessNews,
    reader: services.accessReader,
    fences: services.engine.fences,
  })
