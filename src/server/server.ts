import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import { capabilities } from '../capabilities/list.ts'
import type { CallbackFunctions } from '../capabilities/webhooks/callback-records.ts'
import { EventListeners } from '../capabilities/webhooks/sending/fanout.ts'
import { createAudit, startAuditing } from '../core/audit/audit.ts'
import { RecentRequests } from '../core/audit/recent-requests.ts'
import { type Clock, systemClock } from '../core/base/clock.ts'
import { runTraced, runUntraced } from '../core/base/current-trace.ts'
import { droppedLines, type Log } from '../core/base/log.ts'
import { readPackageVersion } from '../core/base/package-version.ts'
import { readTraceContext } from '../core/base/trace-context.ts'
import type { Config } from '../core/config/config.ts'
import { nodeUrlAt } from '../core/config/public-url.ts'
import { bootstrapNode } from '../core/directory/tenants/cluster-credentials.ts'
import {
  makeDataDirectory,
  noteCreated,
  noteStarted,
  type ServerCredentials,
} from '../core/directory/tenants/credentials-file.ts'
import { createTenancy } from '../core/directory/tenants/tenancy.ts'
import { createMetrics } from '../core/metrics/metrics.ts'
import { LimitReports } from '../core/quota/limit-reports.ts'
import { transferTimeoutMsDefault } from '../core/quota/slow-transfers.ts'
import { TickShares } from '../core/quota/tick-shares.ts'
import type { Engine } from '../core/store/engine.ts'
import { RejectionLog } from '../core/sync/admission/rejection-log.ts'
import { isSyncRequest } from '../core/sync/admission/sync-request.ts'
import { openSpans } from '../core/tracing/open-spans.ts'
import { createTracer } from '../core/tracing/trace.ts'
import { onWebsocket } from '../rest/http/http-server.ts'
import { createHttp, createSync } from './edges.ts'
import { memoryAccountsOf } from './limits-from-config.ts'
import { openBackupSchedule } from './open-backup-schedule.ts'
import { registerServerMetrics } from './server-metrics.ts'
import { createServices, type ServerBase, type ServerServices } from './services.ts'
import { shutDown } from './shutdown.ts'

export interface OpenServer {
  readonly credentials: ServerCredentials
  /** True if this start created credentials, or an earlier one that has failed since then. */
  readonly created: boolean
  readonly listeners: EventListeners
  /** Starts the work that no request causes: deliveries, retention, retries. */
  begin(): void
  /**
   * Listens on a port, 0: any free port. Resolves with the port.
   * @throws ListenError
   */
  listen(port: number, host: string): Promise<number>
  /** Answers a request that another HTTP server has received. */
  readonly handle: RequestListener
  /**
   * Handles an upgrade that another HTTP server has received. Returns false, and does nothing, if the path of the
   * request is not one of Weft.
   */
  handleUpgrade(request: IncomingMessage, connection: Duplex, head: Buffer): boolean
  /**
   * Stops the server: rejects new clients, answers pending requests, makes clients reconnect (close code
   * 1012), and waits until accepted changes are durable. Ends within `shutdownSeconds`. A repeated call has
   * no effect.
   */
  close(): Promise<void>
}

/** A server that listens. */
export interface RunningServer extends Pick<OpenServer, 'credentials' | 'created' | 'close'> {
  readonly port: number
}

/**
 * Parts of the server that the caller provides instead of the default parts. The server closes a provided
 * engine.
 */
export interface ServerOverrides {
  readonly clock?: Clock
  readonly engine?: Engine
  /** See `ServerBase`. Default: `transferTimeoutMsDefault`. */
  readonly transferTimeoutMs?: number
  /** Callbacks that are functions of this process. */
  readonly functions?: CallbackFunctions | null
}

/**
 * Opens the store, creates missing credentials, and serves HTTP and websockets on one port. If this fails,
 * nothing remains running.
 * @throws EngineOpenError, BootstrapError, ListenError with a message for the operator
 */
export async function startServer(
  config: Config,
  log: Log,
  given: ServerOverrides = {},
): Promise<RunningServer> {
  const server = await openServer(config, log, given)
  try {
    const port = await server.listen(config.port, config.host)
    server.begin()
    return { port, credentials: server.credentials, created: server.created, close: () => server.close() }
  } catch (error) {
    await server.abandon()
    throw error
  }
}

/**
 * Opens the store, and creates missing credentials. If this fails, nothing remains running. The caller must call
 * `begin`, or else `abandon`.
 * @throws EngineOpenError, BootstrapError with a message for the operator
 */
export async function openServer(
  config: Config,
  log: Log,
  given: ServerOverrides = {},
): Promise<OpenServer & { abandon(): Promise<void> }> {
  if (keepsData(config)) await makeDataDirectory(config.dataDir)
  const engine = given.engine ?? (await openEngine(config, log))
  try {
    const { clock = systemClock, transferTimeoutMs = transferTimeoutMsDefault, functions = null } = given
    return await open({ config, log, clock, engine, transferTimeoutMs, functions })
  } catch (error) {
    await engine.close()
    throw error
  }
}

const dayMs = 86_400_000

const signingSecretMade =
  'the store has API keys, but no signing secret is configured (WEFT_JWT_SECRET) or kept in credentials.json: the server ' +
  'made a new one, and rejects all realtime tokens that were issued before; to keep those tokens valid, stop the server, ' +
  'and restore credentials.json or configure the former secret'

