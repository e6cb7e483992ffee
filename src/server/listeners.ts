import type { IncomingMessage, ServerResponse } from 'node:http'
import { mcpRoute } from '../capabilities/agents/mcp-route.ts'
import { backupOf } from '../capabilities/backups/storage/backup.ts'
import { BackupLimiter } from '../capabilities/backups/storage/backup-limiter.ts'
import { lastBackupOf } from '../capabilities/backups/storage/last-backup.ts'
import { feedStreamRoute } from '../capabilities/feed/api/feed-stream.ts'
import { NotificationConfigService } from '../capabilities/notifications/notification-config-service.ts'
import { NotificationService } from '../capabilities/notifications/notification-service.ts'
import { contentStreamRoute } from '../capabilities/streams/api/stream-route.ts'
import { AgentAccess } from '../core/access/agents/agent-access.ts'
import { Authenticator } from '../core/access/credentials/authenticator.ts'
import type { OnRejection } from '../core/access/credentials/credential-headers.ts'
import { PermissionReporter } from '../core/access/roles/permission-report.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import { publicUrlOf } from '../core/config/public-url.ts'
import { CallDurations } from '../core/metrics/call-durations.ts'
import type { Health } from '../core/store/engine.ts'
import { isEventStreamRequest } from '../core/sync/connect/sync-request.ts'
import { SyncServer } from '../core/sync/connect/sync-server.ts'
import { SocketAcceptor } from '../core/sync/socket/local-socket.ts'
import { ReadBackpressure } from '../core/sync/socket/read-backpressure.ts'
import { CallAuditor } from '../rest/call-auditor.ts'
import { limitConnections } from '../rest/http/connection-limits.ts'
import { storeUnavailable } from '../rest/http/envelope.ts'
import { HttpListener } from '../rest/http/http-listener.ts'
import { createRest } from '../rest/http/rest.ts'
import type { ServedRoute } from '../rest/http/served-route.ts'
import { operationList } from '../rest/operation-list.ts'
import { DocumentRates } from '../rest/pages/document-rates.ts'
import { pageRoutes } from '../rest/pages/page-list.ts'
import { describedPaths } from './described-paths.ts'
import {
  admissionOf,
  apiQuotasOf,
  httpConnectionsOf,
  inflowOf,
  workspaceReadsOf,
} from './limits-from-config.ts'
import type { ServerServices } from './services.ts'

/**
 * Number of bytes of uncommitted updates above which the server stops reading from sockets. The limit is low
 * because each update is in memory several times: as received, as a record, in the batch, and in the frames
 * for other clients.
 */
const pendingBytesMax = 4_194_304

const refusedToken = { outcome: 'UNAUTHENTICATED', claim: null } as const

/** Creates the websocket edge. */
export function createSync({
  config,
  clock,
  engine,
  metrics,
  reports,
  rejections,
  log,
  tracer,
  rooms,
  access,
  tenancy,
  loader,
  auditing,
  memoryAccounts,
  storage,
  transferTimeoutMs,
  tickShares,
}: ServerServices): SyncServer {
  const queuedBytes = (): number => engine.pendingBytes() + rooms.queuedBytes
  metrics.memoryAccounts.push({
    name: 'disk_queue',
    get bytes() {
      return queuedBytes()
    },
    bytesMax: pendingBytesMax,
  })
  return new SyncServer(
    {
      ...admissionOf({ config, clock, reports }),
      authMs: config.authTimeoutSeconds * 1000,
      createOnConnect: config.createOnConnect,
      loopbackOnly: config.auth === 'none',
      proxies: config.trustProxy,
    },
    {
      acceptor: new SocketAcceptor(
        {
          messageBytesMax: config.maxMessageBytes,
          sendBufferBytesMax: config.sendBufferBytes,
          transferTimeoutMs,
          memory: memoryAccounts,
        },
        { metrics, reports, logger: log },
      ),
      rooms,
      loader,
      access,
      attribution: tenancy.attribution,
      logger: log,
      tracer,
      clock,
      metrics,
      reports,
      rejections,
      receiveRate: inflowOf({ config, clock, reports }),
      backpressure: new ReadBackpressure(tickShares, queuedBytes, pendingBytesMax, () =>
        reports.exceeded('uncommittedBytes', ''),
      ),
      documentBytesMax: config.maxDocumentBytes,
      messageBytesMax: config.maxMessageBytes,
      storage,
      onRejected: (clientAddress) => {
        if (config.audit !== 'off')
          auditing.refusals.note({ door: 'realtime', clientAddress, ...refusedToken })
      },
    },
  )
}

/** Returns the paths of the sync edge. A stream may be open for a long time, so it has its own label. */
function transportRoutes({ http }: SyncServer): readonly ServedRoute[] {
  const route = {
    label: '/sync-http',
    labels: { GET: '/sync-http events', POST: '/sync-http messages' },
    methods: {
      GET: (request: IncomingMessage, response: ServerResponse) => http.get(request, response),
      POST: (request: IncomingMessage, response: ServerResponse) => http.post(request, response),
    },
  }
  return [
    { path: '/sync-http', ...route },
    { path: '/sync-http/*path', ...route },
  ]
}

/** Sentence of `/readyz`. It leaves out the reason, which names the bucket and is in the log. */
const objectsUnavailable = 'the object storage of saved versions cannot be used'

