/**
 * Measures the change feed: the speed of one consumer that catches up, the time from a write to its event, the
 * cost of a feed for writers, and the memory of consumers that do not read. The ratios compare figures of one run.
 *
 *   node --import tsx bench/feed.ts [--smoke]
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { cpuOfTree, residentBytes } from '../src/cli/bench/cpu.ts'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { FeedStream, readAll, readPage, writeDocuments } from './feed/consuming.ts'
import { median, quantile, round, table, thousands } from './support/report.ts'
import {
  type BenchServer,
  done,
  headers,
  startWeft,
  temporaryDirectory,
  unlimitedCalls,
} from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const documents = smoke ? 200 : 10_000
const rounds = smoke ? 1 : 3
const singles = smoke ? 5 : 100
const writing = { documents: smoke ? 20 : 400, callers: 16, seconds: smoke ? 1 : 8 }
const slowConsumers = smoke ? 4 : 40
/** Time in ms after which the feed has the changes of a write, with a margin. */
const gatherMs = 2_000
const settleMs = smoke ? 200 : 3_000

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function startServer(feed: 'on' | 'off'): Promise<BenchServer> {
  const server = await startWeft(temporaryDirectory(), { ...unlimitedCalls, WEFT_LOG_LEVEL: 'error' })
  await done(server, '/v2/workspace/feed/update', { enabled: feed === 'on' })
  return server
}

/** Reads all changes of the feed, and returns events per second. */
async function catchUp(server: BenchServer, query: object): Promise<number> {
  const startedAt = performance.now()
  const events = await readAll(server, { types: ['crdt.update_data'], pageSize: 1_000, ...query })
  if (events !== documents) throw new Error(`${events} events instead of ${documents}`)
  return events / ((performance.now() - startedAt) / 1000)
}

/** Resolves when the feed has the changes of all documents, with the time in ms. @throws Error after a minute */
async function untilComplete(server: BenchServer): Promise<number> {
  const startedAt = performance.now()
  let { cursor } = await readPage(server, { from: 'oldest', pageSize: 1 })
  for (let changes = 0; changes < documents; ) {
    const page = await readPage(server, {
      cursor,
      types: ['crdt.update_data'],
      pageSize: 1_000,
      waitSeconds: 5,
    })
    cursor = page.cursor
    changes += page.events.length
    if (performance.now() - startedAt > 60_000) throw new Error(`${changes} changes instead of ${documents}`)
  }
  return performance.now() - startedAt
}

/** Returns the times in ms from the response to a write until its event has arrived, by type of the event. */
async function latencies(
  server: BenchServer,
  wait: (types: readonly string[]) => Promise<{ next(): Promise<void>; close(): void }>,
  type: 'document.create' | 'crdt.update_data',
): Promise<number[]> {
  // The changes of earlier writes arrive first.
  await sleep(gatherMs)
  const consumer = await wait([type])
  const times: number[] = []
  for (let count = 0; count < singles; count++) {
    const arrived = consumer.next().then(() => performance.now())
    await writeDocuments(server, 1, 1)
    const answeredAt = performance.now()
    times.push((await arrived) - answeredAt)
    await sleep(20)
  }
  consumer.close()
  return times
}

/** Waits for events with long polls. */
async function longPolls(server: BenchServer, types: readonly string[]) {
  let { cursor } = await readPage(server, { from: 'now' })
  return {
    async next(): Promise<void> {
      for (let events = 0; events === 0; ) {
        const page = await readPage(server, { cursor, types, waitSeconds: 30 })
        cursor = page.cursor
        events = page.events.length
      }
    },
    close(): void {},
  }
}

/** Writes as often as possible. Returns updates per second, and the CPU time of the server for each in ms. */
async function write(server: BenchServer): Promise<{ perSecond: number; cpuMs: number }> {
  const { documents: count, callers, seconds } = writing
  const pid = server.process.pid ?? 0
  const [startedAt, cpu] = [performance.now(), cpuOfTree(pid)]
  const end = startedAt + seconds * 1000
  let [updates, next] = [0, 0]
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        const number = next++
        const ids = { organizationId: 'acme', documentId: `w${number % count}`, editorId: 'main' }
        const data = `version ${number}`
        await done(server, '/v2/crdt/update', { ...ids, type: 'text', data, upsert: true })
        updates += 1
      }
    }),
  )
  // The events are added up to a second later. Their cost belongs to the writes.
  await sleep(gatherMs)
  return { perSecond: updates / seconds, cpuMs: (cpuOfTree(pid) - cpu) / 1000 / updates }
}

