import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { runCli } from '../support/servers/cli.ts'
import { type PostgresServer, startPostgres } from '../support/servers/postgres.ts'
import { dataOf, startTestServer, type TestServer } from '../support/servers/server.ts'
import { itLong as it } from '../support/time/full-run.ts'
import { startOn } from './sample-store.ts'

const organizationId = 'acme'

describe('the transfer of a database with raised fences', () => {
  const root = mkdtempSync(join(tmpdir(), 'weft-fences-'))
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres()
  }, 60_000)
  afterAll(async () => {
    await postgres?.remove()
    rmSync(root, { recursive: true, force: true, maxRetries: 20 })
  })

  const environment = (schema: string) => ({
    WEFT_ENGINE: 'postgres',
    WEFT_POSTGRES_URL: postgres.url,
    WEFT_POSTGRES_SCHEMA: schema,
    WEFT_DATA_DIR: join(root, schema),
  })
  const call = async (server: TestServer, path: string, data: object): Promise<unknown> =>
    dataOf(await server.post(path, { organizationId, ...data }))
  const contentOf = async (server: TestServer): Promise<readonly unknown[]> => [
    await call(server, '/v2/organizations/documents/get', {}),
    await call(server, '/v2/crdt/get', { documentId: 'kept', editorId: 'main' }),
  ]

  /** Changes access and removes a document, each of which raises fences. */
  async function raiseFences(server: TestServer): Promise<void> {
    for (const documentId of ['kept', 'off', 'removed'])
      await call(server, '/v2/crdt/add', { documentId, editorId: 'main', type: 'text', data: documentId })
    const resource = { type: 'document', id: 'kept', organizationId, accessRole: 'viewer' }
    const permissions = { resources: [resource] }
    const granted = { user: { userId: 'ada' }, permissions, createMissing: true }
    dataOf(await server.post('/v2/auth/permissions/add', granted))
    const documents = [{ documentId: 'off', disabled: true }]
    await call(server, '/v2/organizations/documents/update', { documents })
    await call(server, '/v2/organizations/documents/delete', { documentIds: ['removed'] })
  }

  it('[BKP-51] a backup of a database with raised fences has its content, for a data directory and for another schema', async () => {
    const [schema, other] = [postgres.newSchema(), postgres.newSchema()]
    const start = (postgresSchema: string) =>
      startTestServer({
        engine: 'postgres',
        postgresUrl: postgres.url,
        postgresSchema,
        dataDir: join(root, postgresSchema),
      })
    const first = await start(schema)
    await raiseFences(first)
    await first.stop()
    // The times of documents that are in memory differ from the stored ones by milliseconds.
    const second = await start(schema)
    const content = await contentOf(second)
    await second.stop()
    // The key of a fence is the number of its counter, in 4 bytes.
    expect(
      (await postgres.sql(`select 1 from ${schema}.kv where octet_length(key) = 4`)).length,
    ).toBeGreaterThan(0)

    expect((await runCli(['backup', join(root, schema), 'backup'], root, environment(schema))).code).toBe(0)
    expect((await runCli(['restore', 'backup', 'home'], root)).code).toBe(0)
    const home = await startOn(join(root, 'home'))
    try {
      expect(await contentOf(home)).toEqual(content)
    } finally {
      await home.stop()
    }
    expect((await runCli(['restore', 'backup'], root, environment(other))).code).toBe(0)
    const restored = await start(other)
    expect(await contentOf(restored)).toEqual(content)
    await restored.stop()
  }, 120_000)
})
