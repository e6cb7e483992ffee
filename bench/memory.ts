/**
 * Measures decision suggestions with growing numbers of judgments: the time of a response, and the time of
 * the first response, which includes building the index. Also measures how long each of them blocks the event
 * loop: the CPU time of the longest tick, including garbage collection. Calls the service directly with an
 * in-memory store, so the measurement does not include disk access.
 *
 *   node --import tsx bench/memory.ts [--smoke] [part of a name, such as han]
 */

import { DecisionMemory } from '../src/capabilities/decisions/decision-memory.ts'
import { memoryLimits } from '../src/capabilities/decisions/limits.ts'
import { systemClock } from '../src/core/base/clock.ts'
import { OrganizationStore } from '../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../src/core/events/event-recorder.ts'
import { openMemoryEngine } from '../src/core/store/memory/engine.ts'
import { seededRandom } from './support/random.ts'
import { median, progress, quantile, round, table, thousands } from './support/report.ts'

const smoke = process.argv.includes('--smoke')
const calls = smoke ? 20 : 100
/** Number of different words. Their frequencies follow Zipf's law, like the words of real texts. */
const vocabulary = 20_000
/** Number of words in each judgment and in each query. */
const words = 20

const tenant = { workspaceId: 'workspace', apiKey: 'key' }
const random = seededRandom(5)
const zipf = (): string => `word${Math.floor(vocabulary ** (random(1e6) / 1e6))}`
const joined = (count: number, word: () => string): string => Array.from({ length: count }, word).join(' ')
const longest = (text: string): string => text.slice(0, memoryLimits.queryCharacters)

interface Kind {
  readonly name: string
  readonly counts: readonly number[]
  readonly text: () => string
}

/** Maximum number of judgments with the longest text that the store of one API key can have. */
const longCount = smoke ? 200 : memoryLimits.characters / memoryLimits.queryCharacters
const kinds: readonly Kind[] = [
  {
    name: `${words} words`,
    counts: smoke ? [1_000, 10_000] : [1_000, 10_000, memoryLimits.judgments],
    text: () => joined(words, zipf),
  },
  { name: 'longest texts', counts: [longCount], text: () => longest(joined(500, zipf)) },
  {
    name: 'longest texts, no word twice',
    counts: [longCount],
    text: () => longest(joined(800, () => random(1e9).toString(36))),
  },
  {
    name: 'longest texts, han',
    counts: [longCount],
    text: () => longest(String.fromCodePoint(...Array.from({ length: 4_000 }, () => 0x4e00 + random(5_000)))),
  },
  { name: 'the same words', counts: [smoke ? 1_000 : memoryLimits.judgments], text: () => 'late parcel' },
]

async function fill(memory: DecisionMemory, count: number, text: () => string): Promise<void> {
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

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Returns the CPU time of the longest tick of the event loop during `work`, in ms. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longestMs, last] = [0, cpuMs()]
  const look = (): void => {
    longestMs = Math.max(longestMs, cpuMs() - last)
    last = cpuMs()
  }
  const state = { goesOn: true }
  const turn = (): void => {
    look()
    if (state.goesOn) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  look()
  state.goesOn = false
  return longestMs
}

async function measure({ name, text }: Kind, count: number): Promise<readonly string[]> {
  const engine = await openMemoryEngine()
  const memory = new DecisionMemory(
    engine.kv,
    new OrganizationStore(engine, new EventRecorder(systemClock, () => false)),
    systemClock,
  )
  const fillMs = await timed(() => fill(memory, count, text))
  const ask = () => {
    const question = text()
    return timed(() => memory.suggest(tenant, question, {}))
  }
  let firstMs = 0
  const buildTurnMs = await longestTurn(async () => {
    firstMs = await ask()
  })
  const times: number[] = []
  for (let call = 0; call < calls; call++) times.push(await ask())
  await engine.close()
  return [
    name,
    thousands(count),
    round(median(times)),
    round(quantile(times, 0.99)),
    round(firstMs, 0),
    round(buildTurnMs, 0),
    thousands(count / (fillMs / 1000)),
  ]
}

const rows: (readonly string[])[] = []
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
for (const kind of kinds.filter(({ name }) => wanted.every((part) => name.includes(part))))
  for (const count of kind.counts) rows.push(await measure(kind, count))
table(['texts', 'judgments', 'suggest p50 ms', 'p99 ms', 'first ms', 'its longest turn ms', 'added/s'], rows)
