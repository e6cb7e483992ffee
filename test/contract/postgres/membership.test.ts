import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest'
import { openPostgresEngine, type PostgresEngineOptions } from '../../../src/cluster/postgres/engine.ts'
import { systemClock } from '../../../src/core/base/clock.ts'
import { type Engine, EngineOpenError, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { itLong as it } from '../../support/time/full-run.ts'
import { bytesOf, docKey, job, outcomeOf, updates } from '../suite/sample-data.ts'

describe('nodes that share a schema', () => {
  let postgres: PostgresServer
  let schema: string
  const open: Engine[] = []
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.remove())
  beforeEach(() => {
    schema = postgres.newSchema()
  })
  afterEach(() => Promise.all(open.splice(0).map((engine) => engine.close())))

  const openEngine = async (options: Partial<PostgresEngineOptions> = {}): Promise<Engine> => {
    const engine = await openPostgresEngine({ url: postgres.url, schema, partitions: 2, ...options })
    open.push(engine)
    return engine
  }
  const join = async (name?: string, options: Partial<PostgresEngineOptions> = {}): Promise<Engine> => {
    const engine = await openEngine({ nodes: { name }, ...options })
    engine.cluster.listening(`http://${name}`)
    return engine
  }
  const refused = async (opening: Promise<Engine>): Promise<string> => {
    const error: unknown = await opening.catch((error: unknown) => error)
    if (!(error instanceof EngineOpenError)) throw new Error(`not refused as it should be: ${String(error)}`)
    expect(error.reason).toBe('locked')
    return error.message
  }
  const listsAre = (engines: readonly Engine[], names: readonly string[]): Promise<void> =>
    eventually(
      () => engines.every(({ cluster }) => cluster.nodes().join() === names.join()),
      () => engines.map(({ cluster }) => cluster.nodes()),
    )
  const docs = Array.from({ length: 100 }, (_, index) => docKey(`document ${index}`))
  const owners = ({ cluster }: Engine): readonly string[] => docs.map((doc) => cluster.owner(doc).id)

  it('[CL-9] all nodes have the same list of nodes and the same owners of documents, and a stopped node leaves the list immediately', async () => {
    const [a, b, c] = [await join('a'), await join('b'), await join('c')]
    await listsAre([a, b, c], ['a', 'b', 'c'])
    await eventually(() => [a, b].every((each) => owners(each).join() === owners(c).join()))
    expect([a, b, c].map(({ cluster }) => [cluster.self, cluster.isShared])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
    ])
    expect(owners(b)).toEqual(owners(a))
    expect(new Set(owners(a))).toEqual(new Set(['a', 'b', 'c']))
    const before = owners(a)
    let changes = 0
    a.cluster.on('change', () => {
      changes += 1
    })
    await c.close()
    await listsAre([a, b], ['a', 'b'])
    expect(changes).toBeGreaterThan(0)
    expect(owners(a)).toEqual(owners(b))
    // No other document has moved.
    for (const [index, owner] of before.entries()) if (owner !== 'c') expect(owners(a)[index]).toBe(owner)
  })

  it('[CL-10] removes a node that sends no heartbeat from the list of nodes', async () => {
    const a = await join('a')
    await postgres.sql(`insert into ${schema}.node values ('gone', 'x', 'serving', clock_timestamp())`)
    await listsAre([a], ['a', 'gone'])
    await listsAre([a], ['a'])
  })

  it('[CL-29] when another process starts with the name of a node, reports a change of the list of nodes', async () => {
    const a = await join('a')
    const living = `clock_timestamp() + interval '1 hour'`
    await postgres.sql(`insert into ${schema}.node values ('b', 'first', 'serving', ${living})`)
    await listsAre([a], ['a', 'b'])
    let changes = 0
    a.cluster.on('change', () => {
      changes += 1
    })
    await postgres.sql(`update ${schema}.node set incarnation = 'second' where id = 'b'`)
    await eventually(() => changes > 0)
    expect(a.cluster.nodes()).toEqual(['a', 'b'])
  })

  it('[CL-11] rejects a single process on the schema of a cluster, and a node on the schema of a single process, and states the remedy', async () => {
    const a = await join('a')
    expect(await refused(openEngine())).toMatch(/in use by servers; stop them/)
    await a.close()
    const alone = await openEngine()
    expect(await refused(join('b'))).toMatch(/in use by a single process; stop it/)
    await alone.log.append(docKey('mine'), 'create', updates('1'))
    await alone.close()
    const b = await join('b')
    expect((await b.log.heads([docKey('mine')]))[0]?.head).toBe(1)
  }, 60_000)

  it('[CL-12] rejects a second node with the same name while the first is alive', async () => {
    const a = await join('same')
    expect(await refused(join('same'))).toMatch(/a node named same is alive/)
    await a.close()
    await join('same')
    await postgres.sql(`insert into ${schema}.node values ('dead', 'x', 'serving', clock_timestamp())`)
    expect((await join('dead')).cluster.self).toBe('dead')
    const [unnamed, other] = [await join(), await join()]
    expect(unnamed.cluster.self).not.toBe(other.cluster.self)
  }, 30_000)

  it('[CL-13] a node that is not in the list of nodes writes nothing and is not ready, and reports a message loss when it is in the list again', async () => {
    const [a, b] = [await join('a'), await join('b')]
    await a.log.append(docs[0] ?? [], 'create', updates('1'))
    let lost = 0
    a.bus.onLoss(() => {
      lost += 1
    })
    const taken = `set incarnation = 'another', heard_at = clock_timestamp() + interval '1 hour'`
    await postgres.sql(`update ${schema}.node ${taken} where id = 'a'`)
    await eventually(() => !a.health().ok)
    expect(a.health()).toEqual({ ok: false, reason: expect.stringContaining('a node named a is alive') })
    expect(await outcomeOf(a.log.append(docs[0] ?? [], 1, updates('2')))).toBe('StoreUnavailableError')
    await expect(a.kv.commit(['p'], {})).rejects.toThrow(StoreUnavailableError)
    expect(await b.log.append(docs[0] ?? [], 1, updates('b'))).toMatchObject({ last: 2 })
    expect(lost).toBe(0)
    await postgres.sql(`delete from ${schema}.node where id = 'a'`)
    await eventually(() => a.health().ok && lost === 1)
    expect(await a.log.append(docs[0] ?? [], 1, updates('3'))).toMatchObject({ last: 3 })
  })

  it('[CL-14] removes no node while the database is unavailable, and reports a message loss to all nodes when the database is available again', async () => {
    const [a, b] = [await join('a'), await join('b')]
    await listsAre([a, b], ['a', 'b'])
    await eventually(() => [a, b].every(({ cluster }) => cluster.others().length === 1))
    const changes: string[] = []
    let lost = 0
    for (const engine of [a, b]) {
      engine.cluster.on('change', () => void changes.push(engine.cluster.nodes().join()))
      engine.bus.onLoss(() => {
        lost += 1
      })
    }
    await postgres.kill()
    // Longer than the time after which a node is dead.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    await postgres.start()
    await eventually(() => a.health().ok && b.health().ok && lost >= 2)
    await b.log.append(docKey('written'), 'create', updates('1'))
    await listsAre([a, b], ['a', 'b'])
    expect(changes).toEqual([])
  }, 60_000)

  it('[CL-14] when heartbeats wait for each other, removes no node, and renews an expired lease afterwards', async () => {
    const logged: string[] = []
    const log = pino({ level: 'error' }, { write: (line) => void logged.push(line) })
    const [a, b] = [await join('a', { log }), await join('b', { log })]
    await listsAre([a, b], ['a', 'b'])
    await eventually(() => [a, b].every(({ cluster }) => cluster.others().length === 1))
    const changes: string[] = []
    for (const { cluster } of [a, b]) cluster.on('change', () => void changes.push(cluster.nodes().join()))
    const slow = new Client({ connectionString: postgres.url })
    await slow.connect()
    await slow.query(`update ${schema}.lease set until = clock_timestamp()`)
    await slow.query(`begin; update ${schema}.lease set until = clock_timestamp() + interval '1 min'`)
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await eventually(async () => (await postgres.sql(waiting)).length >= 2)
    // Longer than the time after which a node is dead.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    await slow.query('commit')
    await slow.end()
    const heardOf = `select 1 from ${schema}.node where heard_at > clock_timestamp() - interval '1 s'`
    await eventually(async () => (await postgres.sql(heardOf)).length === 2)
    await listsAre([a, b], ['a', 'b'])
    expect({ changes, logged }).toEqual({ changes: [], logged: [] })
  }, 60_000)

  it('[CL-15] a draining node owns no document, but stays in the list until it stops', async () => {
    const [a, b] = [await join('a'), await join('b')]
    await listsAre([a, b], ['a', 'b'])
    await a.cluster.drain(10_000)
    expect(new Set([...owners(a), ...owners(b)])).toEqual(new Set(['b']))
    expect([a.cluster.nodes(), b.cluster.nodes()]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
    expect(await a.log.append(docs[0] ?? [], 'create', updates('1'))).toMatchObject({ last: 1 })
    await b.cluster.drain(10_000)
    expect(owners(a)).toEqual(owners(b))
  })

  it('[CL-16] nodes with different clocks compute the same due times and the same ends of leases', async () => {
    const hourMs = 3_600_000
    const early = { ...systemClock, now: () => systemClock.now() + hourMs }
    const [a, b] = [await join('early', { clock: early }), await join('right')]
    const ids = async (engine: Engine) =>
      (await engine.queue.claim('queue', 10, hourMs / 2)).map(({ id }) => id)
    const enqueue = (engine: Engine, id: string, at: number) =>
      engine.kv.commit(['p'], { puts: [{ key: [id], value: bytesOf(id) }], jobs: [job(id, at)] })
    await enqueue(a, 'now', early.now())
    await enqueue(a, 'later', early.now() + hourMs / 2)
    // The nodes agree as exactly as the time of a response can be known.
    const soon = async (engine: Engine) => {
      const found: string[] = []
      await eventually(async () => found.push(...(await ids(engine))) > 0)
      return found
    }
    expect(await soon(b)).toEqual(['now'])
    expect(await ids(a)).toEqual([])
    await enqueue(b, 'of b', systemClock.now())
    expect(await soon(a)).toEqual(['of b'])
    await a.log.append(docKey('of a'), 'create', updates('1'))
    const [loaded] = [await b.log.load(docKey('of a'))]
    if (loaded.state !== 'live') throw new Error('it is not there')
    expect(Math.abs(loaded.changed.at - systemClock.now())).toBeLessThan(hourMs / 2)
  })

  it('[CL-17] delivers no messages between two databases whose schemas have the same name', async () => {
    await postgres.sql('create database other')
    const a = await join('a')
    const b = await join('b', { url: postgres.url.replace('/postgres', '/other') })
    const heard: string[] = []
    b.bus.subscribe('topic', () => void heard.push('of another database'))
    const other = await join('other of b', { url: postgres.url.replace('/postgres', '/other') })
    const passed: string[] = []
    b.bus.subscribe('another', () => void passed.push('of another node'))
    a.bus.publish('topic', bytesOf('of a'))
    other.bus.publish('another', bytesOf('of another node'))
    await eventually(() => passed.length === 1)
    await listsAre([a], ['a'])
    await listsAre([b, other], ['b', 'other of b'])
    expect(heard).toEqual([])
  })
})
