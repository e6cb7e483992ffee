import type { HttpListener } from '../api/http/http-listener.ts'
import { type Close, close } from '../model/close.ts'
import type { SyncServer } from '../sync/connect/sync-server.ts'

import type { ServerServices } from './services.ts'

/** Share of the shutdown time that is reserved for the store. */
const storeShare = 0.25

/**
 * Shares of the time for clients, if the cluster has other nodes. `saying`: the node is not ready but still serves,
 * so that load balancers send new clients elsewhere. `sending`: the node disconnects all clients.
 */
const leavingShares = { saying: 0.25, sending: 0.5 }

/** Steps of a shutdown, and callbacks for the parts that must stop. */
export interface ShutdownSteps {
  /** Makes the server not ready. */
  readonly leave: () => void
  /** Stops all new work. */
  readonly stop: () => void
}

/**
 * Ends calls in progress and client connections first, then the rooms, the port and the store, within the configured
 * time.
 */
export async function shutDown(
  services: ServerServices,
  edge: HttpListener,
  sync: SyncServer,
  { leave, stop }: ShutdownSteps,
): Promise<void> {
  const { config, directory, engine, webhooks, reports, rejections, log } = services
  const restarting = close('serviceRestart', 'the server is restarting')
  const drainMs = config.shutdownSeconds * 1000
  const clientsMs = drainMs * (1 - storeShare)
  leave()
  // Disconnected clients find another home node. The shutdown does not wait: other nodes may be slow to notice.
  void engine.cluster.drain(clientsMs)
  const webhooksStopped = webhooks.stop(clientsMs)
  const isAlone = engine.cluster.nodes().length === 1
  const sayingMs = isAlone ? 0 : clientsMs * leavingShares.saying
  if (!isAlone) await late(sayingMs)
  stop()
  // First: the disconnection of all clients must not count as leaving.
  const visits = directory.visits.stop()
  const leftMs = clientsMs - sayingMs
  const overMs = isAlone ? 0 : clientsMs * leavingShares.sending
  await Promise.all([edge.settle(leftMs), sync.drain(restarting, leftMs, overMs), webhooksStopped])
  const finishing = finishServer(services, edge, visits, restarting)
  // The shutdown does not wait any longer, but the store may still fail.
  finishing.catch((err: unknown) => log.error({ err }, 'the store failed during the shutdown'))
  if ((await Promise.race([finishing, late(drainMs * storeShare)])) === 'late')
    log.error('the store did not close within the time of the shutdown')
  reports.end()
  rejections.end()
}

async function finishServer(
  {
    rooms,
    versions,
    directory,
    userData,
    comments,
    idempotentCalls,
    auditing,
    engine,
    ...rest
  }: ServerServices,
  edge: HttpListener,
  visits: Promise<void>,
  restarting: Close,
): Promise<void> {
  const working = [directory.removals, userData, comments.judging, versions, idempotentCalls, auditing.sweep]
  await Promise.all(working.map((each) => each.stop()))
  await rooms.closeAll(restarting)
  await directory.edits.stop()
  await visits
  await auditing.refusals.flush()
  rest.accessNews.end()
  rest.rates.end()
  // A connection that does not close must not keep the store open.
  await Promise.all([edge.close(), engine.close()])
}

const late = (ms: number): Promise<'late'> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, 'late').unref()
  })
