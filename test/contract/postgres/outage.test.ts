import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PostgresDatabase } from '../../../src/cluster/postgres/connection/database.ts'
import { openPostgresEngine, type PostgresEngineOptions } from '../../../src/cluster/postgres/engine.ts'
import { type Engine, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { startCuttingProxy } from '../../support/faults/connection-cutting-proxy.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { withClient } from '../../support/servers/postgres-process.ts'
import { itLong } from '../../support/time/full-run.ts'
import { bytesOf, docKey, entriesOf, loadLive, outcomeOf, textOf, updates } from '../suite/sample-data.ts'

describe('a database that becomes unavailable', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  const doc = docKey('away')
  const ends = ['an unknown', 'a known'] as const
  const knownIf = (end: (typeof ends)[number], expectHead: number) =>
    end === 'a known' ? { expectHead } : {}
  const open = (options: Partial<PostgresEngineOptions> = {}): Promise<Engine> =>
    openPostgresEngine({ url: server.url, schema: server.newSchema(), ...options })

  it('[PG-6] when the database is killed with SIGKILL, keeps each acknowledged append once and in order', async () => {
    const engine = await open()
    const docs = Array.from({ length: 20 }, (_, index) => docKey(`killed ${index}`))
    const acknowledged = docs.map(() => 0)
    const state = { goesOn: true }
    // Three writes in progress at once: a write behind a missing one must not be stored.
    const write = async (index: number) => {
      const key = docs[index] as string[]
      await engine.log.append(key, 'create', updates('1'))
      for (let seq = 2; state.goesOn; seq += 3) {
        const calls = [0, 1, 2].map((more) => engine.log.append(key, 1, updates(`${seq + more}`)))
        const ended = await Promise.allSettled(calls)
        for (const each of ended) if (each.status === 'fulfilled') acknowledged[index] = each.value.last
        if (ended.some(({ status }) => status === 'rejected')) return
      }
    }
    const writing = Promise.all(docs.map((_, index) => write(index)))
    await eventually(() => acknowledged.every((last) => last >= 20))
    await server.kill()
    state.goesOn = false
    await server.start()
    await writing
    await eventually(() => engine.health().ok)
    for (const [index, key] of docs.entries()) {
      const entries = entriesOf(await loadLive(engine.log, key))
      expect(entries.length).toBeGreaterThanOrEqual(acknowledged[index] as number)
      expect(entries.length).toBeLessThanOrEqual((acknowledged[index] as number) + 3)
      expect(entries.every(([seq, text]) => text === `${seq}`)).toBe(true)
    }
    await engine.close()
  })

  for (const end of ends) {
    it(`[PG-7] delays calls while the database is unavailable, and runs them once when it is back, with ${end} end of the log`, async () => {
      const engine = await open()
      await engine.log.append(doc, 'create', updates('1'))
      await engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('v') }] })
      await server.kill()
      const calls = [
        engine.log.append(doc, 1, updates('2'), knownIf(end, 1)),
        engine.log.append(doc, 1, updates('3'), knownIf(end, 2)),
        engine.kv.commit(['p'], { puts: [{ key: ['k'], value: bytesOf('w') }] }),
        engine.kv.get(['other'], [['k']]),
        engine.log.load(docKey('none')),
      ]
      await eventually(() => !engine.health().ok)
      expect(engine.pendingBytes()).toBeGreaterThan(0)
      await server.start()
      expect((await Promise.all(calls)).slice(0, 2)).toMatchObject([
        { epoch: 1, first: 2, last: 2 },
        { epoch: 1, first: 3, last: 3 },
      ])
      expect(engine.health()).toEqual({ ok: true })
      expect(entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)).toEqual(['1', '2', '3'])
      expect((await engine.kv.get(['p'], [['k']])).map(textOf)).toEqual(['w'])
      await engine.close()
    })
  }

  it('[PG-7] when the connection is lost during the renewal of the lease before a write, runs the write once', async () => {
    const database = new PostgresDatabase({
      url: server.url,
      schema: 'public',
      poolSize: 1,
      statementTimeoutMs: 5_000,
      holdMs: 10_000,
      durability: 'disk',
    })
    let renewals = 0
    database.guard({
      refusal: () => (renewals > 1 ? null : 'not renewed'),
      renew: async (session) => {
        renewals += 1
        if (renewals === 1) await session.command('select pg_terminate_backend(pg_backend_pid())')
      },
    })
    expect(await database.write({ ask: async () => undefined, act: () => 'done' })).toBe('done')
    await database.close()
  })

  it('[PG-8] while the database is unavailable, fails every call with StoreUnavailableError after the waiting time', async () => {
    const engine = await open({ holdMs: 50 })
    await engine.log.append(doc, 'create', updates('1'))
    await server.kill()
    const calls = [
      () => engine.log.append(doc, 1, updates('2')),
      () => engine.log.load(doc),
      () => engine.log.destroy(doc),
      () => engine.kv.get(['p'], [['k']]),
      () => engine.kv.commit(['p'], {}),
      () => engine.blobs.put(['b'], bytesOf('b')),
      () => engine.queue.claim('queue', 1, 1_000),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(StoreUnavailableError)
    const health = engine.health()
    expect(health.ok ? '' : health.reason).toMatch(/^the database is not available \([A-Z0-9]+\)$/)
    expect(engine.pendingBytes()).toBe(0)
    await server.start()
    await eventually(() => engine.health().ok)
    expect(await engine.log.append(doc, 1, updates('2'))).toMatchObject({ last: 2 })
    await engine.close()
  })

  it('[ENG-55] the engine closes while the database is unavailable, and does not acknowledge pending writes', async () => {
    const engine = await open()
    await engine.log.append(doc, 'create', updates('1'))
    await server.kill()
    const appended = outcomeOf(engine.log.append(doc, 1, updates('2')))
    await engine.close()
    expect(await appended).toBe('StoreUnavailableError')
    await server.start()
  })

  for (const end of ends) {
    it(`[PG-10] when the database terminates a connection, replaces it, and no call to a log with ${end} end fails`, async () => {
      const engine = await open()
      await engine.log.append(doc, 'create', updates('1'))
      for (let seq = 2; seq <= 6; seq++) {
        await server.sql(
          `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'weft'`,
        )
        expect(await engine.log.append(doc, 1, updates(`${seq}`), knownIf(end, seq - 1))).toMatchObject({
          last: seq,
        })
      }
      expect(entriesOf(await loadLive(engine.log, doc))).toHaveLength(6)
      await engine.close()
    })
  }

  const commits = (['lost', 'untold'] as const).flatMap((commit) => ends.map((end) => ({ commit, end })))
  for (const { commit, end } of commits) {
    it(`[PG-21] when a commit to a log with ${end} end is ${commit}, fails its appends and all appends that wait behind it, then continues`, async () => {
      const proxy = await startCuttingProxy(server.port)
      const engine = await open({ url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) })
      await engine.log.append(doc, 'create', updates('1'))
      // An append to a known end is repeated once.
      const cut = proxy
        .cutNextCommit(commit)
        .then(() => (end === 'a known' ? proxy.cutNextCommit(commit) : undefined))
      const failing = outcomeOf(engine.log.append(doc, 1, updates('2'), knownIf(end, 1)))
      await new Promise((resolve) => setImmediate(resolve))
      const behind = outcomeOf(engine.log.append(doc, 1, updates('behind')))
      await cut
      expect([await failing, await behind]).toEqual(['StoreUnavailableError', 'StoreUnavailableError'])
      const there = commit === 'lost' ? ['1'] : ['1', '2']
      expect(entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)).toEqual(there)
      expect(await engine.log.append(doc, 1, updates('next'))).toMatchObject({ last: there.length + 1 })
      await engine.close()
      proxy.close()
    })
  }

  for (const commit of ['lost', 'untold', 'running'] as const) {
    it(`[PG-7] when a commit to a log with a known end is ${commit}, stores its appends once, and the appends behind it after them`, async () => {
      const [proxy, schema] = [await startCuttingProxy(server.port), server.newSchema()]
      const engine = await open({ url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`), schema })
      await engine.log.append(doc, 'create', updates('1'))
      await withClient(server.url, async (other) => {
        // The database cannot end the commit before the connection is lost.
        if (commit === 'running') await other.query(`begin; select head from ${schema}.document for update`)
        const cut = proxy.cutNextCommit(commit)
        const calls = ['2', '3'].map((text, index) =>
          engine.log.append(doc, 1, updates(text), { expectHead: 1 + index }),
        )
        await new Promise((resolve) => setImmediate(resolve))
        calls.push(engine.log.append(doc, 1, updates('4', '5'), { expectHead: 3 }))
        await cut
        if (commit === 'running') {
          const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock'`
          await eventually(async () => (await server.sql(waiting)).length === 2)
          await other.query('commit')
        }
        expect(await Promise.all(calls)).toMatchObject([{ first: 2 }, { first: 3 }, { first: 4, last: 5 }])
      })
      const stored = entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)
      expect(stored).toEqual(['1', '2', '3', '4', '5'])
      await engine.close()
      proxy.close()
    })
  }

  it('[PG-7] [PG-21] when a commit to a log with another end than the expected one is lost, rejects the append, or fails if the expected end may still come', async () => {
    const proxy = await startCuttingProxy(server.port)
    const engine = await open({ url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) })
    await engine.log.append(doc, 'create', updates('1', '2'))
    const append = async (expectHead: number) => {
      const cut = proxy.cutNextCommit('lost')
      const appended = outcomeOf(engine.log.append(doc, 1, updates(`after ${expectHead}`), { expectHead }))
      await cut
      return appended
    }
    expect([await append(1), await append(7)]).toEqual(['moved', 'StoreUnavailableError'])
    const stored = entriesOf(await loadLive(engine.log, doc)).map(([, text]) => text)
    expect(stored).toEqual(['1', '2'])
    await engine.close()
    proxy.close()
  })

  it('[PG-21] when the commit of a creation is lost, continues the appends of a log whose append of the same tick is durable', async () => {
    const proxy = await startCuttingProxy(server.port)
    const engine = await open({ url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) })
    await engine.log.append(doc, 'create', updates('1'))
    const first = outcomeOf(engine.log.append(doc, 1, updates('2'), { expectHead: 1 }))
    const created = outcomeOf(engine.log.append(docKey('created'), 'create', updates('1')))
    const cut = first.then(() => proxy.cutNextCommit('lost'))
    const behind = first.then(() => outcomeOf(engine.log.append(doc, 1, updates('3'), { expectHead: 2 })))
    await cut
    expect(await Promise.all([first, created, behind])).toEqual([
      'appended',
      'StoreUnavailableError',
      'appended',
    ])
    expect((await loadLive(engine.log, doc)).head).toBe(3)
    await engine.close()
    proxy.close()
  })

  it('[PG-36] after the database has aborted a read on a connection, returns correct results for later reads on this connection', async () => {
    const schema = server.newSchema()
    const engine = await open({ schema, poolSize: 1, statementTimeoutMs: 200 })
    await engine.log.append(doc, 'create', updates('1'))
    await withClient(server.url, async (client) => {
      await client.query(`begin; lock table ${schema}.document in access exclusive mode`)
      expect(await outcomeOf(loadLive(engine.log, doc))).toBe('StoreUnavailableError')
    })
    expect((await loadLive(engine.log, doc)).head).toBe(1)
    await engine.close()
  })

  itLong(
    '[PG-35] cancels a write whose commit hangs before the statement times out, so that other sessions can continue',
    async () => {
      const [proxy, schema] = [await startCuttingProxy(server.port), server.newSchema()]
      const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`)
      const engine = await open({ url, schema })
      await engine.log.append(doc, 'create', updates('1'))
      const held = proxy.holdNextCommit()
      const stopped = outcomeOf(engine.log.append(doc, 1, updates('2')))
      await held
      await withClient(server.url, async (other) => {
        await other.query(`set statement_timeout = '20s'; set search_path = ${schema}`)
        expect((await other.query('select head from document for update')).rowCount).toBe(1)
      })
      expect(await stopped).toBe('StoreUnavailableError')
      expect((await loadLive(engine.log, doc)).head).toBe(1)
      await engine.close()
      proxy.close()
    },
    60_000,
  )

  it('[ENG-52] rejects writes beyond the limit of pending bytes, and stores nothing of them', async () => {
    const engine = await open({ pendingBytesMax: 1000 })
    const first = engine.log.append(doc, 'create', [{ bytes: new Uint8Array(2000), by: '' }])
    expect(await outcomeOf(engine.log.append(doc, 1, updates('2')))).toBe('StoreUnavailableError')
    expect(await outcomeOf(engine.blobs.put(['b'], bytesOf('b')))).toBe('StoreUnavailableError')
    await first
    expect((await loadLive(engine.log, doc)).head).toBe(1)
    await engine.close()
  })
})
