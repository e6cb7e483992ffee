import { Authenticator } from './access/credentials.ts'
import { AccessReader } from './access/document-access.ts'
import { IdentityProvider } from './access/identity-provider.ts'
import { Origins } from './access/origins.ts'
import { PermissionReader } from './access/permission-report.ts'
import { RealtimeAccess } from './access/realtime.ts'
import { Tokens } from './access/tokens.ts'
import { HttpEdge } from './api/http-edge.ts'
import { operations } from './api/operations.ts'
import { PageTokens } from './api/page-tokens.ts'
import { pages } from './api/pages.ts'
import { MinuteLimiter, RateLimiter } from './api/rate-limit.ts'
import { createRouter } from './api/router.ts'
import { type Clock, systemClock } from './clock.ts'
import { type Comments, createComments } from './comments/comments.ts'
import { readVersion } from './config/version.ts'
import type { Config } from './config.ts'
import { bootstrap } from './directory/bootstrap.ts'
import { type Credentials, makeDataDirectory } from './directory/credentials-file.ts'
import { createDirectory, type Directory } from './directory/directory.ts'
import { OrganizationStore } from './directory/organization-store.ts'
import { createTenancy, type Tenancy } from './directory/tenancy.ts'
import type { Engine, Health } from './engine/engine.ts'
import { Events, type Wanted } from './events/events.ts'
import type { Log } from './log.ts'
import { Memory } from './memory/memory.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import type { Tenant } from './model/address.ts'
import { type Close, close } from './model/close.ts'
import { NotificationConfigs } from './notifications/configs.ts'
import { Notifications } from './notifications/notifications.ts'
import { Rooms } from './rooms/rooms.ts'
import { backupOf } from './storage/backup.ts'
import { ReadPressure } from './sync/pressure.ts'
import { SyncServer } from './sync/server.ts'
import { userTraces } from './userdata/traces.ts'
import { UserData } from './userdata/user-data.ts'

export interface RunningServer {
  readonly port: number
  readonly credentials: Credentials
  /** True when this start made credentials that nobody has been told yet. */
  readonly created: boolean
  /**
   * Stops: refuses newcomers, answers what has been asked, tells clients to reconnect (1012), waits for accepted
   * changes to be durable, and ends within the configured time. Calling it again changes nothing.
   */
  close(): Promise<void>
}

/** What the parts of one server are made from. */
interface Base {
  readonly config: Config
  readonly log: Log
  readonly clock: Clock
  readonly engine: Engine
  readonly metrics: Metrics
  readonly tenancy: Tenancy
  readonly wanted: Wanted
  readonly stopping: AbortSignal
}

interface Services extends Base {
  readonly tokens: Tokens
  readonly rooms: Rooms
  readonly organizations: OrganizationStore
  readonly directory: Directory
  readonly memory: Memory
  readonly userData: UserData
  readonly comments: Comments
  readonly origins: Origins
  readonly pageTokens: PageTokens
  /** Whom those act as who show no credentials; null where credentials are required. */
  readonly defaultTenant: Tenant | null
}

/** Bytes of updates that wait for missing ones, a room. */
const heldBytesMax = 16_777_216
/** Awareness messages of a room: 25 a second. */
const awarenessWindowMs = 40
/** A document nobody works on is kept as bytes after one to two times this. */
const restMs = 20_000
/** Bytes on their way to the disk above which reading from sockets pauses. */
const pendingBytesMax = 33_554_432
/** Part of the time for a stop that is kept for the store. */
const storeShare = 0.25

/** What a server may be given instead of making it: an engine is then closed with the server. */
export interface GivenParts {
  readonly clock?: Clock
  readonly engine?: Engine
  /** Without it nobody outside is told of events. */
  readonly wanted?: Wanted
}

/**
 * Opens the store, makes sure that credentials exist, and serves HTTP and websockets on one port.
 * @throws EngineOpenError, BootstrapError, ListenError: meant for the operator; nothing is left running
 */
export async function startServer(config: Config, log: Log, given: GivenParts = {}): Promise<RunningServer> {
  if (keepsData(config)) await makeDataDirectory(config.data)
  const engine = given.engine ?? (await openEngine(config, log))
  try {
    const { clock = systemClock, wanted = () => false } = given
    return await serve({ config, log, clock, wanted, engine })
  } catch (error) {
    await engine.close()
    throw error
  }
}

const keepsData = ({ engine }: Config): boolean => engine !== 'memory'

