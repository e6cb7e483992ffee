import { afterAll, beforeAll, describe } from 'vitest'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import type { Clock } from '../../../src/core/base/clock.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'

let server: PostgresServer

async function openIn(schema: string, clock: Clock): Promise<OpenedEngine> {
  // Fewer partitions than usual, because each one is a table that takes time to create and remove.
  const engine = await openPostgresEngine({ url: server.url, schema, clock, partitions: 2 })
  return {
    engine,
    reopen: () => engine.close().then(() => openIn(schema, clock)),
    dispose: async () => {
      await engine.close()
      await server.sql(`drop schema ${schema} cascade`)
    },
  }
}

// The suite takes long. The tests next to this file cover the parts that only PostgreSQL has.
describe('over PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  engineContract('postgres', { keeps: true, open: (clock) => openIn(server.newSchema(), clock) })
})
