import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { examine } from '../../../src/capabilities/backups/storage/doctor.ts'
import { readConfig } from '../../../src/core/config/read-config.ts'
import { contentOf, eventually, RawClient, syncedEditor, typed } from '../../support/clients/clients.ts'
import { runCli } from '../../support/servers/cli.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { type ServerProcess, startProcess } from '../../support/servers/process.ts'
import { startTestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

/** Content as read, without the time of its last change. */
const timeless = (read: unknown): unknown =>
  (read as readonly Record<string, unknown>[]).map((entry) => ({ ...entry, lastUpdate: 'then' }))

describe('a server over PostgreSQL', () => {
  let postgres: PostgresServer
  let data: string
  let schema: string
  let running: ServerProcess | null = null
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())
  beforeEach(async () => {
    data = await mkdtemp(join(tmpdir(), 'weft-over-postgres-'))
    schema = postgres.newSchema()
  })
  afterEach(async () => {
    await running?.end('SIGKILL')
    await rm(data, { recursive: true, force: true, maxRetries: 20 })
  })

  const start = async (): Promise<ServerProcess> => {
    running = await startProcess(data, {
      WEFT_ENGINE: 'postgres',
      WEFT_POSTGRES_URL: postgres.url,
      WEFT_POSTGRES_SCHEMA: schema,
    })
    return running
  }
  const address = { organizationId: 'acme', documentId: 'notes', editorId: 'main' }
  /** Returns null while the document does not exist: typed text is stored a moment later. */
  const read = async (server: ServerProcess): Promise<unknown> => {
    const { data } = await server.post('/v2/crdt/get', { organizationId: 'acme', documentId: 'notes' })
    return data ?? null
  }

  itLong(
    '[PG-17] keeps edits of clients and replacements of backends after SIGKILL and after a shutdown',
    async () => {
      let server = await start()
      const editor = await syncedEditor(server.wsUrl, 'acme/notes/main', await server.token())
      editor.text.insert(0, 'typed by Ada')
      await eventually(async () => JSON.stringify(await read(server)).includes('typed by Ada'))
      const replaced = { ...address, type: 'text', data: 'typed by Ada, replaced by a backend' }
      expect((await server.post('/v2/crdt/update', replaced)).status).toBe(200)
      await eventually(() => editor.text.toString() === replaced.data)
      editor.close()
      const content = await read(server)
      expect(JSON.stringify(content)).toContain(replaced.data)
      await server.end('SIGKILL')
      server = await start()
      // The room and the log record the time separately, sometimes a millisecond apart.
      expect(timeless(await read(server))).toEqual(timeless(content))
      const again = await syncedEditor(server.wsUrl, 'acme/notes/main', await server.token())
      expect(again.text.toString()).toBe(replaced.data)
      again.text.insert(0, 'Later: ')
      await eventually(async () => JSON.stringify(await read(server)).includes('Later: typed'))
      again.close()
      expect(await server.end('SIGTERM')).toBe(0)
      server = await start()
      expect(JSON.stringify(await read(server))).toContain('Later: typed')
      expect((await server.post('/v2/organizations/get', {})).data).toHaveLength(1)
      await server.end('SIGTERM')
    },
    60_000,
  )

  itLong(
    '[COPY-9] has a copy with its authors and comments after a crash that follows the response',
    async () => {
      let server = await start()
      const post = async (operation: string, body: object): Promise<unknown> =>
        (await server.post(`/v2/${operation}`, body)).data
      const [source, copy] = ['notes', 'copy'].map((documentId) => ({ organizationId: 'acme', documentId }))
      await post('crdt/add', { ...address, type: 'text', data: 'typed by Ann', userId: 'ann' })
      const anchor = { editorId: 'main', quote: 'by Ann' }
      const annotations = [{ anchor, comments: [{ from: { userId: 'bob' }, text: 'Really?' }] }]
      await post('commentannotations/add', { ...source, actionUser: { userId: 'bob' }, annotations })
      await post('crdt/copy', { ...copy, from: source, withComments: true })
      await server.end('SIGKILL')
      server = await start()
      expect(await post('crdt/get', { ...copy, editorId: 'main', attribution: true })).toMatchObject([
        { attribution: [{ text: 'typed by Ann', userId: 'ann' }] },
      ])
      expect(await post('commentannotations/get', { ...copy })).toMatchObject([
        { anchorPlace: { quote: 'by Ann' }, comments: [{ text: 'Really?' }] },
      ])
      await server.end('SIGTERM')
    },
    60_000,
  )

  itLong(
    '[PG-18] sends no update while the database is unavailable, and all updates when it is back',
    async () => {
      const server = await startTestServer({
        engine: 'postgres',
        postgresUrl: postgres.url,
        postgresSchema: schema,
        dataDir: data,
      })
      const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status
      const url = `${server.wsUrl}/sync/acme/notes/main?token=${await server.token('ada')}`
      const [writer, reader] = [await RawClient.connect(url), await RawClient.connect(url)]
      await Promise.all([writer.roundTrip(), reader.roundTrip()])
      await postgres.kill()
      writer.sendUpdate(typed('held back', 1))
      await eventually(async () => (await ready()) === 503)
      const why = await (await fetch(`${server.url}/readyz`)).text()
      expect([why.includes('the database is not available'), why.includes(`${postgres.port}`)]).toEqual([
        true,
        false,
      ])
      expect(reader.updates()).toEqual([])
      await postgres.start()
      await eventually(() => contentOf(reader.updates()) === 'held back')
      expect(await ready()).toBe(200)
      for (const client of [writer, reader]) client.end()
      await server.stop()
    },
  )

  itLong(
    '[PG-19] a command for the embedded store reports that the documents are in PostgreSQL',
    async () => {
      const environment = { WEFT_ENGINE: 'postgres', WEFT_POSTGRES_URL: postgres.url, WEFT_DATA_DIR: data }
      const file = join(data, 'file')
      await writeFile(file, '')
      const commands = [
        ['verify', data],
        ['compact', data],
        ['audit', data],
        ['doc', 'get', 'acme/notes/main', '--data-dir', data],
        ['import', 'updates', file],
      ]
      const ran = await Promise.all(commands.map((args) => runCli(args, data, environment)))
      const refused = { code: 2, out: '', err: expect.stringMatching(/keeps its documents in PostgreSQL/) }
      expect(ran).toEqual(commands.map(() => refused))
      const elsewhere = await mkdtemp(join(data, 'elsewhere-'))
      expect((await runCli(['verify', elsewhere], data, environment)).err).toMatch(/holds no store/)
    },
    60_000,
  )

  itLong(
    '[CMD-9] weft doc lists, reads and writes documents in the database while all servers are stopped',
    async () => {
      const environment = {
        WEFT_ENGINE: 'postgres',
        WEFT_POSTGRES_URL: postgres.url,
        WEFT_POSTGRES_SCHEMA: schema,
        WEFT_DATA_DIR: data,
      }
      const weft = (...args: string[]) => runCli(['doc', ...args], data, environment)
      const server = await start()
      const document = { organizationId: 'shelf', documentId: 'notes', editorId: 'main' }
      const content = { type: 'text', data: 'in the database', upsert: true }
      expect((await server.post('/v2/crdt/update', { ...document, ...content })).status).toBe(200)
      expect((await weft('ls')).err).toMatch(/in use/)
      await server.end('SIGTERM')
      expect((await weft('ls', 'shelf')).out).toMatch(/shelf\/notes/)
      const file = join(data, 'update.bin')
      await weft('get', 'shelf/notes/main', '--format', 'update', '--out', file)
      expect(await weft('put', 'shelf/copy/main', file)).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^written: \d+ bytes\n$/),
      })
      expect((await weft('get', 'shelf/copy/main', '--format', 'text')).out).toBe('in the database')
      // [RUN-1] API keys work the same way.
      const keys = (...args: string[]) => runCli(['keys', ...args], data, environment)
      expect(await keys('add', 'another-key')).toMatchObject({ code: 0 })
      expect((await keys('list')).out).toContain('another-key')
      const typo = await runCli(['serve'], data, { ...environment, WEFT_PORT: '0', WEFT_API_KEY: 'typo' })
      expect(typo).toMatchObject({
        code: 2,
        err: expect.stringMatching(/^weft: the store has API keys, but not/),
      })
    },
    60_000,
  )

  itLong(
    '[PG-22] weft doctor checks the database instead of the disk',
    async () => {
      const environment = { WEFT_ENGINE: 'postgres', WEFT_DATA_DIR: data, WEFT_PORT: '0' }
      const examined = async (url: string) => {
        const given = { ...environment, WEFT_POSTGRES_URL: url }
        const { code, out } = await runCli(['doctor', '--json'], data, given)
        const { findings } = JSON.parse(out) as {
          findings: { name: string; verdict: string; found: string }[]
        }
        return { code, names: findings.map(({ name }) => name), database: findings.find(isDatabase) }
      }
      const isDatabase = ({ name }: { name: string }) => name === 'database'
      const there = await examined(postgres.url)
      expect(there.names).not.toContain('stored files')
      // The PostgreSQL of the tests does not sync.
      const found = expect.stringMatching(/^PostgreSQL 1\d\.\d+, .* ms away: fsync is off/)
      expect(there.database).toMatchObject({ verdict: 'warn', found })
      const gone = await examined('postgres://weft:not-to-be-told@127.0.0.1:1/postgres')
      expect(gone.code).toBe(1)
      expect(gone.database).toMatchObject({ verdict: 'fail', found: expect.stringContaining('ECONNREFUSED') })
      expect(JSON.stringify(gone)).not.toContain('not-to-be-told')
    },
    30_000,
  )

  it('[PG-38] weft doctor warns if the database allows fewer connections than a server uses', async () => {
    const examined = async (postgresConnections: number) => {
      const { config } = readConfig({ flags: {}, environment: {}, file: null })
      const given = {
        engine: 'postgres',
        dataDir: data,
        postgresUrl: postgres.url,
        postgresConnections,
        port: 0,
      } as const
      const findings = await examine({ ...config, ...given })
      return findings.find(({ name }) => name === 'database')
    }
    // PostgreSQL reserves three of its 60 connections for administrators.
    expect((await examined(52))?.found).not.toContain('connections')
    expect(await examined(53)).toMatchObject({
      verdict: 'warn',
      found: expect.stringContaining('it takes 57 connections, and a server with 53 needs 58'),
      help: expect.stringContaining('set max_connections'),
    })
  })

  it('[PG-20] requires a database URL for the engine `postgres`, and never prints it', async () => {
    const missing = await runCli(['serve', '--engine', 'postgres'], data)
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('WEFT_POSTGRES_URL')])
    const environment = { WEFT_ENGINE: 'postgres', WEFT_POSTGRES_URL: 'mysql://ada:not-to-be-told@db/x' }
    const wrong = await runCli(['config', 'print'], data, environment)
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('postgres://')])
    const secret = `postgres://ada:not-to-be-told@127.0.0.1:${postgres.port}/none`
    const refused = await runCli(['serve', '--port', '0'], data, {
      ...environment,
      WEFT_POSTGRES_URL: secret,
    })
    expect([refused.code, refused.err]).toEqual([2, expect.stringMatching(/"ada" does not exist/)])
    for (const { out, err } of [missing, wrong, refused]) expect(out + err).not.toContain('not-to-be-told')
  }, 30_000)
})
