/**
 * Measures websockets. Compares Weft with bare relays, which are the upper bound, and with other servers,
 * alternately in the same run. The servers and the load generator are separate processes. CPU time and memory
 * are the values that the operating system reports.
 *
 *   npm ci --prefix bench/peers                 installs the other servers; otherwise they are left out
 *   node --import tsx bench/sync.ts [options]   `--help` lists the options
 */

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { ServerSpec } from '../src/cli/bench/contender.ts'
import { reportLines, runBenchmark, scenarios } from '../src/cli/bench/main.ts'
import type { Scale, Scenario } from '../src/cli/bench/scenario.ts'
import { contenders as all } from './load/contenders.ts'
import { recordedFile } from './support/recorded-trace.ts'
import { progress } from './support/report.ts'

const own = 'weft'

const usage = (): string => `node --import tsx bench/sync.ts [options]

  --smoke              once, just long enough to prove that it runs; unless --with is given, not all with all
  --rounds=3           how often each scenario is run with each contender, in turns
  --seconds=4          measured in a run, after as many of warming up
  --only=cursors       scenarios with that in their name, or with exactly this key
  --with=weft,relay    contenders; the first of the list below that is among them is what others are measured by
  --markdown           all medians in one table
  --json=FILE          keeps all figures there; bench/chart.ts draws them

scenarios:
${scenarios.map(({ key, name }) => `  ${key.padEnd(20)}${name}`).join('\n')}

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
  : { size: 'full', seconds: Number(options.seconds ?? 4), trace: recordedFile }
const rounds = Number(options.rounds ?? (options.smoke ? 1 : 3))
const wanted = options.with?.split(',')
const contenders = all().filter(({ name }) => wanted?.includes(name) ?? true)
const chosen = scenarios.filter(({ key, name }) => key === options.only || name.includes(options.only))
if (chosen.length === 0) throw new Error(`there are: ${scenarios.map(({ name }) => name).join('; ')}`)

/**
 * Returns Weft and one other server for each scenario. This suffices to prove that all servers and scenarios
 * run.
 */
function fewOf(able: readonly ServerSpec[], scenario: Scenario): readonly ServerSpec[] {
  const others = able.filter(({ name }) => name !== own)
  const other = others[scenarios.indexOf(scenario) % others.length]
  return able.filter((each) => each.name === own || each === other)
}

const bar = progress('sync')
const { report, results } = await runBenchmark({
  servers: contenders,
  scenarios: chosen,
  scale,
  rounds,
  chosen: (scenario, able) => (options.smoke && wanted === undefined ? fewOf(able, scenario) : able),
  onProgress: (_, share) => bar.at(share),
  // Written after each run, because a long bench may be interrupted.
  onRun: (sofar) => {
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(sofar, null, 1)}\n`)
  },
})
bar.end()
for (const line of options.markdown ? [results.markdown()] : reportLines(report, results)) console.log(line)
process.exit(report.results.some(({ failures }) => own in failures) ? 1 : 0)
