import { createAudit } from './audit/audit.ts'
import { startAuditing } from './audit/start.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { bootstrap } from './directory/bootstrap.ts'
import { type Credentials, makeDataDirectory } from './directory/credentials-file.ts'
import { createTenancy } from './directory/tenancy.ts'
import type { Engine } from './engine/engine.ts'
import type { Log } from './log.ts'
import { createMetrics } from './metrics.ts'
import { LimitReports } from './quota/reports.ts'
import { createHttp, createSync } from './server/edges.ts'
import { type Base, createServices } from './server/services.ts'
import { endServer } from './server/stopping.ts'

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

/** What a server may be given instead of making it: an engine is then closed with the server. */
export interface GivenParts {
  readonly clock?: Clock
  readonly engine?: Engine
}

/**
 * Opens the store, makes sure that credentials exist, and serves HTTP and websockets on one port.
 * @throws EngineOpenError, BootstrapError, ListenError: meant for the operator; nothing is left running
 */
export async function startServer(config: Config, log: Log, given: GivenParts = {}): Promise<RunningServer> {
  if (keepsData(config)) await makeDataDirectory(config.data)
  const engine = given.engine ?? (await openEngine(config, log))
  try {
    const { clock = systemClock } = given
    return await serve({ config, log, clock, engine })
  } catch (error) {
    await engine.close()
    throw error
  }
}

const dayMs = 86_400_000

const keepsData = ({ engine }: Config): boolean => engine !== 'memory'

/** Only the chosen engine is loaded. */
async function openEngine(config: Config, log: Log): Promise<Engine> {
  if (config.engine === 'memory') return (await import('./engine/memory/engine.ts')).openMemoryEngine()
  const { openLevelEngine } = await import('./engine/level/engine.ts')
  return openLevelEngine({ directory: config.data, durability: config.durability, log })
}

async function serve(given: Pick<Base, 'config' | 'log' | 'clock' | 'engine'>): Promise<RunningServer> {
  const { config, engine, clock, log } = given
  const tenancy = createTenancy(engine, clock)
  const { tenants } = tenancy
  const directory = keepsData(config) ? config.data : null
  const auditing = createAudit({ kv: engine.kv, tenants, clock, log, keepMs: config.auditDays * dayMs })
  const onChange = await startAuditing(auditing.audit, config.audit)
  const { credentials, created } = await bootstrap({
    configured: config,
    directory,
    tenants,
    clock,
    onChange,
  })
  const stop = new AbortController()
  const metrics = createMetrics()
  const reports = new LimitReports({ ...given, metrics })
  const base = { ...given, metrics, reports, tenancy, auditing, stopping: stop.signal }
  const services = createServices(base, credentials)
  const sync = createSync(services)
  const edge = createHttp(services)
  edge.server.on('upgrade', (request, connection, head) => sync.upgrade(request, connection, head))
  await sync.start()
  const port = await edge.listen(config.port, config.host).catch(async (error: unknown) => {
    await sync.end()
    throw error
  })
  services.directory.removals.start()
  services.directory.edits.start()
  services.userData.start()
  services.comments.judging.start()
  services.webhooks.start()
  services.versions.start()
  auditing.sweep.start()
  services.idempotentCalls.start()
  let closing: Promise<void> | null = null
  const end = () => {
    stop.abort()
    return endServer(services, edge, sync)
  }
  return { port, credentials, created, close: () => (closing ??= end()) }
}
