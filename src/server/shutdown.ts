import type { HttpListener } from '../api/http/http-listener.ts'
import { type Close, close } from '../model/close.ts'
import type { SyncServer } from '../sync/connect/sync-server.ts'

import type { ServerServices } from './services.ts'

/** Part of the time for a stop that is kept for the store. */
const storeShare = 0.25

/**
 * Of the time for clients, where other nodes are there: so long the node says that it is not ready and serves all the same,
 * so that load balancers send newcomers elsewhere; and so long it takes to send everybody away.
 */
const leavingShares = { saying: 0.25, sending: 0.5 }

/** What ends a server, and how it is told that it is to end. */
export interface ShutdownSteps {
  /** It is not ready from now on. */
  readonly leave: () => void
  /** Nothing new is done from now on. */
  readonly stop: () => void
}

/** Calls in progress and clients first, then the rooms, the port and the store; all within the configured time. */
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
  // Who is sent away finds a home elsewhere. Nobody waits for that: others may be slow to see it.
  void engine.cluster.drain(clientsMs)
  const webhooksStopped = webhooks.stop(clientsMs)
  const isAlone = engine.cluster.nodes().length === 1
  const sayingMs = isAlone ? 0 : clientsMs * leavingShares.saying
  if (!isAlone) await late(sayingMs)
  stop()
  // First: that clients are sent away is no leaving.
  const visits = directory.visits.stop()
  const leftMs = clientsMs - sayingMs
  const overMs = isAlone ? 0 : clientsMs * leavingShares.sending
  await Promise.all([edge.settle(leftMs), sync.drain(restarting, leftMs, overMs), webhooksStopped])
  const finishing = finishServer(services, edge, visits, restarting)
  // When it is late nobody waits for it any more, but it may still fail.
  finishing.catch((err: unknown) => log.error({ err }, 'the store failed at the end'))
  if ((await Promise.race([finishing, late(drainMs * storeShare)])) === 'late')
    log.error('the store did not finish within the time for a stop')
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
  // A connection that will not end must not keep the store open.
  await Promise.all([edge.close(), engine.close()])
}

const late = (ms: number): Promise<'late'> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, 'late').unref()
  })
