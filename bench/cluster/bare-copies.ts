import { systemClock } from '../../src/clock.ts'
import { NatsBus } from '../../src/engine/nats/bus.ts'
import { openPostgresEngine } from '../../src/engine/postgres/engine.ts'
import type { BusPlace } from '../../src/engine/shared-bus.ts'
import { createLog } from '../../src/log.ts'
import { type Copies, copiesOf } from '../../src/rooms/copies.ts'

/** A node without rooms, which can say and hear what nodes say to each other of documents. */
export async function openCopies(url: string, schema: string, nats: string, name: string): Promise<Copies> {
  const openBus = ({ prefix, clock }: BusPlace) => NatsBus.open({ urls: [nats], prefix, clock })
  const engine = await openPostgresEngine({ url, schema, nodes: { name, openBus } })
  const copies = copiesOf(engine, {
    clock: systemClock,
    logger: createLog('error'),
    room: () => undefined,
    open: () => [],
  })
  if (copies === null) throw new Error('nobody else writes there')
  return copies
}
