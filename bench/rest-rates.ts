/**
 * Measures how many calls per second a server answers for two frequent operations, with 16 callers: a small
 * content written, to new and to existing documents, and a page of 100 documents of a large organization. The limit is a bare server that parses
 * the same bodies. The servers alternate in short windows, and the figures are medians of these windows.
 *
 *   node --import tsx bench/rest-rates.ts [--smoke]
 */

import { fsyncMs } from '../src/cli/bench/measure.ts'
import { type Call, type Called, type CalledServer, callAll } from './load/calling.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import {
  done,
  headers,
  startScript,
  startWeft,
  temporaryDirectory,
  unlimitedCalls,
} from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const documents = smoke ? 200 : 100_000
const callers = 16
const windows = smoke ? 2 : 10
const window = { calls: smoke ? 32 : Number.POSITIVE_INFINITY, secondsMax: smoke ? 0.1 : 1 }
const organizationId = 'rates'
const batch = 500
/** Number of existing documents whose content the calls replace. */
const texts = smoke ? 20 : 200

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index)

/** Total number of calls. Each call writes this number, so that its content is new. */
let calls = 0

const written = (documentId: string): object => ({
  organizationId,
  documentId,
  editorId: 'main',
  type: 'text',
  data: `some words and a number: ${calls}`,
  upsert: true,
})

interface Measurement {
  readonly name: string
  readonly path: string
  readonly data: () => object
}

const measurements: readonly Measurement[] = [
  {
    name: 'a text written, new document',
    path: '/v2/crdt/update',
    data: () => written(`new-${calls}`),
  },
  {
    name: 'a text written, existing document',
    path: '/v2/crdt/update',
    data: () => written(`document-${calls % texts}`),
  },
  {
    name: 'a page of 100 documents',
    path: '/v2/organizations/documents/get',
    data: () => ({ organizationId, pageSize: 100 }),
  },
]

const weft = await startWeft(temporaryDirectory(), unlimitedCalls)
const bare = await startScript('bare-http.ts')
const servers: Readonly<Record<'weft' | 'bare', CalledServer>> = {
  weft: { ...weft.call, pid: weft.process.pid as number },
  bare: { url: `http://127.0.0.1:${bare.port}`, headers, pid: bare.pid },
}

await done(weft, '/v2/organizations/add', { organizations: [{ organizationId }] })
const bar = progress('filling')
for (let from = 0; from < documents; from += batch) {
  bar.at(from / documents)
  await done(weft, '/v2/organizations/documents/add', {
    organizationId,
    documents: numbers(from, Math.min(documents, from + batch)).map((index) => ({
      documentId: `document-${index}`,
      documentName: `Document ${index}`,
    })),
  })
}
bar.end()

const callOf =
  ({ path, data }: Measurement): Call =>
  async (caller) => {
    calls += 1
    const answer = await caller.post(path, Buffer.from(JSON.stringify({ data: data() })))
    if (answer.includes('"error"')) throw new Error(`${path}: ${answer.toString()}`)
  }

const medianOf = (all: readonly Called[], figure: (called: Called) => number): number =>
  median(all.map(figure))

const rows: (readonly string[])[] = []
for (const measurement of measurements) {
  const call = callOf(measurement)
  const results: Readonly<Record<keyof typeof servers, Called[]>> = { weft: [], bare: [] }
  // The first window makes the servers compile their code, and does not count.
  for (let index = 0; index <= windows; index += 1)
    for (const name of ['weft', 'bare'] as const) {
      const called = await callAll(servers[name], callers, window, call)
      if (index > 0) results[name].push(called)
    }
  rows.push([
    measurement.name,
    ...[results.weft, results.bare].flatMap((all) => [
      thousands(medianOf(all, ({ perSecond }) => perSecond)),
      thousands(medianOf(all, ({ microseconds }) => microseconds)),
      round(medianOf(all, ({ times }) => median(times))),
      round(medianOf(all, ({ times }) => quantile(times, 0.99))),
    ]),
  ])
}
await weft.kill()
await bare.kill()
const figures = (name: string): readonly string[] =>
  ['calls/s', 'CPU µs', 'p50 ms', 'p99 ms'].map((figure) => `${name}: ${figure}`)
console.log(
  `${callers} callers, ${thousands(documents)} documents, medians of ${windows} windows of ${window.secondsMax} s:`,
)
table(['', ...figures('weft'), ...figures('bare')], rows)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
