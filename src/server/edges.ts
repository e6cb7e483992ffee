import { Authenticator } from '../access/credentials.ts'
import { AccessReader } from '../access/document-access.ts'
import { PermissionReader } from '../access/permission-report.ts'
import { RealtimeAccess } from '../access/realtime.ts'
import { Auditor } from '../api/auditor.ts'
import { storeAway } from '../api/envelope.ts'
import { boundConnections } from '../api/http-connections.ts'
import { HttpEdge } from '../api/http-edge.ts'
import { operations } from '../api/operations.ts'
import { pages } from '../api/pages.ts'
import { createRouter } from '../api/router.ts'
import { publicUrlOf } from '../config/public-url.ts'
import { readVersion } from '../config/version.ts'
import type { Health } from '../engine/engine.ts'
import { NotificationConfigs } from '../notifications/configs.ts'
import { Notifications } from '../notifications/notifications.ts'
import { backupOf } from '../storage/backup.ts'
import { BackupSlots } from '../storage/backup-slots.ts'
import type { Gate } from '../sync/client-socket.ts'
import { LocalGate } from '../sync/local-socket.ts'
import { ReadPressure } from '../sync/pressure.ts'
import { type SyncParts, SyncServer } from '../sync/server.ts'
import { WorkerPool } from '../sync/workers/pool.ts'
import { admissionOf, apiQuotasOf, httpConnectionsOf, inflowOf, workspaceReadsOf } from './quotas.ts'
import type { Services } from './services.ts'

/**
 * Bytes on their way to the disk above which reading from sockets pauses. Each is in memory several times meanwhile: as
 * it came, as a record, in the batch, and in the frames of those who are to see it.
 */
const pendingBytesMax = 4_194_304

const refusedToken = { outcome: 'UNAUTHENTICATED', claim: null } as const

type GateParts = Pick<Services, 'config' | 'clock' | 'metrics' | 'reports' | 'log'>

/** The websocket edge. */
export function createSync({
  config,
  clock,
  engine,
  metrics,
  reports,
  log,
  rooms,
  tokens,
  organizations,
  directory,
  origins,
  accessNews,
  defaultTenant,
  auditing,
  forwarding,
}: Services & Pick<SyncParts, 'forwarding'>): SyncServer {
  return new SyncServer(
    {
      ...admissionOf({ config, clock, reports }),
      authMs: config.authTimeoutSeconds * 1000,
      createOnConnect: config.createOnConnect,
      loopbackOnly: config.auth === 'none',
      proxies: config.trustProxy,
    },
    {
      gate: gateOf({ config, clock, metrics, reports, log }),
      forwarding,
      rooms,
      access: new RealtimeAccess({
        tokens,
        origins,
        news: accessNews,
        defaultTenant,
        reader: new AccessReader(organizations, accessNews, clock),
      }),
      records: directory.documents,
      logger: log,
      clock,
      metrics,
      reports,
      inflow: inflowOf({ config, clock, reports }),
      pressure: new ReadPressure(
        () => engine.pendingBytes() + rooms.queuedBytes,
        pendingBytesMax,
        () => reports.acted('pendingBytes', ''),
      ),
      allowSubdocuments: config.allowSubdocuments,
      documentBytesMax: config.maxDocumentBytes,
      onRefused: (clientAddress) => {
        if (config.audit !== 'off')
          auditing.refusals.note({ door: 'realtime', clientAddress, ...refusedToken })
      },
    },
  )
}

/** What serves the websockets. */
function gateOf({ config, clock, metrics, reports, log }: GateParts): Gate {
  const limits = { messageBytesMax: config.maxMessageBytes, sendBufferBytesMax: config.sendBufferBytes }
  const parts = { clock, metrics, reports, logger: log }
  const { workers } = config
  return workers === 1 ? new LocalGate(limits, parts) : new WorkerPool({ ...limits, workers }, parts)
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
  idempotentCalls,
  origins,
  auditing,
  ...rest
}: Services): HttpEdge {
  const stopping = (): Health | null =>
    rest.stopping.aborted ? { ok: false, reason: 'the server is stopping' } : null
  const readiness = (): Health => stopping() ?? engine.health()
  const callable = (): Health =>
    stopping() ?? (engine.health().ok ? { ok: true } : { ok: false, reason: storeAway })
  const wanted = (): Health =>
    rest.leaving.aborted && !rest.stopping.aborted
      ? { ok: false, reason: 'the server is draining' }
      : readiness()
  const authenticator = new Authenticator({
    tenants: tenancy.tenants,
    origins,
    clock,
    defaultTenant: rest.defaultTenant,
    adminToken: config.adminToken,
    onRefusal: (reason) => metrics.authFailures.inc({ reason }),
  })
  const backups = new BackupSlots(clock)
  const router = createRouter({
    operations,
    pages: pages({
      version: readVersion(),
      publicUrl: publicUrlOf(config),
      operations,
      metrics,
      metricsToken: config.metricsToken,
      readiness: wanted,
      adminToken: config.adminToken,
      backup: () => {
        const dump = engine.dump()
        if (dump === null) return 'nothing'
        return backups.take(backupOf(dump, { directory: config.data, clock })) ?? 'busy'
      },
    }),
    services: {
      ...directory,
      ...tenancy,
      ...comments,
      ...subscribing,
      memory,
      userData,
      workspaceReads: workspaceReadsOf({ config, clock, rates: rest.rates }),
      permissionReader: new PermissionReader(organizations, clock),
      notifications: new Notifications(organizations, clock),
      notificationConfigs: new NotificationConfigs(organizations),
      tokens,
      rooms,
      versions,
      pageTokens,
      audit: auditing.audit,
      log: engine.log,
      metrics,
      clock,
      allowSubdocuments: config.allowSubdocuments,
      publicUrl: publicUrlOf(config),
    },
    authenticator,
    auditor: new Auditor({ ...auditing, mode: config.audit, proxies: config.trustProxy }),
    idempotentCalls,
    origins,
    quotas: apiQuotasOf({ config, clock, reports: rest.reports, rates: rest.rates }),
    bodyBytesMax: config.maxBodyBytes,
    loopbackOnly: config.auth === 'none',
    readiness: callable,
    metrics,
    log,
  })
  const edge = new HttpEdge(router)
  boundConnections(edge.server, httpConnectionsOf({ config, clock, reports: rest.reports }))
  return edge
}
