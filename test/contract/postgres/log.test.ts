import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { PostgresDatabase } from '../../../src/cluster/postgres/connection/database.ts'
import { statement } from '../../../src/cluster/postgres/connection/database-session.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import { appendKnown } from '../../../src/cluster/postgres/log/append-batch.ts'
import { CorruptRecordError, type Engine } from '../../../src/core/store/engine.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import {
  appendNumbered,
  bytesOf,
  claimable,
  docKey,
  entriesOf,
  job,
  keepNone,
  loadLive,
  outcomeOf,
  updates,
} from '../suite/sample-data.ts'

describe('logs in PostgreSQL', () => {
  let server: PostgresServer
  let schema: string
  let engine: Engine
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())
  beforeEach(async () => {
    schema = server.newSchema()
    engine = await openPostgresEngine({ url: server.url, schema })
  })
  afterEach(() => engine.close())

  const docs = (count: number) => Array.from({ length: count }, (_, index) => docKey(`of many ${index}`))
  const inSchema = (text: string) => server.sql(text.replaceAll('$', schema))

  it('[PG-40] leaves no transaction open when a write throws before it is sent', async () => {
    const limits = { statementTimeoutMs: 5_000, holdMs: 0, poolSize: 1 }
    const database = new PostgresDatabase({ ...limits, url: server.url, schema, durability: 'disk' })
    const insert = (name: string) => statement('', `insert into meta values ('${name}', '1')`)
    const write = (name: string, throws: boolean) =>
      database.write({
        ask: async () => undefined,
        act: (_, add) => {
          add((session) => session.rows(insert(name), []))
          if (throws)
            add(() => {
              throw new RangeError('too long')
            })
        },
      })
    await expect(write('first', true)).rejects.toThrow('too long')
    await write('second', false)
    await database.close()
    const names = await inSchema("select name from $.meta where name in ('first', 'second')")
    expect(names).toEqual([{ name: 'second' }])
  })

  it('when appends to many documents arrive in one tick, writes them in few transactions', async () => {
    await Promise.all(docs(100).map((doc) => engine.log.append(doc, 'create', updates('1'))))
    await Promise.all(
      docs(100).map((doc, index) =>
        engine.log.append(doc, 1, updates('2', '3'), { jobs: [job(`${index}`, 0)] }),
      ),
    )
    const [entries] = await inSchema(
      'select count(*)::int as entries, count(distinct xmin::text)::int as transactions from $.entry where seq > 1',
    )
    expect(entries?.entries).toBe(200)
    expect(entries?.transactions).toBeLessThanOrEqual(4)
    const [jobs] = await inSchema(
      'select count(distinct j.xmin::text)::int as others from $.job j where j.xmin::text not in (select xmin::text from $.entry)',
    )
    expect(jobs?.others).toBe(0)
  })

  it('finds the documents, fences and terms of appends by key, although the tables were small when the plan was made', async () => {
    await Promise.all(docs(100).map((doc) => engine.log.append(doc, 'create', updates('1'))))
    await inSchema('analyze $.document')
    await inSchema('analyze $.kv')
    const limits = { statementTimeoutMs: 5_000, holdMs: 0, poolSize: 1 }
    const database = new PostgresDatabase({ ...limits, url: server.url, schema, durability: 'disk' })
    const values = Array.from({ length: 19 }, (_, index) => (index === 9 ? `'part'` : 'null')).join(', ')
    const plan = await database.once(async (session) => {
      await session.command(`prepare planned as ${appendKnown.text}`)
      const explain = statement<{ 'QUERY PLAN': string }>('', `explain execute planned(${values})`)
      return (await session.rows(explain)).map((row) => row['QUERY PLAN']).join('\n')
    })
    await database.close()
    expect(plan).not.toContain('Join Filter')
    expect(plan).toContain('Index Cond: (key = c.key)')
    expect(plan).toMatch(/Index Cond: .*key = f\.key/)
    expect(plan).toContain('Index Cond: (bucket = u.bucket)')
  })

  it('[PG-2] when it rejects one append of a transaction, stores the other appends of this transaction', async () => {
    const all = docs(40)
    await Promise.all(all.slice(0, 20).map((doc) => engine.log.append(doc, 'create', updates('1'))))
    const outcomes = await Promise.all(
      all.map((doc, index) =>
        outcomeOf(engine.log.append(doc, 1, updates('2'), { jobs: [job(`${index}`, 0)] })),
      ),
    )
    expect(outcomes).toEqual(all.map((_, index) => (index < 20 ? 'appended' : 'absent')))
    expect((await claimable(engine)).length).toBe(20)
    const heads = await engine.log.heads(all)
    expect(heads.map((head) => head?.head)).toEqual(all.map((_, index) => (index < 20 ? 2 : undefined)))
  })

  it('[PG-3] writes several entries of 16 MB at the same time, and reads them back', async () => {
    const big = [1, 2].map((fill) => Buffer.alloc(16 * 1024 * 1024, fill))
    const doc = docKey('big')
    await engine.log.append(doc, 'create', updates('1'))
    await Promise.all(big.map((bytes) => engine.log.append(doc, 1, [{ bytes, by: 'ada' }])))
    const { entries } = await loadLive(engine.log, doc)
    expect(entries.map(({ bytes }) => bytes.length)).toEqual([1, big[0]?.length, big[1]?.length])
    expect(entries.slice(1).every(({ bytes }, index) => big[index]?.equals(bytes))).toBe(true)
    expect((await loadLive(engine.log, doc, { bytesMax: 1000 })).entries).toHaveLength(1)
  })

  it('[PG-4] when an entry is changed or missing, rejects its document with an error that names the document, and serves the other documents', async () => {
    const [flipped, cut, sound] = docs(3) as [string[], string[], string[]]
    for (const doc of [flipped, cut, sound]) await appendNumbered(engine.log, doc, 'create', 1, 5)
    const entryOf = (doc: readonly string[], seq: number) =>
      `doc = (select id from $.document where position('${doc[3]}'::bytea in key) > 0) and seq = ${seq}`
    await inSchema(`update $.entry set bytes = 'x' where ${entryOf(flipped, 3)}`)
    await inSchema(`delete from $.entry where ${entryOf(cut, 4)}`)
    await expect(engine.log.load(flipped)).rejects.toThrow(CorruptRecordError)
    await expect(engine.log.load(flipped)).rejects.toThrow(/of many 0.*update 3/)
    await expect(engine.log.load(cut)).rejects.toThrow(/of many 1.*update 4 is missing/)
    expect(entriesOf(await loadLive(engine.log, sound))).toHaveLength(5)
    await engine.log.destroy(cut)
    expect(await engine.log.append(cut, 'recreate', updates('anew'))).toMatchObject({ epoch: 2 })
  })

  it('[PG-2] [PG-4] when the head row of a document is damaged, rejects this document and no other call of the same tick, and can delete it', async () => {
    const [bad, sound] = docs(2) as [string[], string[]]
    for (const doc of [bad, sound]) await engine.log.append(doc, 'create', updates('1'))
    await inSchema(`update $.document set marks = 'x' where position('${bad[3]}'::bytea in key) > 0`)
    const loads = await Promise.allSettled([engine.log.load(bad), engine.log.load(sound)])
    expect(loads).toMatchObject([
      {
        reason: {
          name: 'CorruptRecordError',
          message: expect.stringMatching(/of many 0.*list of snapshots/),
        },
      },
      { value: { head: 1 } },
    ])
    const append = (doc: string[]) => outcomeOf(engine.log.append(doc, 1, updates('2')))
    expect(await Promise.all([append(bad), append(sound)])).toEqual(['CorruptRecordError', 'appended'])
    const recreate = () => outcomeOf(engine.log.append(bad, 'recreate', updates('anew')))
    expect(await Promise.all([engine.log.destroy(bad), recreate()])).toEqual([undefined, 'appended'])
    expect(await loadLive(engine.log, bad)).toMatchObject({ epoch: 2, head: 1 })
    expect(await loadLive(engine.log, sound)).toMatchObject({ epoch: 1, head: 2 })
  })

  it('[PG-4] rejects a document whose snapshot is damaged or missing', async () => {
    const doc = docKey('compacted')
    await appendNumbered(engine.log, doc, 'create', 1, 5)
    await engine.log.compact(doc, 1, 0, 3, bytesOf('1 to 3'), keepNone)
    await inSchema(`update $.snapshot set bytes = '1 to 4'`)
    await expect(engine.log.load(doc)).rejects.toThrow(/compacted.*checksum of the snapshot/)
    expect(entriesOf(await loadLive(engine.log, doc, { since: 3 }))).toHaveLength(2)
    await inSchema('delete from $.snapshot')
    await expect(engine.log.load(doc)).rejects.toThrow(/compacted.*snapshot at 3 is missing/)
  })

  it('[PG-5] removes the entries that a compaction made unreachable, also those that an interrupted compaction left behind', async () => {
    const doc = docKey('compacted')
    for (let from = 1; from <= 2001; from += 500) {
      await appendNumbered(engine.log, doc, from === 1 ? 'create' : 1, from, 500)
    }
    await inSchema('create table $.kept as select * from $.entry where seq <= 700')
    await engine.log.compact(doc, 1, 0, 2400, bytesOf('1 to 2400'), keepNone)
    await engine.close()
    const stored = async () => (await inSchema('select count(*)::int as count from $.entry'))[0]?.count
    expect(await stored()).toBe(100)
    await inSchema('insert into $.entry select * from $.kept')
    engine = await openPostgresEngine({ url: server.url, schema })
    expect(entriesOf(await loadLive(engine.log, doc))).toHaveLength(100)
    await engine.log.compact(doc, 1, 2400, 2450, bytesOf('1 to 2450'), keepNone)
    await engine.close()
    expect(await stored()).toBe(50)
  })
})
