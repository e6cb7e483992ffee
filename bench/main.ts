/**
 * Runs the benches, each in a separate process.
 *
 *   npm run bench                     all benches
 *   npm run bench -- sync rest        only the benches `sync` and `rest`
 *   npm run bench -- --smoke          all benches, only long enough to prove that they run
 *   npm run bench -- --smoke --sample=6   six of them, chosen by WEFT_FUZZ_SEED or by chance
 *   npm run bench -- --json=DIR       also writes the figures of each bench to a file in DIR (see `bench/chart.ts`)
 *   npm run bench -- --help           lists the benches
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Random } from '../test/support/data/random-doc.ts'
import { seed } from '../test/support/data/seed.ts'
import { inParallel } from '../test/support/in-parallel.ts'
import { round } from './support/report.ts'

const benches: Readonly<Record<string, string>> = {
  sync: 'websockets, compared with relays and other servers',
  transport: 'sessions over HTTP, compared with websockets',
  cluster: 'several nodes over PostgreSQL, compared with one node and the embedded engine',
  capacity: 'the needs of a cluster by connections and documents: writes bench/capacity.md',
  startup: 'time to ready, and memory of an idle server',
  'room-memory': 'memory of a room, a connection and a closed room, by object',
  counts: 'promises, buffers, heap and operations of LevelDB for the first edits of a document',
  growth: 'rooms, document sizes and log lengths, from few to many',
  replace: 'text replaced by the revisions of a file',
  'replace-json': 'the same with nested shared types',
  'replace-xml': 'the same with XML',
  'replace-rest': 'replacements a second by REST calls, by type and size',
  edit: 'small edits: calls a second, time by the size of the document, and bytes',
  agents: '30 tasks of an agent by edits, whole Markdown and whole XML, while users type',
  streams: 'typing in a document while ten streams write into it, with broken connections',
  'replace-growth': 'a document after 500 replacements',
  'replace-worst': 'expensive replacements',
  neighbours: 'typing while another document is replaced',
  presence: 'many cursors in one room, and a status set by REST',
  rest: 'operations on small and large organizations',
  'rest-rates': 'small contents and pages of documents by 16 callers',
  activities: 'filters over many activities',
  memory: 'suggestions from many judgments',
  feed: 'a consumer of the change feed, the time to its events, and the cost for writers',
  webhooks: 'events sent to receivers that work, hang or fail',
  callbacks: 'connections with authorize and load, and beside an endpoint that hangs',
  storage: 'written bytes, and opening times',
  authorship: 'stored bytes of the authors of changes, and the time of reading them',
  audit: 'the cost of the audit log',
}

const usage = (): string => {
  const lines = Object.entries(benches).map(([name, line]) => `  ${name.padEnd(16)}${line}`)
  return `npm run bench -- [names] [--smoke] [--json=DIR]\n\n${lines.join('\n')}`
}

const given = process.argv.slice(2)
const names = given.filter((argument) => !argument.startsWith('--'))
const flags = given.filter((argument) => /^--(?!json=|sample=)/.test(argument))
const sampleSize = Number(
  given.find((argument) => argument.startsWith('--sample='))?.slice('--sample='.length),
)
const directory = given.find((argument) => argument.startsWith('--json='))?.slice('--json='.length)
const unknown = names.filter((name) => !(name in benches))
if (flags.includes('--help')) {
  console.log(usage())
  process.exit(0)
}
if (unknown.length > 0) {
  console.error(`no such bench: ${unknown.join(', ')}\n\n${usage()}`)
  process.exit(2)
}
if (directory !== undefined) mkdirSync(directory, { recursive: true })

const chosen = names.length > 0 ? names : Object.keys(benches)
if (sampleSize > 0) {
  const random = new Random(seed)
  while (chosen.length > sampleSize) chosen.splice(random.below(chosen.length), 1)
  console.log(`sample by the seed ${seed}: ${chosen.join(', ')}`)
}
/** The figures of a smoke run mean nothing, so two benches share the machine. */
const atOnce = flags.includes('--smoke') ? 2 : 1
let failure = 0

const minutes = (): string => round(performance.now() / 60_000, 1)

/** Runs a bench. If others run at the same time, its output is printed when it ends. */
async function run(name: string, index: number): Promise<void> {
  const heading = `\n${name} (${index + 1} of ${chosen.length}, after ${minutes()} min)`
  const script = join(import.meta.dirname, `${name}.ts`)
  const json = directory === undefined ? [] : [`--json=${join(directory, `${name}.json`)}`]
  const args = ['--import', 'tsx', script, ...flags, ...json]
  if (atOnce === 1) console.log(heading)
  const { WEFT_FUZZ_SEED: _, ...env } = process.env
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['inherit', atOnce === 1 ? 'inherit' : 'pipe', 'inherit'],
  })
  const [output, [status]] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    once(child, 'exit') as Promise<[number | null]>,
  ])
  if (atOnce > 1) console.log(`${heading}\n${output}`)
  if (status !== 0) failure = status ?? 1
}

await inParallel([...chosen.entries()], atOnce, async ([index, name]) => {
  if (failure === 0) await run(name, index)
})
if (failure !== 0) process.exit(failure)
console.log(`\nall done after ${minutes()} min`)