/** Only the chosen engine is loaded. */
async function openEngine(config: Config, log: Log): Promise<Engine> {
  if (config.engine === 'memory') return (await import('./engine/memory/engine.ts')).openMemoryEngine()
  const { openLevelEngine } = await import('./engine/level/engine.ts')
  return openLevelEngine({ directory: config.data, durability: config.durability, log })
}

async function serve(
  given: Pick<Base, 'config' | 'log' | 'clock' | 'engine' | 'wanted'>,
): Promise<RunningServer> {
  const { config, engine, clock } = given
  const tenancy = createTenancy(engine, clock)
  const { tenants } = tenancy
  const directory = keepsData(config) ? config.data : null
  const { credentials, created } = await bootstrap({ configured: config, directory, tenants, clock })
  const stop = new AbortController()
  const base = { ...given, metrics: createMetrics(), tenancy, stopping: stop.signal }
  const services = createServices(base, credentials)
  const sync = createSync(services)
  const edge = createHttp(services)
  edge.server.on('upgrade', (request, connection, head) => sync.upgrade(request, connection, head))
  const port = await edge.listen(config.port, config.host)
  services.directory.removals.start()
  services.directory.edits.start()
  services.userData.start()
  services.comments.judging.start()
  let closing: Promise<void> | null = null
  const end = () => {
    stop.abort()
    return endServer(services, edge, sync)
  }
  return { port, credentials, created, close: () => (closing ??= end()) }
}

function createServices(base: Base, credentials: Credentials): Services {
  const { config, clock, engine, metrics, log, tenancy } = base
  const { workspaceId, apiKey, jwtSecret } = credentials
  const first = { workspaceId, apiKey }
  const events = new Events(clock, base.wanted)
  const organizations = new OrganizationStore(engine, events)
  const memory = new Memory(engine.kv, organizations, clock)
  const directory = createDirectory(engine, {
    store: organizations,
    clock,
    log,
    events,
    forget: (scope, goOn) => memory.forget(scope, goOn),
    editWindowMs: config.editWindowSeconds * 1000,
    awayMs: config.presenceLeaveSeconds * 1000,
  })
  const rooms = new Rooms(
    engine,
    {
      documentBytesMax: config.maxDocumentBytes,
      heldBytesMax,
      awarenessWindowMs,
      compactAfter: config.compactAfter,
      keepVersionsMs: config.keepVersionsSeconds * 1000,
      idleMs: config.idleUnloadSeconds * 1000,
      restMs,
      replaceThreads: config.replaceThreads,
    },
    {
      clock,
      metrics,
      logger: log,
      records: directory.documents,
      edits: directory.edits.windows,
      visits: directory.visits.visits,
    },
  )
  const tokens = new Tokens({
    secret: jwtSecret,
    previousSecret: config.jwtSecretPrevious,
    clock,
    isTenant: (tenant) => tenancy.tenants.isTenant(tenant),
    revokedUntil: (tenant, userId) => tenancy.revocations.revokedUntil(tenant, userId),
    foreign: createProvider(base, first),
  })
  const userData = new UserData({
    kv: engine.kv,
    queue: engine.queue,
    store: organizations,
    revocations: tenancy.revocations,
    traces: userTraces({ store: organizations, presence: rooms.presence }),
    clock,
    log,
  })
  return {
    ...base,
    rooms,
    tokens,
    organizations,
    directory,
    memory,
    userData,
    comments: createComments({
      store: organizations,
      organizations: directory.organizations,
      events,
      memory,
      queue: engine.queue,
      clock,
      log,
    }),
    origins: new Origins(tenancy.domains, engine.bus),
    pageTokens: new PageTokens(jwtSecret),
    defaultTenant: config.auth === 'none' ? first : null,
  }
}

/** Null when none is configured. */
function createProvider({ config, clock, tenancy }: Base, first: Tenant): IdentityProvider | null {
  const { jwtJwksUrl, jwtIssuer, jwtAudience, jwtClaims, jwtApiKey } = config
  if (jwtJwksUrl === null || jwtIssuer === null || jwtAudience === null) return null
  return new IdentityProvider({
    jwksUrl: jwtJwksUrl,
    issuer: jwtIssuer,
    audience: jwtAudience,
    claims: jwtClaims,
    apiKey: jwtApiKey ?? first.apiKey,
    tenantOf: (apiKey) => tenancy.tenants.tenantOf(apiKey),
    clock,
  })
}

