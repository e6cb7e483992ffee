import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, onTestFinished } from 'vitest'
import { PostgresDatabase } from '../../../src/cluster/postgres/connection/database.ts'
import { statement } from '../../../src/cluster/postgres/connection/database-session.ts'
import { probeDatabase } from '../../../src/cluster/postgres/connection/probe.ts'
import { openPostgresEngine, type PostgresEngineOptions } from '../../../src/cluster/postgres/engine.ts'
import {
  type Engine,
  EngineOpenError,
  type OpenFailure,
  StoreUnavailableError,
} from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type PostgresServer, startEncrypted, startPostgres } from '../../support/servers/postgres.ts'
import { itLong as it } from '../../support/time/full-run.ts'
import {
  bytesOf,
  docKey,
  entriesOf,
  job,
  keepNone,
  loadLive,
  outcomeOf,
  textOf,
  updates,
} from '../suite/sample-data.ts'

describe('opening a schema of PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  const doc = docKey('opening')
  const open = (schema: string) => openPostgresEngine({ url: server.url, schema })
  const failure = async (opening: Promise<unknown>): Promise<readonly [OpenFailure, string]> => {
    const error = await opening.then(
      () => null,
      (error: unknown) => error,
    )
    if (!(error instanceof EngineOpenError)) throw new Error(`not refused as it should be: ${String(error)}`)
    return [error.reason, error.message]
  }

  it('[PG-12] when several processes create a schema at the same time, creates it once, and lets only one of them use it', async () => {
    const schema = server.newSchema()
    const opened = await Promise.allSettled(Array.from({ length: 4 }, () => open(schema)))
    const engines = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const refused = opened.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []))
    expect(engines).toHaveLength(1)
    expect(refused.map(({ message }) => message)).toEqual(
      Array.from({ length: 3 }, () => expect.stringMatching(/in use by another server/)),
    )
    await engines[0]?.log.append(doc, 'create', updates('1'))
    await engines[0]?.close()
    expect(await server.sql(`select value from ${schema}.meta where name = 'format'`)).toEqual([
      { value: '2.0' },
    ])
  })

  it('[PG-13] rejects a schema of a newer major format and changes nothing, but uses a newer format that only adds parts', async () => {
    const schema = server.newSchema()
    await (await open(schema)).close()
    const stored = () => server.sql(`select value from ${schema}.meta where name = 'format'`)
    await server.sql(`update ${schema}.meta set value = '3.0' where name = 'format'`)
    const [reason, message] = await failure(open(schema))
    expect([reason, message]).toEqual(['newerFormat', expect.stringMatching(/newer version \(format 3\.0/)])
    expect(await stored()).toEqual([{ value: '3.0' }])
    await server.sql(`update ${schema}.meta set value = '2.7' where name = 'format'`)
    const engine = await open(schema)
    await engine.log.append(doc, 'create', updates('1'), { jobs: [job('1', 0)] })
    for (const table of [
      'document',
      'entry',
      'snapshot',
      'kv',
      'job',
      'buried',
      'blob',
      'lease',
      'node',
      'term',
    ]) {
      await server.sql(`alter table ${schema}.${table} add column more text not null default 'more'`)
    }
    await engine.log.append(doc, 1, updates('2'), { jobs: [job('1', 0), job('2', 0)] })
    await engine.log.compact(doc, 1, 0, 1, bytesOf('1 to 1'), keepNone)
    await engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }] })
    await engine.blobs.put(['b'], bytesOf('b'))
    const [claimed] = await engine.queue.claim('queue', 2, 1_000)
    expect(await engine.queue.moveToDeadLetters(claimed?.token ?? '', 'hopeless')).toBe(true)
    expect(entriesOf(await loadLive(engine.log, doc))).toEqual([[2, '2']])
    await engine.close()
    expect(await stored()).toEqual([{ value: '2.7' }])
  })

  it('[PG-24] adds the parts that a schema of an older format lacks, and keeps the existing parts', async () => {
    const schema = server.newSchema()
    const older = await open(schema)
    await older.log.append(doc, 'create', updates('1'))
    await older.close()
    await server.sql(`drop table ${schema}.node, ${schema}.term`)
    await server.sql(`delete from ${schema}.lease`)
    await server.sql(`update ${schema}.meta set value = '1.0' where name = 'format'`)
    const engine = await open(schema)
    expect(await engine.log.append(doc, 1, updates('2'))).toMatchObject({ last: 2 })
    await engine.close()
    expect(await server.sql(`select count(*)::int from ${schema}.node`)).toEqual([{ count: 0 }])
    expect(await server.sql(`select name from ${schema}.meta`)).toEqual([{ name: 'format' }])
  })

  it('[PG-24] does not bring a schema to format 2 while a server of format 1 is alive, and ends the right of such servers to write', async () => {
    const schema = server.newSchema()
    await (await open(schema)).close()
    await server.sql(`drop table ${schema}.term`)
    await server.sql(`alter table ${schema}.node drop column url`)
    await server.sql(`update ${schema}.meta set value = '1.1' where name = 'format'`)
    // A server of format 1 takes and renews its lease with this statement.
    const lease = `insert into ${schema}.lease as l values ('node', 'cluster', clock_timestamp() + interval '8 s')
      on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where l.until <= clock_timestamp() or l.holder = excluded.holder returning 1`
    await server.sql(`delete from ${schema}.lease`)
    expect(await server.sql(lease)).toHaveLength(1)
    expect(await failure(open(schema))).toEqual([
      'failed',
      expect.stringContaining('a server of an older version uses the schema; stop all servers first'),
    ])
    await server.sql(`update ${schema}.lease set until = clock_timestamp() where name = 'node'`)
    await (await open(schema)).close()
    expect(await server.sql(lease)).toEqual([])
  })

  it('[PG-14] rejects a second server, ends the lease at a shutdown, and lets the lease of a dead holder expire', async () => {
    const schema = server.newSchema()
    const engine = await open(schema)
    const [reason, message] = await failure(open(schema))
    expect([reason, message]).toEqual(['locked', expect.stringContaining(`schema ${schema}`)])
    await engine.log.append(doc, 'create', updates('1'))
    await engine.close()
    await (await open(schema)).close()
    await server.sql(
      `insert into ${schema}.lease values ('schema', 'gone', clock_timestamp() + interval '1 s')`,
    )
    const opening = open(schema)
    await sleep(300)
    // A write of the dead server that was in progress is stored later.
    await server.sql(`update ${schema}.lease set until = until + interval '500 ms' where holder = 'gone'`)
    const next = await opening
    expect((await loadLive(next.log, doc)).head).toBe(1)
    await next.close()
  })

  it('[PG-15] writes nothing more after another server has taken its lease', async () => {
    const schema = server.newSchema()
    const engine = await open(schema)
    await engine.log.append(doc, 'create', updates('1'))
    await server.sql(
      `update ${schema}.lease set holder = 'another', until = clock_timestamp() + interval '1 hour' where name = 'schema'`,
    )
    const told = { ok: false, reason: expect.stringContaining('another server has taken over') }
    await eventually(() => !engine.health().ok)
    expect(engine.health()).toEqual(told)
    expect(await outcomeOf(engine.log.append(doc, 1, updates('2')))).toBe('StoreUnavailableError')
    await expect(engine.kv.commit(['p'], {})).rejects.toThrow(StoreUnavailableError)
    expect((await loadLive(engine.log, doc)).head).toBe(1)
    await engine.close()
    expect(await server.sql(`select holder from ${schema}.lease where name = 'schema'`)).toEqual([
      { holder: 'another' },
    ])
  })

  it('[PG-23] flushes to disk before it acknowledges, regardless of the default settings of the database', async () => {
    const inUse = async (given: string, durability: 'disk' | 'process') => {
      await server.sql(`alter role weft set synchronous_commit = ${given}`)
      const options = { statementTimeoutMs: 5_000, holdMs: 0, poolSize: 1 }
      const database = new PostgresDatabase({ ...options, url: server.url, schema: 'public', durability })
      const asked = statement<{ is: string }>('asked', `select current_setting('synchronous_commit') as is`)
      const [found] = await database.read((session) => session.rows(asked, []))
      await database.close()
      return found?.is
    }
    expect(await inUse('off', 'disk')).toBe('on')
    expect(await inUse('remote_apply', 'disk')).toBe('remote_apply')
    expect(await inUse('on', 'process')).toBe('off')
    await server.sql('alter role weft reset synchronous_commit')
  })

  const settings: readonly (readonly [name: string, foreign: string, pinned: string])[] = [
    ['default_transaction_isolation', "'serializable'", 'read committed'],
    ['default_transaction_read_only', 'on', 'off'],
    ['default_transaction_deferrable', 'on', 'off'],
    ['lock_timeout', '1', '0'],
    ['statement_timeout', '1', '5s'],
    ['idle_in_transaction_session_timeout', '1', '10s'],
    ['idle_session_timeout', '5000', '0'],
    // Exists in PostgreSQL 17 and later.
    ['transaction_timeout', '5000', '0'],
    ['standard_conforming_strings', 'off', 'on'],
    ['bytea_output', 'escape', 'hex'],
    ['extra_float_digits', '-15', '1'],
    ['search_path', "'nowhere'", 'public'],
  ]

  /** Returns false when another process has written in between. */
  async function increment({ kv }: Engine): Promise<boolean> {
    const [value = null] = await kv.get(['counter'], [['value']])
    const next = bytesOf(`${Number(value === null ? 0 : textOf(value)) + 1}`)
    const key = ['value']
    return kv.commit(['counter'], { checks: [{ key, value }], puts: [{ key, value: next }] })
  }

  it('[PG-39] sets its own isolation, limits and formats, even if the role or the database has other defaults', async () => {
    const schema = server.newSchema()
    await server.sql('create role pinned superuser login')
    const known = new Set((await server.sql('select name from pg_settings')).map(({ name }) => name))
    const pinned = settings.filter(([name]) => known.has(name))
    let counted = 0
    for (const [name, foreign] of pinned) await server.sql(`alter role pinned set ${name} = ${foreign}`)
    for (const isolation of ["'read uncommitted'", "'repeatable read'", "'serializable'"]) {
      await server.sql(`alter role pinned set default_transaction_isolation = ${isolation}`)
      const url = server.url.replace('weft@', 'pinned@')
      const options = { statementTimeoutMs: 5_000, holdMs: 0, poolSize: 1 }
      const database = new PostgresDatabase({ ...options, url, schema: 'public', durability: 'disk' })
      const names = pinned.map(([name]) => `current_setting('${name}') as ${name}`).join(', ')
      const read = statement<Record<string, string>>('read-settings', `select ${names}`)
      const [found] = await database.read((session) => session.rows(read, []))
      await database.close()
      expect(found).toEqual(Object.fromEntries(pinned.map(([name, , value]) => [name, value])))
      const engine = await openPostgresEngine({ url, schema })
      await engine.log.append(docKey(isolation), 'create', updates('1'), { jobs: [job(isolation, 0)] })
      const done = await Promise.all(Array.from({ length: 8 }, () => increment(engine)))
      counted += done.filter(Boolean).length
      const [value = null] = await engine.kv.get(['counter'], [['value']])
      expect(textOf(value)).toBe(String(counted))
      await engine.close()
    }
  })

  it('[PG-34] warns at the start and in the doctor if the URL lists several servers but commits do not wait for a standby', async () => {
    const several = server.url.replace(/@([^/]+)/, '@$1,$1')
    const words = /commits do not wait for a standby/
    const foundAt = async (url: string) => {
      const { warnings } = await probeDatabase(url)
      return warnings.filter(({ found }) => words.test(found)).length
    }
    expect([await foundAt(server.url), await foundAt(several)]).toEqual([0, 1])
    const lines: string[] = []
    const log = pino({}, { write: (line: string) => void lines.push(line) })
    await (await openPostgresEngine({ url: several, schema: server.newSchema(), log })).close()
    expect(lines.filter((line) => words.test(line))).toHaveLength(1)
  })

  it('[PG-33] encrypts the connection, and verifies the server as the URL requires', async () => {
    const { encrypted, ca, remove } = await startEncrypted()
    onTestFinished(remove)
    const at = (parameters: string) => `${encrypted.url}?sslmode=verify-full${parameters}`
    const engine = await openPostgresEngine({ url: at(`&sslrootcert=${ca}`) })
    const used = `select bool_and(ssl) as ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'weft'`
    expect(await encrypted.sql(used)).toEqual([{ ssl: true }])
    await engine.close()
    const [, unknown] = await failure(openPostgresEngine({ url: at(''), holdMs: 10 }))
    expect(unknown).toMatch(/self-signed certificate/)
    const [, missing] = await failure(openPostgresEngine({ url: at('&sslrootcert=/none'), holdMs: 10 }))
    expect(missing).toMatch(/ENOENT.*\/none/)
    const [, plain] = await failure(
      openPostgresEngine({ url: `${server.url}?sslmode=verify-full`, holdMs: 10 }),
    )
    expect(plain).toMatch(/does not support SSL/)
  }, 30_000)

  it('[PG-16] rejects an unusable database with a one-sentence error that does not contain the password', async () => {
    const secret = 'not-to-be-told'
    const at = (url: string, options: Partial<PostgresEngineOptions> = {}) =>
      failure(openPostgresEngine({ url, ...options }))
    const nobody = `postgres://nobody:${secret}@127.0.0.1:${server.port}/postgres`
    const nowhere = `postgres://weft:${secret}@127.0.0.1:1/postgres`
    const noDatabase = `postgres://weft:${secret}@127.0.0.1:${server.port}/none`
    // The engine waits for a database that may be starting, and not for a wrong name.
    for (const [url, words, options] of [
      [nobody, /role "nobody" does not exist/, {}],
      [nowhere, /ECONNREFUSED/, { holdMs: 10 }],
      [noDatabase, /database "none" does not exist/, {}],
    ] as const) {
      const [reason, message] = await at(url, options)
      expect([reason, message]).toEqual(['failed', expect.stringMatching(words)])
      expect(message).not.toContain(secret)
    }
    expect((await at(server.url, { schema: 'Not; a name' }))[1]).toMatch(/cannot be the name of a schema/)
  })
})