/** Creates the HTTP edge, which serves REST, pages, and the clients of `sync` without a websocket. */
export function createHttp(
  sync: SyncServer,
  {
    config,
    clock,
    engine,
    metrics,
    log,
    tenancy,
    tokens,
    rooms,
    versions,
    branches,
    organizations,
    directory,
    memory,
    schemas,
    userData,
    comments,
    feed,
    subscribing,
    pageTokens,
    idempotentCalls,
    origins,
    auditing,
    objects,
    tickShares,
    ...rest
  }: ServerServices,
): HttpListener {
  const stopping = (): Health | null =>
    rest.stopping.aborted ? { ok: false, reason: 'the server is stopping' } : null
  const readiness = (): Health => stopping() ?? engine.health()
  const callable = (): Health =>
    stopping() ?? (engine.health().ok ? { ok: true } : { ok: false, reason: storeUnavailable })
  const wanted = (): Health =>
    rest.leaving.aborted && !rest.stopping.aborted
      ? { ok: false, reason: 'the server is draining' }
      : readiness()
  const onRefusal: OnRejection = (reason) => metrics.authFailures.inc({ reason })
  const authenticator = new Authenticator({
    tenants: tenancy.tenants,
    origins,
    clock,
    defaultTenant: rest.defaultTenant,
    adminToken: config.adminToken,
    onRefusal,
  })
  const backups = new BackupLimiter(clock)
  const slowCalls = new CallDurations(clock)
  const auditor = new CallAuditor({
    ...auditing,
    recent: rest.recent,
    mode: config.audit,
    proxies: config.trustProxy,
    onRejected: (address, code) => rest.rejections.credentials(address, code),
  })
  const quotas = apiQuotasOf({
    config,
    clock,
    reports: rest.reports,
    rates: rest.rates,
    memory: rest.memoryAccounts,
    usage: rest.usage,
    callQuota: rest.callQuota,
    transferTimeoutMs: rest.transferTimeoutMs,
  })
  const feedServices = { feed, rooms, schemas, documents: directory.documents }
  const agents = new AgentAccess({ access: rest.access, clock, onRejection: onRefusal })
  const router = createRest({
    operations: operationList,
    pages: pageRoutes({
      version: readPackageVersion(),
      node: engine.cluster.self,
      clock,
      publicUrl: publicUrlOf(config),
      operations: operationList,
      paths: describedPaths,
      metrics,
      documents: new DocumentRates(() => rooms.openRooms(), clock),
      slowCalls,
      metricsToken: config.metricsToken,
      readiness: wanted,
      degraded: () => (objects === null || objects.problem === null ? [] : [objectsUnavailable]),
      adminToken: config.adminToken,
      backup: () => {
        const dump = engine.dump()
        if (dump === null) return 'nothing'
        const { kv } = engine
        const backupOrigin = { directory: config.dataDir, kv, lastBackup: lastBackupOf(config, kv), clock }
        return backups.take(backupOf(dump, backupOrigin)) ?? 'busy'
      },
    }),
    served: [
      ...transportRoutes(sync),
      feedStreamRoute({
        services: feedServices,
        authenticator,
        news: rest.accessNews,
        clock,
        auditor,
        quotas,
        readiness: callable,
      }),
      contentStreamRoute({
        streams: rest.streams,
        services: {
          documents: directory.documents,
          loader: rest.loader,
          storage: rest.storage,
          attribution: tenancy.attribution,
          agents,
        },
        authenticator,
        fences: engine.fences,
        news: rest.accessNews,
        clock,
        auditor,
        quotas,
        unknownMembers: config.unknownMembers,
        readiness: callable,
        metrics,
        log,
      }),
      mcpRoute({
        handle: () => edge.handle,
        pageTokens,
        agents,
        origins,
        rooms,
        auditor,
        quotas,
        bodyBytesMax: config.maxBodyBytes,
        readiness: callable,
        metrics,
        log,
      }),
    ],
    services: {
      ...directory,
      ...tenancy,
      ...comments,
      ...subscribing,
      memory,
      schemas,
      userData,
      feed,
      workspaceReads: workspaceReadsOf({ config, clock, rates: rest.rates }),
      permissionReader: new PermissionReporter(organizations, clock),
      notifications: new NotificationService(organizations, clock),
      notificationConfigs: new NotificationConfigService(organizations),
      tokens,
      accessReader: rest.accessReader,
      agents,
      rooms,
      loader: rest.loader,
      callbackTester: rest.callbackTester,
      destinations: rest.destinations,
      versions,
      branches,
      pageTokens,
      storage: rest.storage,
      usage: rest.usage,
      callQuota: rest.callQuota,
      audit: auditing.audit,
      recent: rest.recent,
      log: engine.log,
      metrics,
      metricsHistory: rest.metricsHistory,
      metricsToken: config.metricsToken,
      node: engine.cluster.self,
      clock,
      createMissing: config.createMissing,
      publicUrl: publicUrlOf(config),
      responseBytesMax: config.maxResponseBytes,
      defaultAccess: config.defaultAccess,
    },
    authenticator,
    auditor,
    idempotentCalls,
    origins,
    quotas,
    bodyBytesMax: config.maxBodyBytes,
    unknownMembers: config.unknownMembers,
    loopbackOnly: config.auth === 'none',
    readiness: callable,
    slowCalls,
    metrics,
    log,
    spans: rest.spans,
  })
  const edge = new HttpListener(router, isEventStreamRequest, tickShares)
  limitConnections(edge.server, httpConnectionsOf({ config, clock, reports: rest.reports }))
  return edge
}
