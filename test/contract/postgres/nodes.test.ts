import { afterAll, beforeAll, describe } from 'vitest'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import type { Clock } from '../../../src/core/base/clock.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'

describe('nodes over PostgreSQL', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())

  async function openIn(schema: string, clock: Clock): Promise<OpenedEngine> {
    const nodes = { time: 'own' as const }
    const engine = await openPostgresEngine({ url: postgres.url, schema, clock, partitions: 2, nodes })
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
