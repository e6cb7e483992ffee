/**
 * What telling of events costs others, and how fast it is: typing in a document while hundreds of events a second are
 * told to receivers, some of which hang or fail; deliveries a second to one receiver, beside a bare loop of requests;
 * how long an event takes to its receiver. Over real sockets to a server of its own, durable on disk.
 *
 *   node --import tsx bench/webhooks.ts [--smoke]
 */
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fsyncMs } from './support/disk.ts'
import { median, quantile, round, table, thousands } from './support/report.ts'
import { type BenchServer, done, startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'
import { typistsAt } from './support/typists.ts'

const smoke = process.argv.includes('--smoke')
const pace = { perSecond: 100, seconds: smoke ? 2 : 15 }
const eventsPerSecond = 200
/** Documents that one call makes: an event each. */
const batch = 10
/** Of which each is to be told of every event, as is the one beside them. */
const dead = 4
const deliveries = smoke ? 200 : 3_000
const singles = smoke ? 20 : 300
const organizationId = 'acme'

const fine = 200

interface Receiver {
  readonly url: string
  /** Arrivals, of `performance.now()`. */
  readonly times: number[]
  close(): void
}

/** @param status null: it hangs */
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

const start = (): Promise<BenchServer> =>
  startWeft(temporaryDirectory(), {
    ...unlimitedCalls,
    WEFT_WEBHOOK_ALLOW: '127.0.0.1',
    WEFT_LOG_LEVEL: 'error',
  })

async function begin(server: BenchServer, receivers: readonly Receiver[]): Promise<void> {
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  if (receivers.length === 0) return
  await done(server, '/v2/workspace/advancedwebhookconfig/update', { isEnabled: true })
  for (const { url } of receivers)
    await done(server, '/v2/workspace/advancedwebhook/endpoints/create', {
      url,
      filterTypes: ['document.create'],
    })
}

let made = 0
/** One event for each. */
async function makeDocuments(server: BenchServer, count: number): Promise<void> {
  const documents = Array.from({ length: count }, () => ({ documentId: `d${made++}` }))
  await done(server, '/v2/organizations/documents/add', { organizationId, documents })
}

/** Makes documents at a rate until it is told to stop; resolves with how many. */
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

/** Typing while events are caused. */
async function phase(name: string, statuses: readonly (number | null)[]): Promise<Phase> {
  const server = await start()
  const receivers = await Promise.all(statuses.map(receive))
  await begin(server, receivers)
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

/** Requests a second, one after the other, as a bare loop makes them, on connections of their own. */
async function bareRate(receiver: Receiver, count: number): Promise<number> {
  const body = Buffer.from(JSON.stringify({ event: 'document.create', data: { documentId: 'd0' } }))
  const agent = new Agent({ keepAlive: false })
  const start = performance.now()
  for (let sent = 0; sent < count; sent++) {
    const outgoing = request(receiver.url, { method: 'POST', agent })
    outgoing.end(body)
    const [answer] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream]
    answer.resume()
    await once(answer, 'end')
  }
  return count / ((performance.now() - start) / 1000)
}

async function arrivals(receiver: Receiver, count: number): Promise<void> {
  while (receiver.times.length < count) await new Promise((resolve) => setTimeout(resolve, 1))
}

/** Of events that wait already when the first is delivered. */
async function deliveryRate(server: BenchServer, receiver: Receiver): Promise<number> {
  const before = receiver.times.length
  for (let caused = 0; caused < deliveries; caused += 500)
    await makeDocuments(server, Math.min(500, deliveries - caused))
  await arrivals(receiver, before + deliveries)
  const [first = 0] = receiver.times.slice(before)
  return (deliveries - 1) / (((receiver.times.at(-1) as number) - first) / 1000)
}

/** Milliseconds from the answer to whoever caused an event to its arrival. */
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

const server = await start()
const receiver = await receive(fine)
await begin(server, [receiver])
const toReceiver = await timesToReceiver(server, receiver)
const bare = await bareRate(receiver, deliveries)
const rate = await deliveryRate(server, receiver)
await server.kill()
receiver.close()
console.log(
  `from an answer to the arrival of its event: p50 ${round(median(toReceiver), 1)} ms, p99 ${round(quantile(toReceiver, 0.99), 1)} ms`,
)
console.log(
  `to one receiver, in order: ${thousands(rate)} deliveries/s; a bare loop of requests: ${thousands(bare)}/s`,
)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
