/**
 * Measures sessions over HTTP beside websockets: the time until an update is seen, the CPU time of the server
 * for each delivered update, the memory of an idle connection, and the cost of many viewers of one document. The
 * two transports alternate, each with a new server.
 *
 *   node --import tsx bench/transport.ts [--smoke]
 */
import { cpus, loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from '../src/cli/bench/contender.ts'
import { cpuOfTree, residentBytes } from '../src/cli/bench/cpu.ts'
import { LoadSocket } from '../src/cli/bench/load-socket.ts'
import { atRate, KeystrokeTracker, Typist, trackUpdates } from '../src/cli/bench/typist.ts'
import { weft } from './load/contenders.ts'
import { HttpLoadSocket } from './support/http-load-socket.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import { temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const rounds = smoke ? 1 : 3
/** Duration of a measurement in seconds. The warm-up before it has the same duration. */
const seconds = smoke ? 1 : 4
const settleMs = smoke ? 200 : 2_000
const pairs = smoke ? { rooms: 10, perSecond: 50 } : { rooms: 500, perSecond: 1_000 }
const crowd = smoke ? { readers: 20, perSecond: 10 } : { readers: 996, perSecond: 20 }
const writersOfCrowd = 4
const idle = smoke ? { sockets: 40, rooms: 4 } : { sockets: 4_000, rooms: 400 }
const viewers = smoke ? 100 : 9_500
/** Maximum number of connections that are being opened at the same time. */
const atOnce = 50

type TransportSocket = LoadSocket | HttpLoadSocket

const transports: Readonly<Record<string, (url: string) => Promise<TransportSocket>>> = {
  websocket: (url) => LoadSocket.open(url),
  http: (url) => HttpLoadSocket.open(url),
}

const server = weft('weft', {
  ...unlimitedCalls,
  WEFT_MAX_CONNECTIONS_PER_WORKSPACE: '20000',
  WEFT_LOG_LEVEL: 'error',
})

type Open = (url: string) => Promise<TransportSocket>
type Figures = Readonly<Record<string, number>>

async function openAll(
  open: Open,
  count: number,
  urlOf: (index: number) => string,
): Promise<TransportSocket[]> {
  const sockets: TransportSocket[] = []
  while (sockets.length < count) {
    const from = sockets.length
    const size = Math.min(atOnce, count - from)
    sockets.push(
      ...(await Promise.all(Array.from({ length: size }, (_, index) => open(urlOf(from + index))))),
    )
  }
  return sockets
}

interface Receiving {
  onMessage: ((payload: Buffer) => void) | null
}

/** Makes `watch` count the keystrokes that a socket receives. */
function track(socket: TransportSocket, running: Running, watch: KeystrokeTracker): void {
  const receiver = { onMessage: (_payload: Buffer): void => {} }
  trackUpdates(receiver, running, watch)
  const receiving: Receiving = socket
  receiving.onMessage = receiver.onMessage
}

async function withServer(measure: (running: Running) => Promise<Figures>): Promise<Figures> {
  const running = await server.start(temporaryDirectory())
  try {
    return await measure(running)
  } finally {
    await running.kill()
  }
}

/** Two typists in each room receive each other's keystrokes. */
const inPairs = (open: Open): Promise<Figures> =>
  withServer(async (running) => {
    const { rooms, perSecond } = pairs
    const documentOf = (index: number): string => `room-${index % rooms}`
    const sockets = await openAll(open, rooms * 2, (index) => running.url(documentOf(index)))
    const typists = sockets.map((socket, index) => new Typist(socket, running, documentOf(index)))
    const watches = sockets.map((socket, index) => {
      const watch = new KeystrokeTracker([typists[(index + rooms) % typists.length] as Typist])
      track(socket, running, watch)
      return watch
    })
    const delivered = (): number => watches.reduce((sum, { total }) => sum + total, 0)
    let next = 0
    const stop = atRate(perSecond, (due) => {
      for (let index = 0; index < due; index++) typists[next++ % typists.length]?.type()
    })
    await sleep(seconds * 1000)
    const [before, cpu] = [delivered(), cpuOfTree(running.pid)]
    for (const watch of watches) watch.timing = true
    await sleep(seconds * 1000)
    const [count, used] = [delivered() - before, cpuOfTree(running.pid) - cpu]
    stop()
    await everythingArrives(() => delivered() === typists.reduce((sum, { sent }) => sum + sent, 0))
    for (const socket of sockets) socket.end()
    const latencies = watches.flatMap((watch) => watch.latencies)
    return { pairP50: quantile(latencies, 0.5), pairP99: quantile(latencies, 0.99), pairCpu: used / count }
  })

/** @throws Error if something did not arrive in time */
async function everythingArrives(holds: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('some client has not been sent everything')
    await sleep(5)
  }
}

interface RoomOptions {
  readonly writers: number
  readonly readers: number
  readonly perSecond: number
}

