import type { HttpEdge } from '../api/http-edge.ts'
import { type Close, close } from '../model/close.ts'
import type { SyncServer } from '../sync/server.ts'

import type { Services } from './services.ts'

/** Part of the time for a stop that is kept for the store. */
const storeShare = 0.25

/** Calls in progress and clients first, then the rooms, the port and the store; all within the configured time. */
export async function endServer(services: Services, edge: HttpEdge, sync: SyncServer): Promise<void> {
  const { config, directory, webhooks, reports, log } = services
  const restarting = close('restarting', 'the server is restarting')
  const drainMs = config.drainSeconds * 1000
  // First: that clients are sent away is no leaving.
  const visits = directory.visits.stop()
  const clientsMs = drainMs * (1 - storeShare)
  await Promise.all([edge.settle(clientsMs), sync.drain(restarting, clientsMs), webhooks.stop(clientsMs)])
  const finishing = finishServer(services, edge, visits, restarting)
  // When it is late nobody waits for it any more, but it may still fail.
  finishing.catch((err: unknown) => log.error({ err }, 'the store failed at the end'))
  if ((await Promise.race([finishing, late(drainMs * storeShare)])) === 'late')
    log.error('the store did not finish within the time for a stop')
  reports.end()
}

async function finishServer(
  { rooms, versions, directory, userData, comments, idempotentCalls, auditing, engine }: Services,
  edge: HttpEdge,
  visits: Promise<void>,
  restarting: Close,
): Promise<void> {
  const working = [directory.removals, userData, comments.judging, versions, idempotentCalls, auditing.sweep]
  await Promise.all(working.map((each) => each.stop()))
  await rooms.closeAll(restarting)
  await directory.edits.stop()
  await visits
  await auditing.refusals.flush()
  // A connection that will not end must not keep the store open.
  await Promise.all([edge.close(), engine.close()])
}

const late = (ms: number): Promise<'late'> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, 'late').unref()
  })
