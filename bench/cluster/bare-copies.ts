import { systemClock } from '../../src/clock.ts'
import type { BusNamespace } from '../../src/engine/cluster-bus.ts'
import { NatsBus } from '../../src/engine/nats/bus.ts'
import { openPostgresEngine } from '../../src/engine/postgres/engine.ts'
import { createLog } from '../../src/log.ts'
import { ReplicaSync } from '../../src/rooms/replication/replica-sync.ts'

/**
 * Opens a node that has no rooms. The node can send and receive the messages that nodes exchange about
 * documents.
 */
export async function openCopies(
  url: string,
  schema: string,
  nats: string,
  name: string,
): Promise<ReplicaSync & { readonly end: () => Promise<void> }> {
  const openBus = ({ prefix }: BusNamespace) => NatsBus.open({ urls: [nats], prefix })
  const engine = await openPostgresEngine({ url, schema, nodes: { name, openBus } })
  const copies = new ReplicaSync(engine, {
    clock: systemClock,
    logger: createLog('error'),
    room: () => undefined,
    open: () => [],
  })
  const end = async (): Promise<void> => {
    copies.close()
    await engine.close()
  }
  return Object.assign(copies, { end })
}