/** Opens a stream of all content, and reads nothing. */
async function openUnread(server: BenchServer): Promise<Socket> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  const path = '/v2/feed/stream?organizationId=large&content=text&types=crdt.update_data'
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.write([`GET ${path} HTTP/1.1`, 'host: a', ...lines, '', ''].join('\r\n'))
  return socket
}

const full = await startServer('on')
await writeDocuments(full, documents, writing.callers)
const behindMs = await untilComplete(full)
const speeds = { without: [] as number[], text: [] as number[] }
for (let each = 0; each < rounds; each++) {
  speeds.without.push(await catchUp(full, {}))
  speeds.text.push(await catchUp(full, { content: 'text' }))
}
console.log(
  `the feed is complete ${round(behindMs / 1000, 1)} s after ${thousands(documents)} new documents were written as fast as possible`,
)
console.log(`one consumer reads ${thousands(documents)} changes, each of another document:`)
table(
  ['content', 'events/s', 'ratio'],
  [
    ['none', thousands(median(speeds.without)), '1'],
    ['text', thousands(median(speeds.text)), round(median(speeds.text) / median(speeds.without))],
  ],
)

const rows: string[][] = []
for (const type of ['document.create', 'crdt.update_data'] as const)
  for (const [name, wait] of [
    ['long poll', (types: readonly string[]) => longPolls(full, types)],
    ['stream', (types: readonly string[]) => FeedStream.open(full, types)],
  ] as const) {
    const times = await latencies(full, wait, type)
    rows.push([type, name, ...[0.5, 0.99].map((share) => round(quantile(times, share), 1))])
  }
console.log('\nfrom the response to a write to the arrival of its event (changes are gathered for 1 s):')
table(['event', 'read by', 'p50 ms', 'p99 ms'], rows)

await writeDocuments(full, 40, 4, { organizationId: 'large', data: 'y'.repeat(500_000) })
await sleep(1_500)
await sleep(settleMs)
const pid = full.process.pid ?? 0
const residentBefore = residentBytes(pid)
const unread = await Promise.all(Array.from({ length: slowConsumers }, () => openUnread(full)))
await sleep(settleMs)
const resident = residentBytes(pid) - residentBefore
console.log(
  `\n${slowConsumers} streams with text whose readers have stopped: ${thousands(resident / slowConsumers / 1000)} KB of the process for each`,
)
for (const socket of unread) socket.destroy()
await full.kill()

const servers = { on: await startServer('on'), off: await startServer('off') }
const written = {
  on: [] as { perSecond: number; cpuMs: number }[],
  off: [] as { perSecond: number; cpuMs: number }[],
}
for (const feed of ['on', 'off'] as const) await write(servers[feed])
for (let each = 0; each < rounds; each++)
  for (const feed of ['off', 'on'] as const) written[feed].push(await write(servers[feed]))
const figuresOf = (feed: 'on' | 'off') => ({
  perSecond: median(written[feed].map(({ perSecond }) => perSecond)),
  cpuMs: median(written[feed].map(({ cpuMs }) => cpuMs)),
})
const [off, on] = [figuresOf('off'), figuresOf('on')]
console.log(`\n${writing.callers} callers replace ${writing.documents} texts as often as possible:`)
table(
  ['feed', 'updates/s', 'ratio', 'CPU ms/update', 'ratio'],
  [
    ['off', thousands(off.perSecond), '1', round(off.cpuMs, 3), '1'],
    [
      'on',
      thousands(on.perSecond),
      round(on.perSecond / off.perSecond),
      round(on.cpuMs, 3),
      round(on.cpuMs / off.cpuMs),
    ],
  ],
)
await Promise.all([servers.on.kill(), servers.off.kill()])
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
