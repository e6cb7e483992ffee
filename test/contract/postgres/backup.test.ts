import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import { restoreSchema } from '../../../src/cluster/postgres/offline/restore-schema.ts'
import type { Engine, StoredPage } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { bulkLoad } from '../../../src/core/store/level/maintenance.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { temporaryDirectory } from '../level/store-tools.ts'
import {
  appendNumbered,
  bytesOf,
  docKey,
  during,
  enqueue,
  job,
  keepNone,
  loadLive,
  textOf,
  updates,
} from '../suite/sample-data.ts'

type Pair = StoredPage[number]

async function pairsOf(engine: Engine): Promise<Pair[]> {
  const pairs: Pair[] = []
  for await (const page of engine.dump()?.pages ?? []) pairs.push(...page)
  return pairs
}

const hex = (pairs: readonly Pair[]): readonly string[] =>
  pairs.map(([key, value]) => `${Buffer.from(key).toString('hex')} ${crc32(value)}`)

async function* pagesOf(pairs: readonly Pair[], pageLength: number): AsyncGenerator<StoredPage> {
  for (let at = 0; at < pairs.length; at += pageLength) yield pairs.slice(at, at + pageLength)
}

const nothing = async (): Promise<void> => undefined
/** More bytes than a dump reads together with other rows. */
const large = new Uint8Array(100_000).fill(7)
const documents = ['plain', 'compacted', 'at its snapshot', 'gone', 'again', 'all compacted', 'plain two']

/** Writes logs of all states, values, blobs, jobs and dead letters. */
async function fill(engine: Engine, clock: HeldClock): Promise<void> {
  const { log, kv, blobs, queue } = engine
  for (const name of ['plain', 'compacted', 'at its snapshot', 'gone', 'again', 'plain two'])
    await appendNumbered(log, docKey(name), 'create', 1, 3)
  await log.append(docKey('plain'), 1, [
    { bytes: bytesOf('4'), by: 'ada', source: 'rest', meta: { reason: 'test' } },
    { bytes: large, by: '' },
  ])
  await log.compact(docKey('compacted'), 1, 0, 2, bytesOf('1 to 2'), 0, bytesOf('authors'))
  clock.advance(1_000)
  await log.compact(docKey('compacted'), 1, 2, 3, bytesOf('1 to 3'), 0, bytesOf('more authors'))
  await log.append(docKey('compacted'), 1, updates('4'))
  await log.compact(docKey('at its snapshot'), 1, 0, 3, bytesOf('1 to 3'), keepNone)
  await log.destroy(docKey('gone'))
  await log.destroy(docKey('again'))
  await log.append(docKey('again'), 'recreate', updates('again'))
  await log.append(docKey('all compacted'), 'create', updates('1'))
  await log.compact(docKey('all compacted'), 1, 0, 1, large, keepNone)
  await blobs.put(['versions', 'a'], large)
  await blobs.put(['versions', 'a\0b'], bytesOf('small'))
  for (const part of [['p'], ['p', 'q'], ['p\0']])
    await kv.commit(part, {
      puts: [
        { key: [], value: bytesOf('empty key') },
        { key: ['large'], value: large },
      ],
    })
  await enqueue(engine, job('leased', 0), job('dead', 0), job('waiting', clock.now() + 50), job('\0', 1))
  const claimed = await queue.claim('queue', 3, 1_000)
  const [dead, failed] = claimed.filter(({ id }) => id !== 'leased')
  await queue.moveToDeadLetters(dead?.token ?? '', 'hopeless')
  await queue.retry(failed?.token ?? '', 10, 'it failed')
  await enqueue(engine, job('leased', 5, 'next'), { ...job('other', 3), queue: 'q' })
}

