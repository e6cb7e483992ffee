import { afterAll, beforeAll, describe } from 'vitest'
import type { Clock } from '../../../src/clock.ts'
import { openPostgresEngine } from '../../../src/engine/postgres/engine.ts'
import { noPostgres, type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { engineContract, type OpenedEngine } from '../suite/suite.ts'

let server: PostgresServer

async function openIn(schema: string, clock: Clock): Promise<OpenedEngine> {
  // Fewer partitions than usual: each is a table to be made and removed.
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

// It takes long: what is PostgreSQL's own is tested beside this.
describe.skipIf(process.env.WEFT_TEST_ALL !== '1' || noPostgres !== null)('over PostgreSQL', () => {
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  engineContract('postgres', { keeps: true, open: (clock) => openIn(server.newSchema(), clock) })
})
