/**
 * What socket workers take off the main process: many rooms in one process and with two workers, in turns in the same
 * run. Where there are cores enough, the busiest process is what limits a server: the CPU that it needs for a delivered
 * update is what counts. The load generator needs a core itself, so that this can be seen on a machine with few, too.
 *
 *   node --import tsx bench/workers.ts [--smoke] [--rounds=3] [--seconds=4]
 */
import { parseArgs } from 'node:util'
import { type Contender, weft } from './load/contenders.ts'
import { enterInPairs } from './load/pairs.ts'
import { sleep } from './load/typing.ts'
import { cpuOfEach } from './support/cpu.ts'
import { median, progress, round, table, thousands } from './support/report.ts'
import { temporaryDirectory } from './support/server.ts'

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
  },
})
const { rooms, perSecond } = options.smoke ? { rooms: 10, perSecond: 200 } : { rooms: 500, perSecond: 5_000 }
const rounds = options.smoke ? 1 : Number(options.rounds)
const ms = options.smoke ? 500 : Number(options.seconds) * 1_000
const contenders = [weft('one process'), weft('two workers', { WEFT_WORKERS: '2' })]

/** Of a delivered update, in microseconds of CPU. */
interface Cost {
  readonly all: number
  readonly busiest: number
}

/** Two typists in each room, who see one another. */
async function costOf(contender: Contender): Promise<Cost> {
  const server = await contender.start(temporaryDirectory())
  const pairs = await enterInPairs(server, rooms)
  await sleep(options.smoke ? 100 : 1_000)
  const stop = pairs.type(perSecond)
  await sleep(ms)
  const [before, cpu] = [pairs.delivered(), cpuOfEach(server.pid)]
  await sleep(ms)
  const delivered = pairs.delivered() - before
  const used = [...cpuOfEach(server.pid)].map(([pid, after]) => after - (cpu.get(pid) ?? 0))
  stop()
  await server.kill()
  return {
    all: used.reduce((sum, one) => sum + one, 0) / delivered,
    busiest: Math.max(...used) / delivered,
  }
}

const costs = contenders.map((): Cost[] => [])
const bar = progress('workers')
for (let index = 0; index < rounds * contenders.length; index++) {
  const which = index % contenders.length
  costs[which]?.push(await costOf(contenders[which] as Contender))
  bar.at((index + 1) / rounds / contenders.length)
}
bar.end()
const busiest = costs.map((of) => median(of.map((cost) => cost.busiest)))
console.log(`${rooms} rooms × 2 typists, ${thousands(perSecond)}/s; ${rounds} rounds in turns, medians`)
table(
  ['', 'CPU µs a delivered update, all processes', 'the busiest', 'a core of it delivers a second', 'times'],
  contenders.map(({ name }, index) => {
    const micros = busiest[index] as number
    const all = median((costs[index] ?? []).map((cost) => cost.all))
    return [
      name,
      round(all, 1),
      round(micros, 1),
      thousands(1e6 / micros),
      round((busiest[0] as number) / micros),
    ]
  }),
)
process.exit()
