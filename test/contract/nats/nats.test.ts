import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import { NatsBus } from '../../../src/cluster/nats/bus.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import type { Clock } from '../../../src/core/base/clock.ts'
import type { BusNamespace } from '../../../src/core/store/cluster-bus.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { type NatsServer, startNats } from '../../support/servers/nats.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { busContract } from '../suite/bus.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'

describe('the bus over NATS', () => {
  let server: NatsServer
  let clock: HeldClock
  let bus: NatsBus
  let engine: Engine
  beforeAll(async () => {
    server = await startNats()
  })
  afterAll(() => server?.remove())
  beforeEach(async () => {
    clock = new HeldClock()
    bus = await NatsBus.open({ urls: [server.url], prefix: 'weft.contract' })
    engine = { ...(await openMemoryEngine({ clock })), bus }
  })
  afterEach(() => bus.close())

  busContract(() => ({ engine, clock, reopen: async () => undefined }))
})

describe('over PostgreSQL and NATS', () => {
  let nats: NatsServer
  let postgres: PostgresServer
  beforeAll(async () => {
    ;[nats, postgres] = await Promise.all([startNats(), startPostgres()])
  })
  afterAll(() => Promise.all([nats?.remove(), postgres?.remove()]))

  async function openIn(schema: string, clock: Clock): Promise<OpenedEngine> {
    const openBus = ({ prefix }: BusNamespace) => NatsBus.open({ urls: [nats.url], prefix })
    const options = {
      url: postgres.url,
      schema,
      clock,
      partitions: 2,
      nodes: { openBus, time: 'own' as const },
    }
    const engine = await openPostgresEngine(options)
    return {
      engine,
      reopen: () => engine.close().then(() => openIn(schema, clock)),
      dispose: async () => {
        await engine.close()
        await postgres.sql(`drop schema ${schema} cascade`)
      },
    }
  }

  engineContract('postgres of many nodes', {
    keeps: true,
    open: (clock) => openIn(postgres.newSchema(), clock),
  })
})
