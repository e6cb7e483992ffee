/**
 * Decision suggestion: how long an answer takes with growing numbers of judgments, and how long the first one, for which
 * the index is built. The service itself, on a store in memory: what it computes, not what a disk does.
 *
 *   node --import tsx bench/memory.ts [--smoke]
 */
import { systemClock } from '../src/clock.ts'
import { OrganizationStore } from '../src/directory/organization-store.ts'
import { openMemoryEngine } from '../src/engine/memory/engine.ts'
import { Events } from '../src/events/events.ts'
import { Memory } from '../src/memory/memory.ts'
import { seededRandom } from './support/random.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const sizes = smoke ? [1_000, 10_000] : [1_000, 10_000, 100_000]
const calls = smoke ? 20 : 100
/** Different words; how often each comes is by Zipf's law, as in texts of people. */
const vocabulary = 20_000
/** Words of a judgment, and of a question. */
const words = 20

const tenant = { workspaceId: 'workspace', apiKey: 'key' }
const random = seededRandom(5)
const text = (): string =>
  Array.from({ length: words }, () => `word${Math.floor(vocabulary ** (random(1e6) / 1e6))}`).join(' ')

async function fill(memory: Memory, count: number): Promise<void> {
  const bar = progress('filling')
  for (let index = 0; index < count; index++) {
    await memory.add(tenant, {
      query: text(),
      decision: random(3) === 0 ? 'reject' : 'approve',
      reason: `reason ${random(50)}`,
      reviewerId: `reviewer ${random(20)}`,
    })
    bar.at(index / count)
  }
  bar.end()
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

async function measure(count: number): Promise<readonly string[]> {
  const engine = await openMemoryEngine()
  const memory = new Memory(
    engine.kv,
    new OrganizationStore(engine, new Events(systemClock, () => false)),
    systemClock,
  )
  const fillMs = await timed(() => fill(memory, count))
  const ask = () => timed(() => memory.suggest(tenant, text(), {}))
  const firstMs = await ask()
  const times: number[] = []
  for (let call = 0; call < calls; call++) times.push(await ask())
  await engine.close()
  return [
    thousands(count),
    round(median(times)),
    round(quantile(times, 0.99)),
    round(firstMs, 0),
    thousands(count / (fillMs / 1000)),
  ]
}

const rows: (readonly string[])[] = []
for (const size of sizes) rows.push(await measure(size))
table(['judgments', 'suggest p50 ms', 'p99 ms', 'first ms', 'added/s'], rows)
