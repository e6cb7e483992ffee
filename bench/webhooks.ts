/**
 * Measures the cost and the speed of webhooks. Users type in a document while hundreds of events per second
 * go to receivers, some of which hang or fail. Also measures how long an event takes until it arrives at its
 * receiver, and the number of deliveries per second to one endpoint and to many. For comparison, a bare loop
 * sends the same requests. All calls go over real sockets to a separate server process, which writes durably
 * to disk.
 *
 *   node --import tsx bench/webhooks.ts [--smoke]
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { median, quantile, round, table } from './support/report.ts'
import type { BenchServer } from './support/server.ts'
import { typistsAt } from './support/typists.ts'
import { makeDocuments, startTelling, tell } from './webhooks/events.ts'
import { fanoutHeader, fanoutRow } from './webhooks/fanout.ts'

const smoke = process.argv.includes('--smoke')
const pace = { perSecond: 100, seconds: smoke ? 2 : 15 }
const eventsPerSecond = 200
/** Number of documents that one call creates. Each new document causes one event. */
const batch = 10
/** Number of receivers that fail. Every event goes to each of them, and to one receiver that works. */
const dead = 4
const deliveries = smoke ? 200 : 6_000
const endpointCounts = smoke ? [1, 10] : [1, 10, 50]
const singles = smoke ? 20 : 300

const fine = 200

interface Receiver {
  readonly url: string
  /** Times at which requests arrived, as values of `performance.now()`. */
  readonly times: number[]
  close(): void
}

/** Starts a receiver. @param status status of its responses; null if the receiver never responds */
async function receive(status: number | null): Promise<Receiver> {
  const times: number[] = []
  const server = createServer((incoming, response) => {
    incoming.resume().on('end', () => {
      times.push(performance.now())
      if (status !== null) response.writeHead(status).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = (): void => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, times, close }
}

/** Creates documents at a constant rate until it is stopped. Resolves with the number of documents. */
async function cause(server: BenchServer, signal: AbortSignal): Promise<number> {
  const start = performance.now()
  let caused = 0
  while (!signal.aborted) {
    const due = ((performance.now() - start) / 1000) * eventsPerSecond
    if (caused < due) {
      await makeDocuments(server, batch)
      caused += batch
    } else await new Promise((resolve) => setTimeout(resolve, 2))
  }
  return caused
}

interface Phase {
  readonly name: string
  readonly latencies: readonly number[]
  readonly caused: number
  readonly arrived: number
}

/** Measures typing while events are caused. */
async function phase(name: string, statuses: readonly (number | null)[]): Promise<Phase> {
  const server = await startTelling()
  const receivers = await Promise.all(statuses.map(receive))
  await tell(
    server,
    receivers.map(({ url }) => url),
  )
  const typists = await typistsAt(server, pace, 1)
  const stop = new AbortController()
  const causing = cause(server, stop.signal)
  const latencies = await typists.type()
  stop.abort()
  const caused = await causing
  const arrived = receivers.reduce((sum, { times }) => sum + times.length, 0)
  await server.kill()
  for (const receiver of receivers) receiver.close()
  return { name, latencies, caused, arrived }
}

async function arrivals(receiver: Receiver, count: number): Promise<void> {
  while (receiver.times.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
}

/**
 * Returns the time in ms from the response of the call that caused an event until the event has arrived, for
 * each event.
 */
async function timesToReceiver(server: BenchServer, receiver: Receiver): Promise<number[]> {
  const times: number[] = []
  for (let caused = 0; caused < singles; caused++) {
    const before = receiver.times.length
    await makeDocuments(server, 1)
    const answered = performance.now()
    await arrivals(receiver, before + 1)
    times.push((receiver.times.at(-1) as number) - answered)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return times
}

const repeated = (status: number | null): readonly (number | null)[] =>
  Array.from({ length: dead }, () => status)

const phases = [
  await phase('nobody is told', []),
  await phase('one receiver', [fine]),
  await phase(`one, and ${dead} more`, [fine, ...repeated(fine)]),
  await phase(`one, and ${dead} that hang`, [fine, ...repeated(null)]),
  await phase(`one, and ${dead} that answer 500`, [fine, ...repeated(500)]),
]
console.log(
  `typing ${pace.perSecond} keystrokes/s for ${pace.seconds} s beside ${eventsPerSecond} events/s, caused by REST:`,
)
table(
  ['', 'p50 ms', 'p99 ms', 'worst ms', 'events/s', 'requests/s'],
  phases.map(({ name, latencies, caused, arrived }) => [
    name,
    ...[0.5, 0.99, 1].map((share) => round(quantile(latencies, share), 1)),
    round(caused / pace.seconds, 0),
    round(arrived / pace.seconds, 0),
  ]),
)

const server = await startTelling()
const receiver = await receive(fine)
await tell(server, [receiver.url])
const toReceiver = await timesToReceiver(server, receiver)
await server.kill()
receiver.close()
console.log(
  `from an answer to the arrival of its event: p50 ${round(median(toReceiver), 1)} ms, p99 ${round(quantile(toReceiver, 0.99), 1)} ms`,
)
console.log('\nevents told to many endpoints, to each in order, beside bare loops that post the same bodies:')
const rows: (readonly string[])[] = []
for (const endpoints of endpointCounts) rows.push(await fanoutRow(endpoints, deliveries / endpoints))
table(fanoutHeader, rows)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
