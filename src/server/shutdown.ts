import { setTimeout as sleep } from 'node:timers/promises'
import { capabilities } from '../capabilities/list.ts'
import { endsWithin, systemClock } from '../core/base/clock.ts'
import { type Close, close } from '../core/model/close.ts'
import type { SyncServer } from '../core/sync/sync-server.ts'
import type { HttpListener } from '../rest/http/http-listener.ts'

import type { ServerServices } from './services.ts'

/** Share of the shutdown time that is reserved for closing the store. */
const storeShare = 0.25

/**
 * Shares of the time for clients, if the cluster has other nodes. In `notReady`, the node reports that it is
 * not ready but still serves clients, so that load balancers choose other nodes. In `disconnect`, the node
 * disconnects all clients.
 */
const drainShares = { notReady: 0.25, disconnect: 0.5 }

/**
 * Stops the server within the configured time, in this order: calls in progress and client connections,
 * rooms, port, store.
 * @param signals aborted when the server reports that it is not ready, and when it accepts no new work
 */
export async function shutDown(
  services: ServerServices,
  edge: HttpListener,
  sync: SyncServer,
  signals: Readonly<Record<'leaving' | 'stopping', AbortController>>,
): Promise<void> {
  const { config, engine, reports, rejections, log } = services
  const restarting = close('serviceRestart', 'the server is restarting')
  const drainMs = config.shutdownSeconds * 1000
  const endsAt = performance.now() + drainMs
  const clientsMs = drainMs * (1 - storeShare)
  signals.leaving.abort()
  const left = capabilities.map(({ leave }) => leave?.(services, clientsMs))
  const isAlone = engine.cluster.nodes().length === 1
  const notReadyMs = isAlone ? 0 : clientsMs * drainShares.notReady
  if (!isAlone) await sleep(notReadyMs, undefined, { ref: false })
  signals.stopping.abort()
  // Other nodes now take the documents of this node. The shutdown does not wait until all nodes have noticed this.
  void engine.cluster.drain(clientsMs - notReadyMs)
  // Stops the recording of visits first, because the disconnection of all clients must not be recorded as
  // leaving.
  const visits = services.visits.stop()
  const leftMs = clientsMs - notReadyMs
  const disconnectMs = isAlone ? 0 : clientsMs * drainShares.disconnect
  await Promise.all([edge.settle(leftMs), sync.drain(restarting, leftMs, disconnectMs), ...left])
  const finishing = finishServer(services, edge, visits, restarting)
  // Only logs a failure of the store that happens later, because the shutdown then no longer waits for the
  // store.
  finishing.catch((err: unknown) => log.error({ err }, 'the store failed during the shutdown'))
  if (!(await endsWithin(systemClock, drainMs * storeShare, finishing)))
    log.error('the store did not close within the time of the shutdown')
  // The spans of the shutdown itself are the last ones.
  await services.spans?.close(Math.max(0, endsAt - performance.now()))
  reports.end()
  rejections.end()
}

async function finishServer(
  services: ServerServices,
  edge: HttpListener,
  visits: Promise<void>,
  restarting: Close,
): Promise<void> {
  const { rooms, removals, edits, idempotentCalls, auditing, accessNews, rates, engine } = services
  await Promise.all([
    ...[removals, idempotentCalls.sweeps, auditing.sweep.task].map((each) => each.stop()),
    ...capabilities.map(({ stop }) => stop?.(services)),
  ])
  await rooms.closeAll(restarting)
  await edits.stop()
  await visits
  await auditing.refusals.flush()
  for (const { flush } of capabilities) await flush?.(services)
  accessNews.end()
  rates.end()
  services.forwarder.close()
  // Closes the store without waiting for the edge, because a connection may never close.
  await Promise.all([edge.close(), engine.close()])
}
