/**
 * Measures cursors in one room of 50 and of 500 clients: the number of deliveries, and the CPU time of the
 * server for each delivery. The bench `sync` has further measurements of cursors. Compares Weft with a bare
 * relay and with a relay that writes to each receiver once per tick. Then measures presence through REST: the
 * time until all clients have received a status.
 *
 *   node --import tsx bench/presence.ts [--smoke]
 */
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { yWebsocketMessages } from '../src/cli/bench/client-protocol.ts'
import { cpuMicroseconds } from '../src/cli/bench/cpu.ts'
import { enterAll } from '../src/cli/bench/entering.ts'
import { LoadSocket } from '../src/cli/bench/load-socket.ts'
import { Mover, moveAll } from '../src/cli/bench/mover.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import {
  type BenchServer,
  startScript,
  startWeft,
  temporaryDirectory,
  unlimitedCalls,
} from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const rounds = smoke ? 1 : 2
const seconds = smoke ? 1 : 3
const updates = smoke ? 10 : 100
/**
 * Time of load before the measurement in seconds. In this time, a new server compiles the code that it runs.
 */
const warmUpSeconds = smoke ? 0 : 3

interface Load {
  readonly clients: number
  /** Number of moves of each client's cursor per second. */
  readonly perSecond: number
  readonly name: string
}

const loads: readonly Load[] = smoke
  ? [{ clients: 10, perSecond: 10, name: 'paced' }]
  : [
      { clients: 50, perSecond: 100, name: 'saturated' },
      { clients: 500, perSecond: 0.2, name: 'paced' },
      { clients: 500, perSecond: 1, name: 'saturated' },
    ]

/** Loads under which a backend sets a status. */
const statusLoads: readonly Load[] = smoke
  ? loads
  : [{ clients: 50, perSecond: 10, name: 'paced' }, ...loads.filter(({ name }) => name === 'paced')]

interface Target {
  readonly pid: number
  readonly urlOf: (client: number) => Promise<string>
  readonly kill: () => Promise<void>
}

const relayTarget = (script: string) => async (): Promise<Target> => {
  const { port, pid, kill } = await startScript(script)
  return { pid, kill, urlOf: async () => `ws://127.0.0.1:${port}/bench/presence/main` }
}

const startServer = (): Promise<BenchServer> => startWeft(temporaryDirectory(), unlimitedCalls)

const weftTarget = (server: BenchServer): Target => ({
  pid: server.process.pid as number,
  kill: () => server.kill(),
  urlOf: async (client) =>
    `${server.syncUrl}bench/presence/main?token=${await server.token(`user-${client}`)}`,
})

const targets: Readonly<Record<string, () => Promise<Target>>> = {
  relay: relayTarget('relay.ts'),
  'batching relay': relayTarget('batching-relay.ts'),
  weft: async () => weftTarget(await startServer()),
}

async function connectAll({ urlOf }: Target, count: number): Promise<Mover[]> {
  const sockets = await enterAll(count, async (index) => LoadSocket.open(await urlOf(index)))
  return sockets.map((socket, index) => new Mover(index + 1, socket, yWebsocketMessages, 'presence'))
}

/**
 * Returns the time in ms until the server is warm and every cursor is shown. The first moves of the clients
 * are spread over this time, so that the server has no burst to process.
 */
const untilWarm = (perSecond: number): number => Math.max(1, 1 / perSecond, warmUpSeconds) * 1000 + 500

interface Counted {
  readonly sent: number
  readonly messages: number
  /** Number of received states of other clients. */
  readonly shown: number
}

const countsOf = (clients: readonly Mover[]): Counted => ({
  sent: clients.reduce((sum, { sent }) => sum + sent, 0),
  messages: clients.reduce((sum, { messages }) => sum + messages, 0),
  shown: clients.reduce((sum, { shown }) => sum + shown, 0),
})

interface Measured {
  readonly sent: number
  readonly messages: number
  /** Number of received states of other clients per second, for all clients together. */
  readonly delivered: number
  /** CPU time of the server per delivered state, in microseconds. */
  readonly microseconds: number
  /** Used share of one core. */
  readonly busy: number
}

async function measure(target: Target, { clients: count, perSecond }: Load): Promise<Measured> {
  const clients = await connectAll(target, count)
  const stop = moveAll(clients, perSecond)
  await sleep(untilWarm(perSecond))
  const [before, cpu, start] = [countsOf(clients), cpuMicroseconds(target.pid), performance.now()]
  await sleep(seconds * 1000)
  const [after, used] = [countsOf(clients), cpuMicroseconds(target.pid) - cpu]
  const elapsed = (performance.now() - start) / 1000
  stop()
  for (const client of clients) client.end()
  const delivered = after.shown - before.shown
  return {
    sent: (after.sent - before.sent) / elapsed,
    messages: (after.messages - before.messages) / elapsed,
    delivered: delivered / elapsed,
    microseconds: used / delivered,
    busy: used / elapsed / 1e6,
  }
}