/** A few writers type into a room with many readers. */
async function typeToReaders(
  open: Open,
  running: Running,
  { writers, readers, perSecond }: RoomOptions,
): Promise<{ readonly cpu: number; readonly latencies: readonly number[]; readonly megabytes: number }> {
  const document = 'room'
  const typing = await openAll(open, writers, () => running.url(document))
  await sleep(settleMs)
  const bytes = residentBytes(running.pid)
  const reading = await openAll(open, readers, () => running.url(document))
  await sleep(settleMs)
  const megabytes = (residentBytes(running.pid) - bytes) / 2 ** 20
  const typists = typing.map((socket) => new Typist(socket, running, document))
  // The first and the last readers show the range of times, and the others stay cheap for this process.
  const watched = [reading[0], reading[Math.floor(readers / 2)], reading[readers - 1]] as TransportSocket[]
  const watches = watched.map((socket) => {
    const watch = new KeystrokeTracker(typists)
    track(socket, running, watch)
    return watch
  })
  let next = 0
  const stop = atRate(perSecond, (due) => {
    for (let index = 0; index < due; index++) typists[next++ % writers]?.type()
  })
  await sleep(seconds * 1000)
  const seen = (): number => Math.min(...watches.map(({ total }) => total))
  const [before, cpu] = [seen(), cpuOfTree(running.pid)]
  for (const watch of watches) watch.timing = true
  await sleep(seconds * 1000)
  const [count, used] = [seen() - before, cpuOfTree(running.pid) - cpu]
  stop()
  await everythingArrives(() => seen() === typists.reduce((sum, { sent }) => sum + sent, 0))
  for (const socket of [...typing, ...reading]) socket.end()
  return {
    cpu: used / (count * (writers + readers - 1)),
    latencies: watches.flatMap((watch) => watch.latencies),
    megabytes,
  }
}

const inCrowd = (open: Open): Promise<Figures> =>
  withServer(async (running) => {
    const { cpu, latencies } = await typeToReaders(open, running, { writers: writersOfCrowd, ...crowd })
    return { crowdP99: quantile(latencies, 0.99), crowdCpu: cpu }
  })

/** Viewers receive one keystroke per second. */
const viewing = (open: Open): Promise<Figures> =>
  withServer(async (running) => {
    const options = { writers: 1, readers: viewers, perSecond: 1 }
    const { cpu, latencies, megabytes } = await typeToReaders(open, running, options)
    return { viewerP99: quantile(latencies, 0.99), viewerCpu: cpu, viewerMegabytes: megabytes }
  })

/** Connections without messages. */
const idling = (open: Open): Promise<Figures> =>
  withServer(async (running) => {
    const { sockets, rooms } = idle
    // The first clients compile the code and open the rooms.
    const first = await openAll(open, rooms, (index) => running.url(`room-${index}`))
    await sleep(settleMs)
    const bytes = residentBytes(running.pid)
    const rest = await openAll(open, sockets, (index) => running.url(`room-${index % rooms}`))
    await sleep(settleMs)
    const kilobytes = (residentBytes(running.pid) - bytes) / 1024 / sockets
    for (const socket of [...first, ...rest]) socket.end()
    return { idleKilobytes: kilobytes }
  })

const scenarios = [inPairs, inCrowd, idling, viewing]
const results = new Map<string, Figures[]>()
const bar = progress('transport')
const steps = rounds * scenarios.length * Object.keys(transports).length
for (let index = 0; index < rounds; index++) {
  for (const scenario of scenarios)
    for (const [name, open] of Object.entries(transports)) {
      results.set(name, [...(results.get(name) ?? []), await scenario(open)])
      bar.at([...results.values()].flat().length / steps)
    }
}
bar.end()

const medianOf = (transport: string, figure: string): number =>
  median((results.get(transport) ?? []).flatMap((figures) => figures[figure] ?? []))

const rows: readonly (readonly [label: string, figure: string, digits: number])[] = [
  [`${pairs.rooms * 2} clients in pairs, ${thousands(pairs.perSecond)} updates/s: p50 ms`, 'pairP50', 2],
  ['the same, p99 ms', 'pairP99', 2],
  ['the same, CPU µs a delivered update', 'pairCpu', 1],
  [
    `${crowd.readers + writersOfCrowd} clients in one room, ${crowd.perSecond} updates/s: p99 ms`,
    'crowdP99',
    2,
  ],
  ['the same, CPU µs a delivered update', 'crowdCpu', 2],
  [`${thousands(idle.sockets)} idle connections: KB a connection`, 'idleKilobytes', 1],
  [`${thousands(viewers)} viewers of one document, 1 update/s: MB`, 'viewerMegabytes', 0],
  ['the same, CPU µs a delivered update', 'viewerCpu', 2],
  ['the same, p99 ms', 'viewerP99', 1],
]
console.log(`sessions over HTTP beside websockets, medians of ${rounds} rounds of ${seconds} s in turns:`)
table(
  ['', 'websocket', 'http', 'ratio'],
  rows.map(([label, figure, digits]) => {
    const [websocket, http] = [medianOf('websocket', figure), medianOf('http', figure)]
    return [label, round(websocket, digits), round(http, digits), round(http / websocket)]
  }),
)
console.log(`load of this machine in the last minute: ${round(loadavg()[0] ?? 0)} on ${cpus().length} cores`)
process.exit(0)