function createSync({
  config,
  clock,
  engine,
  metrics,
  log,
  rooms,
  tokens,
  organizations,
  directory,
  origins,
  defaultTenant,
}: Services): SyncServer {
  return new SyncServer(
    {
      connectionsMax: config.maxConnections,
      connectionsPerAddressMax: config.maxConnectionsPerAddress,
      messageBytesMax: config.maxMessageBytes,
      sendBufferBytesMax: config.sendBufferBytes,
      authMs: config.authTimeoutSeconds * 1000,
      createOnConnect: config.createOnConnect,
      loopbackOnly: config.auth === 'none',
      proxies: config.trustProxy,
    },
    {
      rooms,
      access: new RealtimeAccess({
        tokens,
        origins,
        bus: engine.bus,
        defaultTenant,
        reader: new AccessReader(organizations),
      }),
      bus: engine.bus,
      records: directory.documents,
      logger: log,
      clock,
      metrics,
      pressure: new ReadPressure(() => engine.pendingBytes(), pendingBytesMax),
      allowSubdocuments: config.allowSubdocuments,
      documentBytesMax: config.maxDocumentBytes,
    },
  )
}

function createHttp({
  config,
  clock,
  engine,
  metrics,
  log,
  tenancy,
  tokens,
  rooms,
  organizations,
  directory,
  memory,
  userData,
  comments,
  pageTokens,
  origins,
  ...rest
}: Services): HttpEdge {
  const { rateLimitPerSecond: perSecond, rateLimitBurst: burst } = config
  const { rateLimitWorkspaceGetPerMinute: perMinute } = config
  const readiness = (): Health =>
    rest.stopping.aborted ? { ok: false, reason: 'the server is stopping' } : engine.health()
  const authenticator = new Authenticator({
    tenants: tenancy.tenants,
    origins,
    clock,
    defaultTenant: rest.defaultTenant,
    adminToken: config.adminToken,
    onRefusal: (reason) => metrics.authFailures.inc({ reason }),
  })
  const router = createRouter({
    operations,
    pages: pages({
      version: readVersion(),
      operations,
      metrics,
      metricsToken: config.metricsToken,
      readiness,
      adminToken: config.adminToken,
      backup: () => {
        const dump = engine.dump()
        return dump && backupOf(dump, { directory: config.data, clock })
      },
    }),
    services: {
      ...directory,
      ...tenancy,
      ...comments,
      memory,
      userData,
      workspaceReads: perMinute === 0 ? null : new MinuteLimiter({ perMinute, clock }),
      permissionReader: new PermissionReader(organizations, clock),
      notifications: new Notifications(organizations, clock),
      notificationConfigs: new NotificationConfigs(organizations),
      tokens,
      rooms,
      pageTokens,
      log: engine.log,
      metrics,
      clock,
      allowSubdocuments: config.allowSubdocuments,
    },
    authenticator,
    origins,
    rateLimiter: perSecond === 0 ? null : new RateLimiter({ perSecond, burst, clock }),
    bodyBytesMax: config.maxBodyBytes,
    loopbackOnly: config.auth === 'none',
    readiness,
    metrics,
    log,
  })
  return new HttpEdge(router)
}

/** Calls in progress and clients first, then the rooms, the port and the store; all within the configured time. */
async function endServer(
  { config, rooms, directory, userData, comments, engine, log }: Services,
  edge: HttpEdge,
  sync: SyncServer,
): Promise<void> {
  const restarting = close('restarting', 'the server is restarting')
  const drainMs = config.drainSeconds * 1000
  // First: that clients are sent away is no leaving.
  const visits = directory.visits.stop()
  const clientsMs = drainMs * (1 - storeShare)
  await Promise.all([edge.settle(clientsMs), sync.drain(restarting, clientsMs)])
  const finishing = finishServer({ visits, rooms, directory, userData, comments, engine, edge, restarting })
  // When it is late nobody waits for it any more, but it may still fail.
  finishing.catch((err: unknown) => log.error({ err }, 'the store failed at the end'))
  if ((await Promise.race([finishing, late(drainMs * storeShare)])) === 'late')
    log.error('the store did not finish within the time for a stop')
}

async function finishServer(parts: {
  visits: Promise<void>
  rooms: Rooms
  directory: Directory
  userData: UserData
  comments: Comments
  engine: Engine
  edge: HttpEdge
  restarting: Close
}): Promise<void> {
  await Promise.all([parts.directory.removals.stop(), parts.userData.stop(), parts.comments.judging.stop()])
  await parts.rooms.closeAll(parts.restarting)
  await parts.directory.edits.stop()
  await parts.visits
  // A connection that will not end must not keep the store open.
  await Promise.all([parts.edge.close(), parts.engine.close()])
}

const late = (ms: number): Promise<'late'> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, 'late').unref()
  })
