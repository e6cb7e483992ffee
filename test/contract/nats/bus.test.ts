import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { NatsBus, type NatsBusOptions } from '../../../src/cluster/nats/bus.ts'
import { EngineOpenError } from '../../../src/core/store/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { type NatsServer, startNats, startNatsCluster } from '../../support/servers/nats.ts'
import { itLong } from '../../support/time/full-run.ts'
import { bytesOf, textOf } from '../suite/sample-data.ts'

describe('nodes on a bus over NATS', () => {
  let server: NatsServer
  const open: NatsBus[] = []
  beforeAll(async () => {
    server = await startNats()
  })
  afterAll(() => server?.remove())
  afterEach(() => Promise.all(open.splice(0).map((bus) => bus.close())))

  const join = async (options: Partial<NatsBusOptions> = {}): Promise<NatsBus> => {
    const bus = await NatsBus.open({
      urls: [server.url],
      prefix: 'weft.test',
      ...options,
    })
    open.push(bus)
    return bus
  }
  const pair = async (): Promise<readonly [NatsBus, NatsBus]> => [await join(), await join()]
  const hear = (bus: NatsBus, topic: string): string[] => {
    const heard: string[] = []
    bus.subscribe(topic, (message) => void heard.push(textOf(message) ?? ''))
    return heard
  }
  const losses = (bus: NatsBus): { count: number } => {
    const told = { count: 0 }
    bus.onLoss(() => {
      told.count += 1
    })
    return told
  }
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => String(index))

  it('[CL-1] delivers each message once and in order to all nodes, the publisher included', async () => {
    const [a, b] = await pair()
    const [own, others, twice] = [hear(a, 'topic'), hear(b, 'topic'), hear(b, 'topic')]
    const [lostA, lostB] = [losses(a), losses(b)]
    await b.flushed()
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
    const stranger = await join({ prefix: 'weft.test2' })
    const [heard, strange, still] = [hear(b, 'other'), hear(stranger, 'topic'), hear(b, 'topic')]
    const end = b.subscribe('topic', () => void heard.push('after the end'))
    end()
    await Promise.all([b.flushed(), stranger.flushed()])
    a.publish('topic', bytesOf('message'))
    await eventually(() => still.length === 1)
    hear(stranger, 'another')
    await stranger.flushed()
    expect([heard, strange]).toEqual([[], []])
  })

  it('[CL-2] delivers the messages of a topic only to its subscribers, for any characters and any length of its name', async () => {
    const [a, b] = await pair()
    const long = 'x'.repeat(5000)
    const topics = [
      '',
      ' ',
      '.',
      '*',
      '>',
      'a.b',
      'a b',
      'a/b',
      'ä',
      '\ud800',
      '\ud801',
      '\r\n',
      '=',
      '#',
      long,
      `${long}y`,
    ]
    const heard = topics.map((topic) => hear(b, topic))
    await b.flushed()
    for (const [index, topic] of topics.entries()) a.publish(topic, bytesOf(String(index)))
    await eventually(() => heard.every((each) => each.length > 0))
    expect(heard).toEqual(topics.map((_, index) => [String(index)]))
  })

  it('[CL-4] delivers local messages while NATS is unavailable, and reports a loss to all nodes afterwards', async () => {
    const lines: string[] = []
    const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
    const [a, b] = [await join({ log }), await join()]
    const [own, others, lostA, lostB] = [hear(a, 'topic'), hear(b, 'topic'), losses(a), losses(b)]
    await b.flushed()
    await server.kill()
    await eventually(() => !a.isConnected && !b.isConnected)
    for (const number of numbers(1000)) a.publish('topic', bytesOf(number))
    await Promise.all([a.flushed(), b.flushed()])
    const late = hear(b, 'late')
    expect(own).toHaveLength(1000)
    await server.start()
    await eventually(
      () => lostA.count > 0 && lostB.count > 0,
      () => [lostA, lostB],
      20_000,
    )
    a.publish('topic', bytesOf('again'))
    a.publish('late', bytesOf('again'))
    await eventually(() => others.length === 1 && late.length === 1)
    expect([others, late, own.at(-1)]).toEqual([['again'], ['again'], 'again'])
    const told = lines.map((line) => (JSON.parse(line) as { msg: string }).msg)
    expect(told).toEqual([expect.stringMatching(/^the bus is not available/), 'the bus is available again'])
  }, 40_000)

  it('[CL-5] drops a message that is too large for NATS, and reports a loss to the other nodes', async () => {
    const [a, b] = await pair()
    const [own, others, lost] = [hear(a, 'topic'), hear(b, 'topic'), losses(b)]
    await b.flushed()
    a.publish('topic', bytesOf('small'))
    a.publish('topic', new Uint8Array(2 * 2 ** 20))
    await eventually(() => others.length === 1 && lost.count === 1)
    expect(own).toHaveLength(2)
    // The loss was reported. The next message reports no further loss except the gap before it.
    a.publish('topic', bytesOf('next'))
    await eventually(() => others.length === 2 && lost.count === 2)
    a.publish('topic', bytesOf('and next'))
    await eventually(() => others.length === 3)
    expect([others, lost.count, a.isConnected]).toEqual([['small', 'next', 'and next'], 2, true])
  })

  it('[CL-6] drops messages beyond a limit when NATS does not accept them, and reports the loss', async () => {
    const [a, b] = await pair()
    const lost = losses(b)
    let bytes = 0
    b.subscribe('flood', (message) => {
      bytes += message.length
      return undefined
    })
    await b.flushed()
    process.kill(server.pid, 'SIGSTOP')
    const message = new Uint8Array(64 * 1024)
    for (let count = 0; count < 1000; count++) a.publish('flood', message)
    process.kill(server.pid, 'SIGCONT')
    await eventually(() => lost.count > 0)
    const passed = hear(b, 'end')
    await b.flushed()
    await eventually(() => {
      a.publish('end', bytesOf('end'))
      return passed.length > 0
    })
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(16 * 2 ** 20)
  }, 30_000)

  it('[CL-25] if a subscriber cannot parse a message, reports a loss, and delivers the message to the other subscribers', async () => {
    const records: string[] = []
    const b = await join({ log: pino({}, { write: (line: string) => void records.push(line) }) })
    const a = await join()
    const lost = losses(b)
    b.subscribe('topic', (message) => void JSON.parse(textOf(message) ?? ''))
    const heard = hear(b, 'topic')
    b.subscribe('other', (message) => void JSON.parse(textOf(message) ?? ''))
    const heardOther = hear(b, 'other')
    await b.flushed()
    for (const message of ['{', 'null', '[']) a.publish('topic', bytesOf(message))
    a.publish('other', bytesOf('{'))
    await eventually(() => heard.length === 3 && heardOther.length === 1)
    expect(heard).toEqual(['{', 'null', '['])
    await eventually(() => lost.count > 0)
    const logged = records.filter((line) => line.includes('could not read a message of another node'))
    expect(logged.map((line) => (JSON.parse(line) as { topic: string }).topic)).toEqual(['topic', 'other'])
  })

  itLong(
    '[CL-24] treats a NATS server that does not answer as unavailable until it answers again',
    async () => {
      const [a, b] = await pair()
      const [heard, lost] = [hear(b, 'topic'), losses(b)]
      await b.flushed()
      process.kill(server.pid, 'SIGSTOP')
      await eventually(
        () => !a.isConnected && !b.isConnected,
        () => [a.isConnected, b.isConnected],
        20_000,
      )
      await Promise.all([a.flushed(), b.flushed()])
      process.kill(server.pid, 'SIGCONT')
      await eventually(
        () => a.isConnected && lost.count > 0,
        () => lost,
        20_000,
      )
      a.publish('topic', bytesOf('again'))
      await eventually(() => heard.includes('again'))
    },
    60_000,
  )

  it('[CL-7] does not start when the NATS server rejects the client, but starts when the NATS server is unavailable', async () => {
    const secret = 'not-to-be-told'
    const guarded = await startNats({ configuration: 'authorization { user: weft, password: "p@ss/word" }' })
    onTestFinished(() => guarded.remove())
    const at = (credentials: string) => guarded.url.replace('//', `//${credentials}@`)
    const failure: unknown = await join({ urls: [at(`weft:${secret}`)] }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(EngineOpenError)
    expect(String(failure)).toMatch(/NATS refuses this server/)
    expect(String(failure)).not.toContain(secret)
    const unread: unknown = await join({ credentialsFile: '/nowhere/weft.creds' }).catch(
      (error: unknown) => error,
    )
    expect(unread).toBeInstanceOf(EngineOpenError)
    expect(String(unread)).toMatch(/cannot be read: .*\/nowhere\/weft\.creds/)
    const away = await join({ urls: [`nats://${secret}@127.0.0.1:1`] })
    expect(away.isConnected).toBe(false)
    away.publish('topic', bytesOf('nobody hears it'))
    await guarded.kill()
    const early = await join({ urls: [at('weft:p%40ss%2Fword')] })
    const lost = losses(early)
    await guarded.start()
    await eventually(() => early.isConnected && lost.count === 1)
  }, 30_000)

  it('[CL-8] uses any of several NATS servers, and moves to another one when the current one stops', async () => {
    const servers = await startNatsCluster(3)
    onTestFinished(async () => void (await Promise.all(servers.map((each) => each.remove()))))
    const urls = servers.map(({ url }) => url)
    const [first, ...rest] = urls as [string, ...string[]]
    const [a, b] = [await join({ urls: [first] }), await join({ urls: rest })]
    const [heardA, heardB] = [hear(a, 'topic'), hear(b, 'topic')]
    const said = async (from: NatsBus, heard: string[]) => {
      await eventually(
        () => {
          from.publish('topic', bytesOf('said'))
          return heard.length > 10
        },
        () => heard.length,
      )
    }
    await said(a, heardB)
    await said(b, heardA)
    // Works with either of the two servers.
    for (const each of servers.slice(1)) {
      heardB.length = 0
      await each.kill()
      await eventually(() => b.isConnected)
      await said(a, heardB)
      await each.start()
    }
  }, 60_000)
})
