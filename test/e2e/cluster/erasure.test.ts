import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually, syncedEditor } from '../../support/clients/clients.ts'
import { unexplained } from '../../support/data/erased-user.ts'
import { fillOrganization, userDataOf, zoe, zoeTexts } from '../../support/data/user-data.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { rowsHolding } from '../../support/stores/stored-rows.ts'

let postgres: PostgresServer
let dataDir: string
beforeAll(async () => {
  postgres = await startPostgres()
  dataDir = await mkdtemp(join(tmpdir(), 'weft-erasure-'))
})
afterAll(async () => {
  await postgres?.remove()
  await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
})

it('[DATA-3] removes a user from all tables of PostgreSQL', async () => {
  const postgresSchema = postgres.newSchema()
  const server = await startTestServer({
    engine: 'postgres',
    postgresUrl: postgres.url,
    postgresSchema,
    dataDir,
  })
  const post = async (path: string, data: object) => dataOf(await server.post(path, data))
  const rowsWith = (...texts: string[]) => rowsHolding(postgres, postgresSchema, texts)
  try {
    await post('/v2/workspace/feed/update', { enabled: true })
    await fillOrganization(post, 'acme')
    const editor = await syncedEditor(server.wsUrl, 'acme/typed/main', await server.token(zoe.userId, zoe))
    editor.text.insert(0, 'Typed by Zoe.')
    await eventually(async () => (await rowsWith('Typed by Zoe.')).length > 0)
    editor.close()
    const tables = new Set((await rowsWith(...zoeTexts)).map((row) => row.split(/[_ ]/)[0]))
    expect([...tables]).toEqual(expect.arrayContaining(['entry', 'kv']))
    await eventually(async () => (await userDataOf(server).erase()).status === 'done')
  } finally {
    await server.stop()
  }
  expect(unexplained(await rowsWith(...zoeTexts))).toEqual([])
  expect(await rowsWith('Typed by Zoe.')).not.toEqual([])
})