interface StatusLatencies {
  /**
   * Time in ms until a call was answered. The rest of the time in `shown` is the broadcast window and the
   * delivery.
   */
  readonly answered: readonly number[]
  /** Time in ms from the call until the status arrived, for each client. */
  readonly shown: readonly number[]
  /** Time in ms from the response of the call until the status arrived, for each client. */
  readonly after: readonly number[]
}

/** Sets the status of one user after the other through REST, while all cursors move. */
async function statusLatencies(load: Load): Promise<StatusLatencies> {
  const server = await startServer()
  // REST can use a document only after its first edit.
  const document = { organizationId: 'bench', documentId: 'presence' }
  await server.post('/v2/crdt/add', { ...document, editorId: 'other', type: 'text', data: 'x' })
  const clients = await connectAll(weftTarget(server), load.clients)
  const stop = moveAll(clients, load.perSecond)
  await sleep(untilWarm(load.perSecond))
  const [answered, shown, after]: [number[], number[], number[]] = [[], [], []]
  for (let update = 0; update < updates; update++) {
    const status = `status-${update}-`
    const start = performance.now()
    const arrivals = clients.map(async (client) => {
      await client.shows(status)
      return performance.now() - start
    })
    const users = [{ userId: `user-${update % load.clients}`, status }]
    await server.post('/v2/presence/update', { ...document, users })
    const answeredAt = performance.now() - start
    const shownAt = await Promise.all(arrivals)
    answered.push(answeredAt)
    shown.push(...shownAt)
    after.push(...shownAt.map((at) => Math.max(0, at - answeredAt)))
    // The pause varies, so that the calls do not always come at the same time of a broadcast window.
    await sleep(20 + ((update * 7) % 40))
  }
  stop()
  for (const client of clients) client.end()
  await server.kill()
  return { answered, shown, after }
}

const results = new Map<string, Measured[]>()
const bar = progress('cursors')
let done = 0
for (let index = 0; index < rounds; index++) {
  for (const load of loads) {
    for (const [name, start] of Object.entries(targets)) {
      const target = await start()
      const key = `${load.clients} ${load.perSecond} ${name}`
      results.set(key, [...(results.get(key) ?? []), await measure(target, load)])
      await target.kill()
      bar.at(++done / (rounds * loads.length * Object.keys(targets).length))
    }
  }
}
bar.end()

const rows = loads.flatMap((load) =>
  Object.keys(targets).map((name) => {
    const of = (server: string, pick: (run: Measured) => number): number =>
      median((results.get(`${load.clients} ${load.perSecond} ${server}`) ?? []).map(pick))
    const cost = of(name, ({ microseconds }) => microseconds)
    return [
      `${load.clients} × ${load.perSecond}/s, ${load.name}`,
      name,
      thousands(of(name, ({ sent }) => sent)),
      thousands(of(name, ({ delivered }) => delivered)),
      thousands(of(name, ({ messages }) => messages)),
      round(cost),
      round(cost / of('relay', ({ microseconds }) => microseconds)),
      round(of(name, ({ busy }) => busy)),
    ]
  }),
)
console.log(`cursors in one room, ${rounds} rounds of ${seconds} s in turns, medians; a second:`)
table(['clients', '', 'sent', 'states delivered', 'messages', 'server µs a state', 'of relay', 'cores'], rows)
for (const load of statusLoads) {
  const { answered, shown, after } = await statusLatencies(load)
  const ms = (values: readonly number[], share: number): string => round(quantile(values, share), 1)
  console.log(
    `a status set by REST is shown to each of ${load.clients} clients, who move ${load.perSecond}/s, within ` +
      `p50 ${ms(shown, 0.5)} ms, p99 ${ms(shown, 0.99)} ms, at worst ${ms(shown, 1)} ms; ` +
      `the call is answered within p50 ${ms(answered, 0.5)} ms, p99 ${ms(answered, 0.99)} ms, ` +
      `and shown after that within p50 ${ms(after, 0.5)} ms, p99 ${ms(after, 0.99)} ms (${updates} calls)`,
  )
}
console.log(`load of this machine in the last minute: ${round(loadavg()[0] ?? 0)} on ${cpus().length} cores`)
process.exit(0)