/** Replaces bytes by a short text, and sorts the members of objects. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `${value.length} bytes ${crc32(value)}`
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** Reads everything that callers of an engine can read. */
async function contentOf({ log, kv, blobs }: Engine): Promise<unknown> {
  const logs = await Promise.all(
    documents.map(async (name) => ({
      loaded: await log.load(docKey(name), { attribution: true }),
      older: await log.loadAt(docKey(name), 1, 2, {}),
    })),
  )
  const values = await Promise.all([['p'], ['p', 'q'], ['p\0']].map((part) => kv.scan(part, { limit: 10 })))
  const bytes = await Promise.all(
    [
      ['versions', 'a'],
      ['versions', 'a\0b'],
    ].map((key) => blobs.get(key)),
  )
  return plain({ logs, values, bytes })
}

describe('backups of PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  const open = (schema: string, clock = new HeldClock()) =>
    openPostgresEngine({ url: server.url, schema, clock, partitions: 2 })
  const restored = async (pages: AsyncIterable<StoredPage>, clock: HeldClock) => {
    const schema = server.newSchema()
    const loaded = await restoreSchema({ url: server.url, schema, partitions: 2 }, pages, nothing)
    return { ...loaded, schema, engine: await open(schema, clock) }
  }
  const inLevel = async (pages: AsyncIterable<StoredPage>, clock: HeldClock) => {
    const directory = await temporaryDirectory()
    await bulkLoad(directory.path, pages, nothing)
    const engine = await openLevelEngine({ directory: directory.path, clock })
    return { engine, close: () => engine.close().then(() => directory.remove()) }
  }

  it('[BKP-50] [BKP-51] a dump of PostgreSQL restores the same data into PostgreSQL and into LevelDB', async () => {
    const clock = new HeldClock()
    const engine = await open(server.newSchema(), clock)
    await fill(engine, clock)
    const pairs = await pairsOf(engine)
    expect(hex(pairs)).toEqual(hex(pairs).toSorted())
    expect(new Set(pairs.map(([key]) => Buffer.from(key).toString('hex'))).size).toBe(pairs.length)
    const content = await contentOf(engine)
    const level = await inLevel(pagesOf(pairs, 3), clock)
    expect(await contentOf(level.engine)).toEqual(content)
    expect(hex(await pairsOf(level.engine))).toEqual(hex(pairs))
    const again = await restored(pagesOf(pairs, 3), clock)
    expect(again).toMatchObject({ records: pairs.length, damaged: [] })
    expect(await contentOf(again.engine)).toEqual(content)
    expect(hex(await pairsOf(again.engine))).toEqual(hex(pairs))
    clock.advance(2_000)
    const claims = await Promise.all(
      [engine, level.engine, again.engine].map(async ({ queue }) =>
        (await queue.claim('queue', 10, 1)).map(({ id, attempt, payload }) => [id, attempt, textOf(payload)]),
      ),
    )
    expect(claims[0]).toHaveLength(3)
    expect(claims).toEqual([claims[0], claims[0], claims[0]])
    expect(await again.engine.log.append(docKey('plain'), 1, updates('6'))).toMatchObject({ first: 6 })
    await Promise.all([engine.close(), again.engine.close(), level.close()])
  })

  it('[BKP-51] a dump of LevelDB restores the same data into PostgreSQL', async () => {
    const clock = new HeldClock()
    const level = await inLevel(pagesOf([], 1), clock)
    await fill(level.engine, clock)
    const content = await contentOf(level.engine)
    const there = await restored(pagesOf(await pairsOf(level.engine), 3), clock)
    expect(there.damaged).toEqual([])
    expect(await contentOf(there.engine)).toEqual(content)
    const back = await inLevel(pagesOf(await pairsOf(there.engine), 100), clock)
    expect(await contentOf(back.engine)).toEqual(content)
    await Promise.all([level.close(), there.engine.close(), back.close()])
  })

  it('[BKP-52] a dump has the state of one moment while others write', async () => {
    const clock = new HeldClock()
    const engine = await open(server.newSchema(), clock)
    const names = Array.from({ length: 60 }, (_, index) => docKey(`log ${index}`))
    for (const name of names) await appendNumbered(engine.log, name, 'create', 1, 5)
    const count = (round: number) =>
      ['a', 'b', 'z'].map((key) => ({ key: [key], value: bytesOf(`${round}`) }))
    await engine.kv.commit(['count'], { puts: count(0) })
    let round = 0
    let first = 0
    const dumping = (async () => {
      const pairs: Pair[] = []
      for await (const page of engine.dump()?.pages ?? []) {
        first ||= round
        pairs.push(...page)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return pairs
    })()
    await during(dumping, async () => {
      round += 1
      await Promise.all([
        engine.kv.commit(['count'], { puts: count(round), jobs: [job(`round ${round}`, round)] }),
        ...names.map((name) => appendNumbered(engine.log, name, 1, 5 + round, 1)),
      ])
    })
    const pairs = await dumping
    expect(round).toBeGreaterThan(first + 3)
    const there = await restored(pagesOf(pairs, 100), clock)
    const values = (await there.engine.kv.scan(['count'], { limit: 9 })).map(({ value }) =>
      Number(textOf(value)),
    )
    expect(new Set(values).size).toBe(1)
    expect(values[0]).toBeLessThanOrEqual(first + 1)
    const jobs = await there.engine.queue.claim('queue', 1_000, 1)
    expect(jobs).toHaveLength(values[0] ?? -1)
    for (const name of names) {
      const { head, entries } = await loadLive(there.engine.log, name)
      expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, index) => index + 1))
      expect(head).toBeLessThanOrEqual(5 + first + 1)
    }
    await Promise.all([engine.close(), there.engine.close()])
  })

  it('[BKP-53] no server starts on an interrupted restore, and a repeated restore starts from the beginning', async () => {
    const clock = new HeldClock()
    const engine = await open(server.newSchema(), clock)
    await fill(engine, clock)
    const pairs = await pairsOf(engine)
    const schema = server.newSchema()
    const options = { url: server.url, schema, partitions: 2 }
    const broken = async function* () {
      yield* pagesOf(pairs.slice(0, pairs.length / 2), 4)
      throw new Error('the file ends')
    }
    await expect(restoreSchema(options, broken(), nothing)).rejects.toThrow('the file ends')
    await expect(open(schema)).rejects.toThrow('a restore into the schema')
    await restoreSchema(options, pagesOf(pairs, 50), nothing)
    const there = await open(schema, clock)
    expect(hex(await pairsOf(there))).toEqual(hex(pairs))
    await there.close()
    await expect(restoreSchema(options, pagesOf(pairs, 50), nothing)).rejects.toThrow('is not empty')
    await engine.close()
  })

  it('[BKP-54] damaged rows stay damaged in a dump, and a restore leaves them out and names them', async () => {
    const clock = new HeldClock()
    const schema = server.newSchema()
    const engine = await open(schema, clock)
    await fill(engine, clock)
    const damage = ['entry', 'blob', 'snapshot'].map(
      (table) =>
        `update ${schema}.${table} set crc = crc # 1 where length(bytes) = (select max(length(bytes)) from ${schema}.${table})`,
    )
    for (const sql of damage) await server.sql(sql)
    const pairs = await pairsOf(engine)
    const level = await inLevel(pagesOf(pairs, 100), clock)
    await expect(level.engine.log.load(docKey('plain'))).rejects.toThrow('is damaged')
    await expect(level.engine.blobs.get(['versions', 'a'])).rejects.toThrow('is damaged')
    const there = await restored(pagesOf(pairs, 100), clock)
    expect(there.damaged).toHaveLength(3)
    expect(there.damaged.join()).toContain('all compacted')
    expect(await loadLive(there.engine.log, docKey('compacted'))).toEqual(
      await loadLive(engine.log, docKey('compacted')),
    )
    await expect(there.engine.log.load(docKey('all compacted'))).rejects.toThrow('is missing')
    await Promise.all([engine.close(), there.engine.close(), level.close()])
  })
})
