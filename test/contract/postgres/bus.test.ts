import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NotifyBus } from '../../../src/cluster/postgres/cluster/notify-bus.ts'
import { PostgresDatabase } from '../../../src/cluster/postgres/connection/database.ts'
import type { Log } from '../../../src/core/base/log.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts'
import { signal, withClient } from '../../support/servers/postgres-process.ts'
import { itLong } from '../../support/time/full-run.ts'
import { bytesOf, textOf } from '../suite/sample-data.ts'

describe('nodes on a bus over PostgreSQL', () => {
  let server: PostgresServer
  let schema: string
  const open: { readonly bus: NotifyBus; readonly database: PostgresDatabase }[] = []
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())
  beforeEach(() => {
    schema = server.newSchema()
  })
  afterEach(async () => {
    for (const { bus, database } of open.splice(0)) {
      await bus.close()
      await database.close()
    }
  })

  const join = async (options: { readonly schema?: string; readonly log?: Log } = {}): Promise<NotifyBus> => {
    const given = { schema, log: undefined, ...options }
    const database = new PostgresDatabase({
      url: server.url,
      schema: given.schema,
      poolSize: 1,
      holdMs: 1_000,
      durability: 'disk',
    })
    const bus = await NotifyBus.open(database, given)
    open.push({ bus, database })
    return bus
  }
  const pair = async (): Promise<readonly [NotifyBus, NotifyBus]> => [await join(), await join()]
  const hear = (bus: NotifyBus, topic: string): string[] => {
    const heard: string[] = []
    bus.subscribe(topic, (message) => void heard.push(textOf(message) ?? ''))
    return heard
  }
  const losses = (bus: NotifyBus): { count: number } => {
    const told = { count: 0 }
    bus.onLoss(() => {
      told.count += 1
    })
    return told
  }
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))
  const logInto = (lines: string[]): Log =>
    pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  /** Process ids of the database servers of all buses. */
  const backends = async (): Promise<readonly number[]> =>
    (await server.sql(`select pid from pg_stat_activity where application_name = 'weft bus'`)).map(
      ({ pid }) => Number(pid),
    )

  it('[CL-1] delivers each message once and in order to all nodes, the publisher included', async () => {
    const [a, b] = await pair()
    const [own, others, twice] = [hear(a, 'topic'), hear(b, 'topic'), hear(b, 'topic')]
    const [lostA, lostB] = [losses(a), losses(b)]
    for (const number of numbers(500)) a.publish('topic', bytesOf(number))
    expect(own).toEqual([])
    await eventually(() => others.length === 500 && twice.length === 500)
    expect([own, others, twice]).toEqual([numbers(500), numbers(500), numbers(500)])
    b.publish('topic', bytesOf('back'))
    await eventually(() => own.length === 501)
    expect([lostA.count, lostB.count]).toEqual([0, 0])
  })

  it('[CL-1] delivers no messages after the end of a subscription, and no messages of another cluster', async () => {
    const [a, b] = await pair()
    const strangers = { schema: server.newSchema() }
    const [one, other] = [await join(strangers), await join(strangers)]
    const [heard, strange, still, passed] = [
      hear(b, 'other'),
      hear(other, 'topic'),
      hear(b, 'topic'),
      hear(other, 'passed'),
    ]
    const end = b.subscribe('topic', () => void heard.push('after the end'))
    end()
    a.publish('topic', bytesOf('message'))
    await eventually(() => still.length === 1)
    one.publish('passed', bytesOf('after that'))
    await eventually(() => passed.length === 1)
    expect([heard, strange]).toEqual([[], []])
  })

  it('[CL-2] delivers the messages of a topic only to its subscribers, for any characters and any length of its name', async () => {
    const [a, b] = await pair()
    const long = 'x'.repeat(5_000)
    const odd = ['', ' ', '.', '*', '>', 'a.b', 'a b', 'ä', '\ud800', '\ud801', '\r\n', '\0', '"', '\\', '{}']
    const topics = [...odd, long, `${long}y`]
    const heard = topics.map((topic) => hear(b, topic))
    for (const [index, topic] of topics.entries()) a.publish(topic, bytesOf(String(index)))
    await eventually(() => heard.every((each) => each.length > 0))
    expect(heard).toEqual(topics.map((_, index) => [String(index)]))
  })

  it('[CL-4] delivers local messages while the database is unavailable, and reports a loss to all nodes afterwards', async () => {
    const lines: string[] = []
    const [a, b] = [await join({ log: logInto(lines) }), await join()]
    const [own, others, lostA, lostB] = [hear(a, 'topic'), hear(b, 'topic'), losses(a), losses(b)]
    await server.kill()
    await eventually(() => !a.isConnected && !b.isConnected)
    for (const number of numbers(1_000)) a.publish('topic', bytesOf(number))
    const late = hear(b, 'late')
    await eventually(() => own.length === 1_000)
    await server.start()
    await eventually(
      () => a.isConnected && b.isConnected && lostA.count > 0 && lostB.count > 0,
      () => [lostA, lostB],
      20_000,
    )
    a.publish('topic', bytesOf('again'))
    a.publish('late', bytesOf('again'))
    await eventually(() => others.length === 1 && late.length === 1)
    expect([others, late, own.at(-1)]).toEqual([['again'], ['again'], 'again'])
    const told = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(told).toEqual(['the bus is not available', 'the bus is available again'])
  }, 40_000)

  it('[CL-5] delivers a message of 1 MB whole, drops a larger one, and reports a loss to the other nodes', async () => {
    const [a, b] = await pair()
    const [own, others, lost] = [hear(a, 'topic'), hear(b, 'topic'), losses(b)]
    const large = 'ä'.repeat(2 ** 19)
    a.publish('topic', bytesOf('small'))
    a.publish('topic', bytesOf(large))
    await eventually(() => others.length === 2)
    expect([others[1] === large, lost.count]).toEqual([true, 0])
    a.publish('topic', bytesOf(`${large}x`))
    await eventually(() => lost.count === 1)
    a.publish('topic', bytesOf('next'))
    await eventually(() => others.length === 3)
    expect([own.length, others[2], lost.count, a.isConnected]).toEqual([4, 'next', 1, true])
  })

  it('[CL-6] drops messages beyond a limit when the database does not accept them, and reports the loss', async () => {
    const a = await join()
    const [pid] = await backends()
    const b = await join()
    const lost = losses(b)
    let bytes = 0
    b.subscribe('flood', ({ length }) => {
      bytes += length
    })
    signal(Number(pid), 'SIGSTOP')
    const message = new Uint8Array(64 * 1024)
    for (let count = 0; count < 1_000; count++) a.publish('flood', message)
    signal(Number(pid), 'SIGCONT')
    await eventually(() => lost.count > 0)
    const passed = hear(b, 'end')
    await eventually(() => {
      a.publish('end', bytesOf('end'))
      return passed.length > 0
    })
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(16 * 2 ** 20)
  }, 30_000)

  it('[CL-25] treats a notification of a stranger as a lost message', async () => {
    const b = await join()
    const [heard, lost] = [hear(b, 'topic'), losses(b)]
    await server.sql(`select pg_notify('${schema}', 'hello')`)
    await eventually(() => lost.count > 0)
    const a = await join()
    a.publish('topic', bytesOf('still here'))
    await eventually(() => heard.length === 1)
  })

  it('[CL-25] if a subscriber cannot parse a message, reports a loss, and delivers the message to the other subscribers', async () => {
    const records: string[] = []
    const b = await join({ log: logInto(records) })
    const a = await join()
    const lost = losses(b)
    b.subscribe('topic', (message) => void JSON.parse(textOf(message) ?? ''))
    const heard = hear(b, 'topic')
    b.subscribe('other', (message) => void JSON.parse(textOf(message) ?? ''))
    const heardOther = hear(b, 'other')
    for (const message of ['{', 'null', '[']) a.publish('topic', bytesOf(message))
    a.publish('other', bytesOf('{'))
    await eventually(() => heard.length === 3 && heardOther.length === 1)
    expect(heard).toEqual(['{', 'null', '['])
    await eventually(() => lost.count > 0)
    const logged = records.filter((line) => line.includes('could not read a message of another node'))
    expect(logged.map((line) => (JSON.parse(line) as { topic: string }).topic)).toEqual(['topic', 'other'])
  })

  it('[CL-4] reports to the other nodes what a node published while only its own connection was lost', async () => {
    const a = await join()
    const [pid] = await backends()
    const b = await join()
    const [heard, lost] = [hear(b, 'topic'), losses(b)]
    a.publish('topic', bytesOf('before'))
    await eventually(() => heard.length === 1)
    await withClient(server.url.replace(/postgres$/, 'template1'), async (client) => {
      await client.query('alter database postgres with allow_connections false')
      await client.query(`select pg_terminate_backend(${pid})`)
      await eventually(() => !a.isConnected)
      a.publish('topic', bytesOf('dropped'))
      await client.query('alter database postgres with allow_connections true')
    })
    await eventually(() => a.isConnected && lost.count === 1)
    expect([heard, b.isConnected]).toEqual([['before'], true])
  })

  itLong(
    '[CL-24] treats a database that does not answer as unavailable, and connects again',
    async () => {
      const a = await join()
      const [pid] = await backends()
      const b = await join()
      const [heard, lost] = [hear(b, 'topic'), losses(a)]
      signal(Number(pid), 'SIGSTOP')
      await eventually(
        () => lost.count > 0,
        () => a.isConnected,
        20_000,
      )
      a.publish('topic', bytesOf('again'))
      await eventually(() => heard.includes('again'))
      signal(Number(pid), 'SIGCONT')
    },
    60_000,
  )
})
