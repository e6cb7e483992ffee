/**
 * Measures the cost of the audit log. The same calls go alternately to a server that records every change and
 * to a server that records nothing. They go over real sockets to separate server processes, which write
 * durably to disk.
 *
 *   node --import tsx bench/audit.ts [--smoke]
 */
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { seededRandom } from './support/random.ts'
import { median, round, table } from './support/report.ts'
import { type BenchServer, done, startWeft, temporaryDirectory } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const rounds = smoke ? 2 : 10
/** Number of calls in one round. They first run one after the other, and then concurrently. */
const calls = smoke ? 20 : 200
const atOnce = 16

const random = seededRandom(11)
const organizationId = 'acme'

interface Operation {
  readonly name: string
  readonly path: string
  data(): object
}

const operations: readonly Operation[] = [
  {
    name: 'a user renamed',
    path: '/v2/users/update',
    data: () => ({ organizationId, users: [{ userId: `u${random(100)}`, name: `name ${random(1e9)}` }] }),
  },
  {
    name: 'a text replaced',
    path: '/v2/crdt/update',
    data: () => ({
      organizationId,
      documentId: `d${random(50)}`,
      editorId: 'main',
      type: 'text',
      data: `some words and a number: ${random(1e9)}`,
      upsert: true,
    }),
  },
  {
    name: 'a token made',
    path: '/v2/auth/generate_token',
    data: () => ({ userId: `u${random(100)}`, userProperties: { name: 'Ann', email: 'ann@example.com' } }),
  },
]

interface Measured {
  readonly ms: number[]
  readonly perSecond: number[]
}

async function measure(
  server: BenchServer,
  operation: Operation,
  { ms, perSecond }: Measured,
): Promise<void> {
  for (let index = 0; index < calls; index++) {
    const start = performance.now()
    await done(server, operation.path, operation.data())
    ms.push(performance.now() - start)
  }
  const start = performance.now()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let index = 0; index < calls / atOnce; index++)
        await done(server, operation.path, operation.data())
    }),
  )
  perSecond.push((calls * 1000) / (performance.now() - start))
}

const start = (audit: string): Promise<BenchServer> =>
  startWeft(temporaryDirectory(), { WEFT_CALLS_PER_KEY: '0', WEFT_AUDIT: audit })

const [off, all] = await Promise.all([start('off'), start('all')])
for (const server of [off, all]) {
  const users = Array.from({ length: 100 }, (_, index) => ({ userId: `u${index}`, name: 'n' }))
  await done(server, '/v2/organizations/add', { organizations: [{ organizationId }] })
  await done(server, '/v2/users/add', { organizationId, users })
}
const rows: string[][] = []
for (const operation of operations) {
  const without: Measured = { ms: [], perSecond: [] }
  const withLog: Measured = { ms: [], perSecond: [] }
  for (let turn = 0; turn < rounds; turn++) {
    await measure(off, operation, without)
    await measure(all, operation, withLog)
  }
  const rates = [median(without.perSecond), median(withLog.perSecond)] as const
  const times = [median(without.ms), median(withLog.ms)] as const
  rows.push([
    operation.name,
    `${round(times[0], 2)} ms`,
    `${round(times[1], 2)} ms`,
    `${round(rates[0], 0)}/s`,
    `${round(rates[1], 0)}/s`,
    round(rates[1] / rates[0]),
  ])
}
const head = [
  'operation',
  'p50, off',
  'p50, all',
  `${atOnce} at once, off`,
  `${atOnce} at once, all`,
  'ratio',
]
table(head, rows)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
await Promise.all([off.kill(), all.kill()])
process.exit(0)
