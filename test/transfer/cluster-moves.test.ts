import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { editRecorded } from '../support/data/recorded-edits.ts'
import { runCli } from '../support/servers/cli.ts'
import { type PostgresServer, startPostgres } from '../support/servers/postgres.ts'
import { startTestServer, type TestServer } from '../support/servers/server.ts'
import { adminToken } from '../support/servers/tenants.ts'
import { itLong as it } from '../support/time/full-run.ts'
import { answersOf, fill, heldBy, movingIds, type RichStore, seenBySocket, startOn } from './sample-store.ts'

const deep = { timeout: 240_000 }
const typed = 'acme/report/typed'

describe('from a data directory to servers that share a database', () => {
  const root = mkdtempSync(join(tmpdir(), 'weft-moving-'))
  const at = (...names: string[]): string => join(root, ...names)
  let postgres: PostgresServer
  let rich: RichStore
  let before: Awaited<ReturnType<typeof shown>>
  let schema: string

  const shown = async (server: TestServer) => ({
    answers: await answersOf(server, rich),
    ids: await movingIds(server, rich),
    socket: await seenBySocket(server, typed),
  })
  const environment = (data = 'of-the-first') => ({
    WEFT_ENGINE: 'postgres',
    WEFT_POSTGRES_URL: postgres.url,
    WEFT_POSTGRES_SCHEMA: schema,
    WEFT_DATA_DIR: at(data),
  })
  const weft = (...args: string[]) => runCli(args, root, environment())
  const embedded = (...args: string[]) => runCli(args, root)
  const node = (name: string): Promise<TestServer> =>
    startTestServer({
      engine: 'postgres',
      postgresUrl: postgres.url,
      postgresSchema: schema,
      dataDir: at(name),
      adminToken,
    })

  beforeAll(async () => {
    postgres = await startPostgres()
    schema = postgres.newSchema()
    const filled = await startOn(at('data'))
    rich = await fill(filled)
    await filled.stop()
    const server = await startOn(at('data'))
    before = await shown(server)
    await server.stop()
    expect(await embedded('backup', at('data'), at('backup'))).toMatchObject({ code: 0 })
  }, 120_000)

  afterAll(async () => {
    await postgres?.remove()
    rmSync(root, { recursive: true, force: true, maxRetries: 20 })
  })

  it('[CF-20] when the database has no store, an export fails and creates nothing', deep, async () => {
    const nothing = await weft('export', at('nothing'))
    expect(nothing).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${schema} of the database holds no store`),
    })
    expect(await postgres.sql(`select 1 from pg_namespace where nspname = '${schema}'`)).toEqual([])
  })

  it(
    '[BKP-55] after a restore of a data directory into the database, all servers serve its content, whichever starts first',
    deep,
    async () => {
      expect(await weft('restore', at('backup'))).toMatchObject({ code: 0 })
      // The first server to start does not have the credentials.
      const [one, two] = [await node('of-another'), await node('of-the-first')]
      try {
        for (const server of [one, two]) {
          expect(server.credentials).toEqual(rich.credentials)
          const after = await shown(server)
          expect(after.answers).toEqual(before.answers)
          expect(after.socket).toEqual(before.socket)
          expect(after.ids).toEqual(expect.arrayContaining([...before.ids]))
        }
        const sentence = expect.stringContaining('in use: stop all its servers first')
        expect(await weft('restore', at('backup'))).toMatchObject({ code: 2, err: sentence })
      } finally {
        await Promise.all([one.stop(), two.stop()])
      }
    },
  )

  it('[CF-21] while a server uses the database, an export fails with one sentence', deep, async () => {
    const one = await node('of-the-first')
    try {
      const sentence = expect.stringContaining('in use: stop all its servers first')
      expect(await weft('export', at('refused'))).toMatchObject({ code: 2, err: sentence })
    } finally {
      await one.stop()
    }
  })

  it('[CF-20] exports the documents of the database', deep, async () => {
    expect((await weft('export', at('out'))).code).toBe(0)
    expect((await embedded('export', at('same'), '--data-dir', at('data'))).code).toBe(0)
    const documents = (name: string) =>
      Object.entries(heldBy(at(name))).filter(([file]) => file.startsWith('documents/'))
    expect(documents('out')).toEqual(documents('same'))
  })

  it('[BKP-55] restores a backup of the database into a new directory', deep, async () => {
    const [one, two] = [await node('of-the-first'), await node('of-another')]
    const ids = { organizationId: 'acme', documentId: 'report', editorId: 'from-the-cluster' }
    await one.post('/v2/crdt/add', { ...ids, type: 'text', data: 'made there' })
    await editRecorded(one, ids)
    before = await shown(two)
    await Promise.all([one.stop(), two.stop()])
    // Simulates a machine without any server.
    const elsewhere = { ...environment('nowhere') }
    expect(await runCli(['backup', at('nowhere'), at('back')], root, elsewhere)).toMatchObject({ code: 0 })
    expect(await embedded('restore', at('back'), at('home'))).toMatchObject({ code: 0 })
    expect((await embedded('verify', at('home'))).code).toBe(0)
    const server = await startOn(at('home'))
    try {
      expect(server.credentials).toEqual(rich.credentials)
      const after = await shown(server)
      expect(after.answers).toEqual(before.answers)
      expect(after.socket).toEqual(before.socket)
      expect(after.ids).toEqual(expect.arrayContaining([...before.ids]))
    } finally {
      await server.stop()
    }
  })
})
