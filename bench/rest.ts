/**
 * Measures the main REST operations in organizations of growing size: the time, the calls per second, and the
 * growth with the amount of data. The calls go over real sockets to a separate server process, which writes
 * durably to disk.
 *
 *   node --import tsx bench/rest.ts [--smoke]
 */

import { fsyncMs } from '../src/cli/bench/measure.ts'
import { type Called, type CalledServer, callAll } from './load/calling.ts'
import { type Filled, type Operation, operations } from './rest/operations.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import {
  type BenchServer,
  done,
  headers,
  startScript,
  startWeft,
  temporaryDirectory,
  unlimitedCalls,
} from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const sizes = smoke ? [200, 400] : [1_000, 100_000]
const users = smoke ? 100 : 10_000
const folders = smoke ? 50 : 1_000
const calls = smoke ? 20 : 400
/** Number of concurrent calls when the throughput is measured. */
const atOnce = 16
const batch = 500

async function inBatches(count: number, call: (from: number, to: number) => Promise<void>): Promise<void> {
  const bar = progress('filling')
  for (let from = 0; from < count; from += batch) {
    await call(from, Math.min(count, from + batch))
    bar.at(from / count)
  }
  bar.end()
}

const range = <T>(from: number, to: number, make: (index: number) => T): T[] =>
  Array.from({ length: to - from }, (_, index) => make(from + index))

async function fill(server: BenchServer, { organizationId, documents }: Filled): Promise<void> {
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  await inBatches(folders, (from, to) =>
    done(server, '/v1/organizations/folders/add', {
      organizationId,
      folders: range(from, to, (index) => ({
        folderId: `folder-${index}`,
        folderName: `Folder ${index}`,
        // Each folder has ten subfolders, so a thousand folders have three levels.
        parentFolderId: index < 10 ? 'root' : `folder-${Math.floor(index / 10)}`,
      })),
    }),
  )
  await inBatches(documents, (from, to) =>
    done(server, '/v2/organizations/documents/add', {
      organizationId,
      documents: range(from, to, (index) => ({
        documentId: `document-${index}`,
        documentName: `Document ${index}`,
        folderId: `folder-${index % folders}`,
      })),
    }),
  )
  await inBatches(users, (from, to) =>
    done(server, '/v2/users/add', {
      organizationId,
      users: range(from, to, (index) => ({ userId: `user-${index}`, name: `User ${index}` })),
    }),
  )
  const read = { organizationId, documentId: 'read', editorId: 'main', type: 'text', data: 'to be read' }
  await done(server, '/v2/crdt/add', read)
}

interface Measured {
  readonly one: Called
  readonly many: Called
}

async function measure(server: CalledServer, operation: Operation, of: Filled): Promise<Measured> {
  const { path } = operation
  let from = 0
  const run = async (callers: number): Promise<Called> => {
    const first = from
    from += calls
    const amount = { calls, secondsMax: Number.POSITIVE_INFINITY }
    return await callAll(server, callers, amount, async (caller, _, index) => {
      const said = await caller.post(
        path,
        Buffer.from(JSON.stringify({ data: operation.data(of, first + index) })),
      )
      if (said.includes('"success":false')) throw new Error(`${path}: ${said.toString()}`)
    })
  }
  return { one: await run(1), many: await run(atOnce) }
}

const weft = await startWeft(temporaryDirectory(), unlimitedCalls)
const bare = await startScript('bare-http.ts')
const target: CalledServer = { ...weft.call, pid: weft.process.pid as number }
const bareTarget: CalledServer = { url: `http://127.0.0.1:${bare.port}`, headers, pid: bare.pid }
const results = new Map<string, Measured[]>()
for (const documents of sizes) {
  const of: Filled = { organizationId: `of ${documents}`, documents, users, folders }
  const start = performance.now()
  await fill(weft, of)
  const seconds = (performance.now() - start) / 1000
  console.log(
    `filled by REST in ${round(seconds, 1)} s: ${thousands(documents)} documents, ${thousands(users)} users, ${thousands(folders)} folders`,
  )
  for (const operation of operations)
    results.set(operation.name, [
      ...(results.get(operation.name) ?? []),
      await measure(target, operation, of),
    ])
}
const [parsed] = operations
const nothing: Filled = { organizationId: 'of none', documents: 1, users, folders }
const limit = await measure(bareTarget, parsed as Operation, nothing)
await weft.kill()
await bare.kill()

const row = (name: string, small: Measured | null, large: Measured): string[] => [
  name,
  small === null ? '' : round(median(small.one.times)),
  round(median(large.one.times)),
  small === null ? '' : round(median(large.one.times) / median(small.one.times)),
  round(quantile(large.one.times, 0.99)),
  thousands(large.one.perSecond),
  thousands(large.many.perSecond),
  round(large.many.perSecond / limit.many.perSecond),
  thousands(large.many.microseconds),
]
const [few, many] = sizes.map(thousands)
table(
  [
    '',
    `p50 ms, ${few}`,
    `p50 ms, ${many}`,
    'ratio',
    `p99 ms, ${many}`,
    'one caller: calls/s',
    `${atOnce} callers`,
    'of bare',
    'CPU µs a call',
  ],
  [
    row('a bare server parses and answers', null, limit),
    ...operations.map(({ name }) => row(name, ...(results.get(name) as [Measured, Measured]))),
  ],
)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
