import type { IncomingMessage, ServerResponse } from 'node:http'
import { backupOf } from '../capabilities/backups/storage/backup.ts'
import { BackupLimiter } from '../capabilities/backups/storage/backup-limiter.ts'
import { lastBackupOf } from '../capabilities/backups/storage/last-backup.ts'
import { capabilities, operationList } from '../capabilities/list.ts'
import { Authenticator } from '../core/access/credentials/authenticator.ts'
import { CallDurations } from '../core/metrics/call-durations.ts'
import type { Health } from '../core/store/engine.ts'
import { isEventStreamRequest } from '../core/sync/admission/sync-request.ts'
import { SocketAcceptor } from '../core/sync/socket/local-socket.ts'
import { ReadBackpressure } from '../core/sync/socket/read-backpressure.ts'
import { SyncServer } from '../core/sync/sync-server.ts'
import { CallAuditor } from '../rest/http/call-auditor.ts'
import { limitConnections } from '../rest/http/connection-limits.ts'
import { storeUnavailable } from '../rest/http/envelope.ts'
import { HttpListener } from '../rest/http/http-listener.ts'
import type { Edge } from '../rest/http/operation-steps.ts'
import { createRest } from '../rest/http/rest.ts'
import type { ServedRoute } from '../rest/http/served-route.ts'
import { pageRoutes } from '../rest/pages/page-list.ts'
import { admissionOf, apiQuotasOf, httpConnectionsOf, inflowOf } from './limits-from-config.ts'
import type { ServerServices } from './services.ts'

/**
 * Number of bytes of uncommitted updates above which the server stops reading from sockets. The limit is low
 * because each update is in memory several times: as received, as a record, in the batch, and in the frames
 * for other clients.
 */
const readPauseBytes = 4_194_304

const refusedToken = { outcome: 'UNAUTHENTICATED', claim: null } as const

/** Creates the websocket edge. */
export function createSync(services: ServerServices): SyncServer {
  const { config, engine, metrics, reports, log, rooms, auditing, transferTimeoutMs } = services
  const queuedBytes = (): number => rooms.undurableBytes
  metrics.memoryAccounts.push({
    name: 'disk_queue',
    get bytes() {
      return queuedBytes()
    },
    bytesMax: readPauseBytes,
  })
  return new SyncServer(
    {
      ...admissionOf(services),
      authMs: config.authTimeoutSeconds * 1000,
      createOnConnect: config.createOnConnect,
      loopbackOnly: config.auth === 'none',
      proxies: config.trustProxy,
    },
    {
      ...services,
      cluster: engine.cluster,
      acceptor: new SocketAcceptor(
        {
          messageBytesMax: config.maxMessageBytes,
          sendBufferBytesMax: config.sendBufferBytes,
          transferTimeoutMs,
          memory: services.memoryAccounts,
        },
        log,
        metrics,
        reports,
      ),
      logger: log,
      receiveRate: inflowOf(services),
      backpressure: new ReadBackpressure(services.tickShares, queuedBytes, readPauseBytes, () =>
        reports.exceeded('uncommittedBytes', ''),
      ),
      documentBytesMax: config.maxDocumentBytes,
      messageBytesMax: config.maxMessageBytes,
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

/** Creates the HTTP edge, which serves REST, pages, and the clients of `sync` without a websocket. */
export function createHttp(sync: SyncServer, services: ServerServices): HttpListener {
  const { config, clock, metrics, tenancy } = services
  const { readiness, callable } = healthOf(services)
  const edge: Edge = {
    services,
    authenticator: new Authenticator({
      ...services,
      tenants: tenancy.tenants,
      adminToken: config.adminToken,
      onRefusal: (reason) => metrics.authFailures.inc({ reason }),
    }),
    auditor: new CallAuditor(services, (address, code) => services.rejections.credentials(address, code)),
    idempotentCalls: services.idempotentCalls,
    quotas: apiQuotasOf(services),
    slowCalls: new CallDurations(clock),
    readiness: callable,
    handle: (request, response) => listener.handle(request, response),
  }
  const router = createRest(edge, {
    operations: operationList,
    pages: pageRoutes(services, {
      slowCalls: edge.slowCalls,
      readiness,
      backup: downloadOf(services),
    }),
    served: [
      ...transportRoutes(sync),
      ...capabilities.flatMap(({ routes }) => routes?.(services, edge) ?? []),
    ],
  })
  const listener = new HttpListener(router, isEventStreamRequest, services.tickShares)
  limitConnections(listener.server, httpConnectionsOf(services))
  return listener
}

/** Returns the health of the server for load balancers (`readiness`) and for calls (`callable`). */
function healthOf({ engine, leaving, stopping }: ServerServices) {
  const stopped = (): Health | null =>
    stopping.aborted ? { ok: false, reason: 'the server is stopping' } : null
  return {
    readiness: (): Health =>
      leaving.aborted && !stopping.aborted
        ? { ok: false, reason: 'the server is draining' }
        : (stopped() ?? engine.health()),
    callable: (): Health =>
      stopped() ?? (engine.health().ok ? { ok: true } : { ok: false, reason: storeUnavailable }),
  }
}

/** Returns the function that begins the download of a backup. */
function downloadOf({ engine, config, clock }: ServerServices) {
  const backups = new BackupLimiter()
  return () => {
    const dump = engine.dump()
    if (dump === null) return null
    const { kv } = engine
    const origin = { directory: config.dataDir, kv, lastBackup: lastBackupOf(config, kv), clock }
    return backups.limited(backupOf(dump, origin))
  }
}
