/**
 * Measures websockets. Compares Weft with bare relays, which are the upper bound, and with other servers,
 * alternately in the same run. The servers and the load generator are separate processes. CPU time and memory
 * are the values that the operating system reports.
 *
 *   npm ci --prefix bench/peers                 installs the other servers; otherwise they are left out
 *   node --import tsx bench/sync.ts [options]   `--help` lists the options
 */

import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { Contender } from '../src/cli/bench/contender.ts'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import type { Scale, Scenario } from '../src/cli/bench/scenario.ts'
import { scenarios } from '../src/cli/bench/scenarios/scenarios.ts'
import { errorMessage } from '../src/core/base/errors.ts'
import { contenders as all } from './load/contenders.ts'
import { Results } from './load/results.ts'
import { startRun } from './load/start-run.ts'
import { progress, round } from './support/report.ts'

const own = 'weft'

const usage = (): string => `node --import tsx bench/sync.ts [options]

  --smoke              once, just long enough to prove that it runs; unless --with is given, not all with all
  --rounds=3           how often each scenario is run with each contender, in turns
  --seconds=4          measured in a run, after as many of warming up
  --only=cursors       scenarios with that in their name
  --with=weft,relay    contenders; the first of the list below that is among them is what others are measured by
  --markdown           all medians in one table
  --json=FILE          keeps all figures there; bench/chart.ts draws them

scenarios:
${scenarios.map(({ name }) => `  ${name}`).join('\n')}

contenders (those of others once they are installed: npm ci --prefix bench/peers):
${all()
  .map(({ name }) => `  ${name}`)
  .join('\n')}`

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    only: { type: 'string', default: '' },
    with: { type: 'string' },
    json: { type: 'string' },
    markdown: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(usage())
  process.exit()
}
const scale: Scale = options.smoke
  ? { size: 'smoke', seconds: 0.5 }
  : { size: 'full', seconds: Number(options.seconds ?? 4) }
const rounds = Number(options.rounds ?? (options.smoke ? 1 : 3))
const wanted = options.with?.split(',')
const contenders = all().filter(({ name }) => wanted?.includes(name) ?? true)
const chosen = scenarios.filter(({ name }) => name.includes(options.only))
if (chosen.length === 0) throw new Error(`there are: ${scenarios.map(({ name }) => name).join('; ')}`)

/**
 * Returns Weft and one other server for each scenario. This suffices to prove that all servers and scenarios
 * run.
 */
function fewOf(able: readonly Contender[], scenario: Scenario): readonly Contender[] {
  const others = able.filter(({ name }) => name !== own)
  const other = others[scenarios.indexOf(scenario) % others.length]
  return able.filter((each) => each.name === own || each === other)
}

function contendersIn(scenario: Scenario): readonly Contender[] {
  const able = contenders.filter(({ keeps }) => keeps || !scenario.needsStore)
  return options.smoke && wanted === undefined ? fewOf(able, scenario) : able
}

const runs = Array.from({ length: rounds }, () => chosen)
  .flat()
  .flatMap((scenario) => contendersIn(scenario).map((contender) => ({ scenario, contender })))
const results = new Results(contenders.map(({ name }) => name))
const disk = fsyncMs()

/** Writes the results so far to the file. Called after each run, because a long bench may be interrupted. */
function keep(): void {
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ disk, results }, null, 1)}\n`)
}

const bar = progress('sync')
for (const [index, { scenario, contender }] of runs.entries()) {
  bar.at(index / runs.length)
  try {
    results.add(scenario, contender.name, await startRun(scenario, contender, scale))
  } catch (error) {
    console.error(`${contender.name}, ${scenario.name}: ${errorMessage(error)}`)
    if (contender.name === own) process.exitCode = 1
  }
  keep()
}
bar.end()
console.log(
  `${rounds} rounds in turns, medians; ${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}`,
)
if (options.markdown) console.log(results.markdown())
else results.print()
keep()
console.log(`fsync on this machine: p50 ${round(disk.p50)} ms, p99 ${round(disk.p99)} ms`)
process.exit()
