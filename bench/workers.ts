/**
 * What socket workers take off the main process: many rooms in one process and with two workers, in turns in the same
 * run. Where there are cores enough, the busiest thread is what limits a server (those that write to the disk, collect
 * garbage and compile run beside it): the CPU that it needs for a delivered update is what counts. The load generator needs a core itself, so that this can be seen on a machine with few, too.
 *
 *   node --import tsx bench/workers.ts [--smoke] [--rounds=3] [--seconds=4]
 */
import { parseArgs } from 'node:util'
import { sleep } from '../src/loadtest/typist.ts'
import { type Contender, weft } from './load/contenders.ts'
import { enterInPairs } from './load/pairs.ts'
import { cpuOfEach, cpuOfThreads } from './support/cpu.ts'
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
const contenders = [weft('one process'), weft('two workers', { WEFT_SOCKET_WORKERS: '2' })]

/** Of a delivered update, in microseconds of CPU. */
interface Cost {
  readonly all: number
  readonly process: number
  readonly thread: number
}

/** Two typists in each room, who see one another. */
async function costOf(contender: Contender): Promise<Cost> {
  const server = await contender.start(temporaryDirectory())
  const pairs = await enterInPairs(server, rooms)
  await sleep(options.smoke ? 100 : 1_000)
  const stop = pairs.type(perSecond)
  await sleep(ms)
  const [before, processes, threads] = [pairs.delivered(), cpuOfEach(server.pid), cpuOfThreads(server.pid)]
  await sleep(ms)
  const delivered = pairs.delivered() - before
  const ofEach = used(processes, cpuOfEach(server.pid))
  const ofThreads = used(threads, cpuOfThreads(server.pid))
  stop()
  await server.kill()
  return {
    all: ofEach.reduce((sum, one) => sum + one, 0) / delivered,
    process: Math.max(...ofEach) / delivered,
    thread: Math.max(...ofThreads) / delivered,
  }
}

const used = <Of>(before: ReadonlyMap<Of, number>, after: ReadonlyMap<Of, number>): readonly number[] =>
  [...after].map(([of, micros]) => micros - (before.get(of) ?? 0))

const costs = contenders.map((): Cost[] => [])
const bar = progress('workers')
for (let index = 0; index < rounds * contenders.length; index++) {
  const which = index % contenders.length
  costs[which]?.push(await costOf(contenders[which] as Contender))
  bar.at((index + 1) / rounds / contenders.length)
}
bar.end()
const medianOf = (of: readonly Cost[], what: keyof Cost): number => median(of.map((cost) => cost[what]))
const alone = medianOf(costs[0] as Cost[], 'thread')
console.log(`${rooms} rooms × 2 typists, ${thousands(perSecond)}/s; ${rounds} rounds in turns, medians`)
table(
  [
    '',
    'CPU µs a delivered update, all processes',
    'the busiest process',
    'its busiest thread',
    'a core that has it to itself delivers a second',
    'times',
  ],
  contenders.map(({ name }, index) => {
    const of = costs[index] as Cost[]
    const thread = medianOf(of, 'thread')
    return [
      name,
      round(medianOf(of, 'all'), 1),
      round(medianOf(of, 'process'), 1),
      round(thread, 1),
      thousands(1e6 / thread),
      round(alone / thread),
    ]
  }),
)
process.exit()
