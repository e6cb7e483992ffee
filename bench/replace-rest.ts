/**
 * Measures replacements per second through REST, by type, by size, and by share of new content. Measures one
 * caller, and 16 callers with one document each. The upper bound is a bare server that parses the same bodies
 * and creates the content again in an in-memory Y.Doc.
 *
 *   node --import tsx bench/replace-rest.ts [--smoke]
 */

import { fsyncMs } from '../src/cli/bench/measure.ts'
import { type Call, type Called, type CalledServer, callAll } from './load/calling.ts'
import { type ContentType, contentAt, type Sequence, sequencesOf } from './support/contents.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'
import { headers, startScript, startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const callerCounts = [1, 16]
const kilobyte = 1_024
const all: readonly (readonly [ContentType, number])[] = [
  ['text', kilobyte],
  ['text', 100 * kilobyte],
  ['text', 1_024 * kilobyte],
  ['map', kilobyte],
  ['map', 100 * kilobyte],
  ['array', kilobyte],
  ['array', 100 * kilobyte],
  ['xml', kilobyte],
  ['xml', 100 * kilobyte],
]
const cases = all.filter(([, bytes]) => !smoke || bytes === kilobyte)
/** Calls before the measurement. They create the documents, and make the server compile its code. */
const warmUp = { calls: 200, secondsMax: smoke ? 0.05 : 0.3 }
const counted = { calls: smoke ? 32 : 2_000, secondsMax: smoke ? 0.1 : 1 }

interface Contender {
  readonly name: string
  readonly server: CalledServer
  /** Whether the response states whether the call has changed anything. */
  readonly tells: boolean
}

interface Work {
  readonly type: ContentType
  readonly bytes: number
  readonly sequence: Sequence
  readonly callers: number
}

const bodyOf = (documentId: string, type: ContentType, content: string): Buffer => {
  const address = { organizationId: 'bench', documentId, editorId: 'main', upsert: true, type }
  return Buffer.from(`{"data":${JSON.stringify(address).slice(0, -1)},"data":${content}}}`)
}

/**
 * Measures calls with one type and one sequence of contents.
 * @throws Error if a response states the change incorrectly
 */
async function measure(
  { server, tells }: Contender,
  { type, bytes, sequence, callers }: Work,
): Promise<Called> {
  const made = new Map<number, number>()
  const call: Call = async (caller, who) => {
    const before = made.get(who) ?? 0
    made.set(who, before + 1)
    const documentId = [type, bytes, sequence.name, callers, who].join('-')
    const said = await caller.post('/v2/crdt/update', bodyOf(documentId, type, contentAt(sequence, before)))
    const isNew = before === 0 || sequence.contents.length > 1
    if (tells && !said.includes(`"changed":${isNew}`)) throw new Error(`${documentId}: ${said.toString()}`)
  }
  await callAll(server, callers, warmUp, call)
  return await callAll(server, callers, counted, call)
}

const weft = await startWeft(temporaryDirectory(), unlimitedCalls)
const bare = await startScript('bare-http.ts')
const contenders: readonly Contender[] = [
  { name: 'bare', server: { url: `http://127.0.0.1:${bare.port}`, headers, pid: bare.pid }, tells: false },
  { name: 'weft', server: { ...weft.call, pid: weft.process.pid as number }, tells: true },
]
const works = cases.flatMap(([type, bytes]) =>
  sequencesOf(type, bytes).flatMap((sequence) =>
    callerCounts.map((callers): Work => ({ type, bytes, sequence, callers })),
  ),
)

const bar = progress('replacements')
const rows: (readonly string[])[] = []
for (const [index, work] of works.entries()) {
  bar.at(index / works.length)
  const [limit, own] = [
    await measure(contenders[0] as Contender, work),
    await measure(contenders[1] as Contender, work),
  ]
  rows.push([
    `${work.type}, ${thousands(work.bytes / kilobyte)} KB`,
    work.sequence.name,
    String(work.callers),
    thousands(limit.perSecond),
    thousands(own.perSecond),
    round(own.perSecond / limit.perSecond),
    round(median(own.times)),
    round(quantile(own.times, 0.99)),
    thousands(limit.microseconds),
    thousands(own.microseconds),
  ])
}
bar.end()
await weft.kill()
await bare.kill()
console.log('replacements by REST calls, each answered when it is durable:')
table(
  [
    '',
    'new',
    'callers',
    'bare: calls/s',
    'weft: calls/s',
    'of bare',
    'p50 ms',
    'p99 ms',
    'bare: CPU µs',
    'weft: CPU µs',
  ],
  rows,
)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
