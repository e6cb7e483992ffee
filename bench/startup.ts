/**
 * Measures the time from the start of a server until it is ready, and its memory when it is idle. Measures an
 * empty store and a store with many documents, after a shutdown and after SIGKILL.
 *
 *   node --import tsx bench/startup.ts [--smoke]
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../src/cli/bench/cpu.ts'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { median, progress, round, table, thousands } from './support/report.ts'
import { type BenchServer, done, startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'
import { storeTexts } from './support/stored.ts'

const smoke = process.argv.includes('--smoke')
const documents = smoke ? 1_000 : 100_000
const rounds = smoke ? 1 : 5
/** Time in ms after which all work of a start has ended. */
const idleMs = smoke ? 500 : 5_000
/** Length of each document in characters. */
const characters = 500
/** Number of documents in one call. */
const batch = 500
/** Number of calls before the server ends, so that the next start finds recent writes. */
const lateCalls = 4
const organizationId = 'acme'

type Ending = 'SIGTERM' | 'SIGKILL'

const start = (data: string): Promise<BenchServer> => startWeft(data, unlimitedCalls)

async function end({ process: child }: BenchServer, ending: Ending): Promise<void> {
  child.kill(ending)
  await once(child, 'exit')
}

/** Creates documents. Each document has a record in the organization and a text in its log. */
async function fill(data: string): Promise<void> {
  const server = await start(data)
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  const bar = progress('documents')
  for (let from = 0; from < documents; from += batch) {
    await done(server, '/v2/organizations/documents/add', {
      organizationId,
      documents: Array.from({ length: batch }, (_, index) => ({ documentId: `d${from + index}` })),
    })
    bar.at(from / documents)
  }
  bar.end()
  await end(server, 'SIGTERM')
  await storeTexts(data, organizationId, documents, (index) => `d${index}`, characters)
}

async function writeSome(server: BenchServer): Promise<void> {
  for (let call = 0; call < lateCalls; call++) {
    const renamed = Array.from({ length: batch }, (_, index) => ({
      documentId: `d${(call * batch + index) % documents}`,
      documentName: `renamed at ${performance.now()}`,
    }))
    await done(server, '/v2/organizations/documents/update', { organizationId, documents: renamed })
  }
}

/** Starts the server, and returns how long it takes until the server is ready, in ms. */
async function timedStart(data: string): Promise<{ server: BenchServer; ms: number }> {
  const from = performance.now()
  const server = await start(data)
  return { server, ms: performance.now() - from }
}

interface Measured {
  readonly ms: readonly number[]
  readonly idleBytes: readonly number[]
}

/** Starts the server repeatedly, each time after it was ended in the given way. */
async function measure(data: string, ending: Ending, prepare: (server: BenchServer) => Promise<void>) {
  const [times, idle]: [number[], number[]] = [[], []]
  for (let index = 0; index < rounds; index++) {
    const before = await start(data)
    await prepare(before)
    await end(before, ending)
    const { server, ms } = await timedStart(data)
    times.push(ms)
    await sleep(idleMs)
    idle.push(residentBytes(server.process.pid as number))
    await end(server, 'SIGTERM')
  }
  return { ms: times, idleBytes: idle } satisfies Measured
}

const row = (name: string, { ms, idleBytes }: Measured): string[] => [
  name,
  round(median(ms), 0),
  round(Math.max(...ms), 0),
  round(median(idleBytes) / 2 ** 20, 1),
]

const empty = await measure(temporaryDirectory(), 'SIGTERM', async () => {})
const data = temporaryDirectory()
await fill(data)
const stopped = await measure(data, 'SIGTERM', writeSome)
const killed = await measure(data, 'SIGKILL', writeSome)
console.log(
  `from the start of the process to 200 of /readyz; memory after ${idleMs / 1000} s; ${rounds} rounds`,
)
table(
  ['', 'ready in ms', 'worst', 'MB idle'],
  [
    row('nothing stored', empty),
    row(`${thousands(documents)} documents, stopped before`, stopped),
    row(`${thousands(documents)} documents, killed before`, killed),
  ],
)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
