import { Authenticator } from '../access/credentials.ts'
import { AccessReader } from '../access/document-access.ts'
import { PermissionReader } from '../access/permission-report.ts'
import { RealtimeAccess } from '../access/realtime.ts'
import { HttpEdge } from '../api/http-edge.ts'
import { operations } from '../api/operations.ts'
import { pages } from '../api/pages.ts'
import { MinuteLimiter, RateLimiter } from '../api/rate-limit.ts'
import { createRouter } from '../api/router.ts'
import { readVersion } from '../config/version.ts'
import type { Health } from '../engine/engine.ts'
import { NotificationConfigs } from '../notifications/configs.ts'
import { Notifications } from '../notifications/notifications.ts'
import { backupOf } from '../storage/backup.ts'
import { ReadPressure } from '../sync/pressure.ts'
import { SyncServer } from '../sync/server.ts'
import type { Services } from './services.ts'

/**
 * Bytes on their way to the disk above which reading from sockets pauses. Each is in memory several times meanwhile: as
 * it came, as a record, in the batch, and in the frames of those who are to see it.
 */
const pendingBytesMax = 4_194_304

/** The websocket edge. */
export function createSync({
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

/** The HTTP edge: REST and pages. */
export function createHttp({
  config,
  clock,
  engine,
  metrics,
  log,
  tenancy,
  tokens,
  rooms,
  versions,
  organizations,
  directory,
  memory,
  userData,
  comments,
  subscribing,
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
      ...subscribing,
      memory,
      userData,
      workspaceReads: perMinute === 0 ? null : new MinuteLimiter({ perMinute, clock }),
      permissionReader: new PermissionReader(organizations, clock),
      notifications: new Notifications(organizations, clock),
      notificationConfigs: new NotificationConfigs(organizations),
      tokens,
      rooms,
      versions,
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
