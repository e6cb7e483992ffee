import { NatsBus } from '../../src/cluster/nats/bus.ts'
import { openPostgresEngine } from '../../src/cluster/postgres/engine.ts'
import { systemClock } from '../../src/core/base/clock.ts'
import { createLog } from '../../src/core/base/log.ts'
import { ReplicaSync } from '../../src/core/rooms/replication/replica-sync.ts'
import type { BusNamespace } from '../../src/core/store/cluster-bus.ts'

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
  const copies = new ReplicaSync(engine, systemClock, createLog('error'), new Map())
  const end = async (): Promise<void> => {
    copies.close()
    await engine.close()
  }
  return Object.assign(copies, { end })
}