const keepsData = ({ engine }: Config): boolean => engine !== 'memory'

/** Opens the configured engine. Loads only the modules of this engine. */
async function openEngine(config: Config, log: Log): Promise<Engine> {
  if (config.engine === 'memory') return (await import('../core/store/memory/engine.ts')).openMemoryEngine()
  if (config.engine === 'postgres') return openPostgres(config, log)
  const { openLevelEngine } = await import('../core/store/level/engine.ts')
  return openLevelEngine({ directory: config.dataDir, durability: config.durability, log })
}

async function openPostgres(config: Config, log: Log): Promise<Engine> {
  const { openPostgresEngine } = await import('../cluster/postgres/engine.ts')
  return openPostgresEngine({
    url: config.postgresUrl ?? '',
    schema: config.postgresSchema,
    durability: config.durability,
    poolSize: config.postgresConnections,
    log,
    nodes: { name: config.nodeName ?? undefined },
  })
}

async function open(
  options: Pick<ServerBase, 'config' | 'log' | 'clock' | 'engine' | 'transferTimeoutMs' | 'functions'>,
): Promise<OpenServer & { abandon(): Promise<void> }> {
  const { clock, log, engine } = options
  const metrics = createMetrics(() => droppedLines(log))
  const tenancy = createTenancy(engine, clock)
  const { tenants } = tenancy
  const directory = keepsData(options.config) ? options.config.dataDir : null
  const auditing = createAudit({
    kv: engine.kv,
    tenants,
    clock,
    log,
    keepMs: options.config.auditRetentionDays * dayMs,
  })
  const carryOut = await startAuditing(auditing.audit, options.config.audit)
  const bootstrapped = await bootstrapNode(engine, {
    configured: options.config,
    directory,
    keptIn: options.config.engine === 'level' ? 'directory' : 'store',
    tenants,
    clock,
    log,
    carryOut,
  })
  const { credentials, isSecretLost } = bootstrapped
  const config = { ...options.config, adminToken: credentials.adminToken ?? null }
  const given = { ...options, config }
  const created =
    directory === null ? bootstrapped.created : await noteCreated(directory, bootstrapped.created)
  if (isSecretLost) log.warn({ event: 'signing_secret.made', data: directory }, signingSecretMade)
  const [leaving, stopping] = [new AbortController(), new AbortController()]
  registerServerMetrics({ ...given, metrics })
  const version = readPackageVersion()
  const backups = await openBackupSchedule({ ...given, metrics })
  const spans = await openSpans({ config, version, node: engine.cluster.self, metrics, log })
  const reports = new LimitReports({ ...given, metrics })
  const recent = new RecentRequests(tenants, clock, credentials)
  const base = {
    ...given,
    recent,
    metrics,
    backups,
    reports,
    tracer: createTracer(config.debug, log),
    spans,
    rejections: new RejectionLog(clock, log, recent),
    memoryAccounts: memoryAccountsOf({ config, metrics, reports }),
    tickShares: new TickShares(),
    tenancy,
    auditing,
    listeners: new EventListeners(log),
    leaving: leaving.signal,
    stopping: stopping.signal,
  }
  const services = createServices(base, credentials)
  const sync = createSync(services)
  const edge = createHttp(sync, services)
  const upgrade = tracedUpgrade(sync)
  onWebsocket(edge.server, upgrade)
  let closing: Promise<void> | null = null
  const end = () => shutDown(services, edge, sync, { leaving, stopping })
  return {
    credentials,
    created,
    listeners: base.listeners,
    begin: () => {
      begin(services)
      // Another HTTP server of the process may listen instead of this one.
      if (config.nodeUrl !== null) engine.cluster.listening(config.nodeUrl)
      if (directory !== null) noteStarted(directory)
    },
    async listen(port, host) {
      const bound = await edge.listen(port, host)
      engine.cluster.listening(config.nodeUrl ?? nodeUrlAt(host, bound))
      return bound
    },
    handle: (request, response) => edge.handle(request, response),
    handleUpgrade: (request, connection, head) => {
      const isOwn = isSyncRequest(request)
      if (isOwn) upgrade(request, connection, head)
      return isOwn
    },
    close: () => (closing ??= end()),
    abandon: async () => {
      sync.end()
      await Promise.all([engine.close(), spans?.close(0)])
    },
  }
}

type UpgradeHandler = (request: IncomingMessage, connection: Duplex, head: Buffer) => void

/**
 * Returns the handler of upgrades. The callbacks that a websocket with `traceparent` causes get this header. They have
 * no spans, because the client is not authenticated yet. The updates of the websocket do not continue its trace, because
 * it may be open for days.
 */
function tracedUpgrade(sync: { upgrade: UpgradeHandler }): UpgradeHandler {
  return (request, connection, head) => {
    const context = readTraceContext(request.headers)
    if (context === null) runUntraced(() => sync.upgrade(request, connection, head))
    else runTraced({ context, spans: null }, () => sync.upgrade(request, connection, head))
  }
}

function begin(services: ServerServices): void {
  services.removals.start()
  services.edits.start()
  services.visits.start()
  services.auditing.sweep.task.start()
  services.idempotentCalls.sweeps.start()
  for (const { start } of capabilities) start?.(services)
}
