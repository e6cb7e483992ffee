/**
 * Measures typing in one document while another document is replaced repeatedly. The replacements are large,
 * and the contents have nothing in common. For comparison, also measures a server that computes the
 * replacements on the event loop.
 *
 *   node --import tsx bench/neighbours.ts [--smoke]
 */
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { word, words } from './support/contents.ts'
import type { ReplacerOrder } from './support/replacer.ts'
import { whileReplacing } from './support/replacing.ts'
import { median, quantile, round, table, thousands } from './support/report.ts'
import { startWeft, temporaryDirectory } from './support/server.ts'
import { type Typists, typistsAt } from './support/typists.ts'

const smoke = process.argv.includes('--smoke')
/** Number of keystrokes per second, as a few users type them. */
const perSecond = 100
const seconds = smoke ? 2 : 15
const nodes = smoke ? 2_000 : 20_000
const characters = smoke ? 100_000 : 1_000_000

/** Returns XML with `count` nodes. Half of the nodes are elements, and the other half are unique texts. */
const xmlOf = (count: number): string =>
  Array.from({ length: count / 2 }, () => `<p id="${word()}">${words(4)}</p>`).join('')

function textOf(length: number): string {
  const text = words(length / 5)
  return text.slice(0, length)
}

const pace = { perSecond, seconds }

interface Phase {
  readonly name: string
  readonly latencies: number[]
  /** Duration of each replacement in ms. */
  readonly replacements: number[]
}

async function phase(name: string, typists: Typists, order: ReplacerOrder | null): Promise<Phase> {
  if (order === null) return { name, latencies: await typists.type(), replacements: [] }
  const { result, rounds } = await whileReplacing(order, () => typists.type())
  return { name, latencies: result, replacements: rounds.map(({ write }) => write) }
}

async function run(threads: number): Promise<Phase[]> {
  const server = await startWeft(temporaryDirectory(), { WEFT_COMPUTE_THREADS: String(threads) })
  const typists = await typistsAt(server, pace, 10)
  const where = threads === 0 ? 'on the event loop' : 'on a thread'
  const of = (type: string, contents: [string, string]) => ({ call: server.call, type, contents })
  const phases = [
    await phase('nothing else', typists, null),
    await phase(
      `XML of ${thousands(nodes)} nodes, ${where}`,
      typists,
      of('xml', [xmlOf(nodes), xmlOf(nodes)]),
    ),
    await phase(
      `XML of ${thousands(nodes)} nodes, emptied and filled, ${where}`,
      typists,
      of('xml', ['', xmlOf(nodes)]),
    ),
    await phase(
      `text of ${thousands(characters)} characters, ${where}`,
      typists,
      of('text', [textOf(characters), textOf(characters)]),
    ),
  ]
  await server.kill()
  return phases
}

const phases = [...(await run(1)), ...(await run(0)).slice(1)]
const ms = (values: readonly number[], share: number): string => round(quantile(values, share), 1)
console.log(`typing ${perSecond} keystrokes/s in one document for ${seconds} s while another is replaced:`)
table(
  ['', 'p50 ms', 'p99 ms', 'worst ms', 'replacements', 'ms each'],
  phases.map(({ name, latencies, replacements }) => [
    name,
    ms(latencies, 0.5),
    ms(latencies, 0.99),
    ms(latencies, 1),
    String(replacements.length),
    replacements.length === 0 ? '' : round(median(replacements), 0),
  ]),
)
console.log(`fsync on this machine: p50 ${round(fsyncMs().p50)} ms`)
process.exit(0)
