/**
 * Ten users type recorded keystrokes into one document over stock y-websocket clients: alone, and then while ten
 * streams write into the same document. The connections of the streams are cut at random times, and the writers
 * continue. The two phases alternate, each pair in a new document. A user in a separate process only reads. Prints the
 * time from a keystroke to this user with and without streams, the characters that the users have lost, and the figures
 * of the streams.
 *
 *   node --import tsx bench/streams.ts [--smoke] [--seed=NUMBER] [--rounds=NUMBER] [--uncut] [--burst]
 *
 * With --burst, all streams of a phase start at the same time.
 */
import { cpus, loadavg } from 'node:os'
import { fsyncMs } from '../src/cli/bench/measure.ts'
import { recordedTyping } from './agents/keystrokes.ts'
import { Observer } from './streams/observing.ts'
import { type Phase, type Round, runRound } from './streams/round.ts'
import { median, percent, progress, quantile, round, sum, table, thousands } from './support/report.ts'
import { startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const option = (name: string, preset: number): number =>
  Number(process.argv.find((argument) => argument.startsWith(`--${name}=`))?.split('=')[1] ?? preset)
const seed = option('seed', 30)
const rounds = option('rounds', smoke ? 1 : 4)
/** Duration of a phase in seconds. */
const seconds = smoke ? 2 : 10
const users = 10
/** Keystrokes of a fast user, and the tokens of a fast language model. */
const pace = { keystrokesPerSecond: 8, piecesPerSecond: 40, unitsPerSecond: 160 } as const
/** Minimum number of keystrokes between two jumps of the recorded caret. */
const stretchLength = 20

const { source, stretches } = recordedTyping(stretchLength)
const server = await startWeft(temporaryDirectory(), unlimitedCalls)
const tokens = await Promise.all(Array.from({ length: users }, (_, index) => server.token(`user-${index}`)))
const observer = new Observer()
// Each stock client listens for the end of the process.
process.setMaxListeners(users + 20)
const isCut = !process.argv.includes('--uncut')
/** Programs do not open their streams at the same time. */
const startsWithinMs = process.argv.includes('--burst') ? 1 : 1_000
const run = (index: number): Promise<Round> =>
  runRound({
    server,
    tokens,
    observer,
    stretches,
    round: index,
    seed,
    seconds,
    isCut,
    startsWithinMs,
    ...pace,
  })

const bar = progress('rounds')
// The first round compiles the code of all processes, and does not count.
if (!smoke) await run(0)
const results: Round[] = []
while (results.length < rounds) {
  results.push(await run(results.length + 1))
  bar.at(results.length / rounds)
}
bar.end()

const ms = (values: readonly number[], share: number): string => round(quantile(values, share))
const phases: readonly (readonly [name: string, phases: readonly Phase[]])[] = [
  ['without streams', results.map(({ without }) => without)],
  [`with ${users} streams`, results.map((result) => result.with)],
]
const timesOf = (all: readonly Phase[]): readonly number[] => all.flatMap(({ keystrokes }) => keystrokes)
const [alone, together] = phases.map(([, all]) => timesOf(all)) as [readonly number[], readonly number[]]
const ratioOf = (share: number): string => round(quantile(together, share) / quantile(alone, share))
const ratiosByRound = results.map(
  (result) => quantile(result.with.keystrokes, 0.99) / quantile(result.without.keystrokes, 0.99),
)
console.log(
  `${users} users who type ${pace.keystrokesPerSecond} keystrokes/s each (${source}), ${rounds} rounds of 2 × ${seconds} s in turns, seed ${seed}; time until another user has a keystroke:`,
)
table(
  ['', 'received', 'p50 ms', 'p99 ms', 'p99 ms, median of rounds', 'server: CPU ms/s'],
  [
    ...phases.map(([name, all]) => [
      name,
      thousands(timesOf(all).length),
      ms(timesOf(all), 0.5),
      ms(timesOf(all), 0.99),
      round(median(all.map(({ keystrokes }) => quantile(keystrokes, 0.99)))),
      round(sum(all.map(({ cpu }) => cpu)) / 1000 / sum(all.map((phase) => phase.seconds)), 0),
    ]),
    ['ratio', '', ratioOf(0.5), ratioOf(0.99), round(median(ratiosByRound)), ''],
  ],
)
const streams = results.map((result) => result.streams)
const total = (pick: (result: Round) => number): number => sum(results.map(pick))
const [typed, lost] = [total((result) => result.typed), total((result) => result.lost)]
const [carets, moved] = [total((result) => result.carets), total((result) => result.moved)]
const pieces = streams.flatMap((each) => each.pieces)
const resumed = streams.flatMap((each) => each.resumed)
const [units, bytes, updates] = [
  sum(streams.map((each) => each.units)),
  sum(streams.map((each) => each.bytes)),
  sum(streams.map((each) => each.updates)),
]
const failed = results.filter(({ difference }) => difference !== null)
console.log(
  `\n${users * rounds} streams of ${pace.piecesPerSecond} pieces/s and ${pace.unitsPerSecond} characters/s each:`,
)
table(
  ['', ''],
  [
    ['typed characters lost', `${thousands(lost)} of ${thousands(typed)}`],
    ['carets kept', `${thousands(carets - moved)} of ${thousands(carets)} (${percent(1 - moved / carets)})`],
    ['documents equal to the requests, to the character', `${rounds - failed.length} of ${rounds}`],
    [
      'connections cut, taken over',
      `${sum(streams.map((each) => each.cuts))}, ${sum(streams.map((each) => each.takeovers))}`,
    ],
    ['from a cut to the next connection: p50, p99 ms', `${ms(resumed, 0.5)}, ${ms(resumed, 0.99)}`],
    ['from a piece to an open editor: p50, p99 ms', `${ms(pieces, 0.5)}, ${ms(pieces, 0.99)}`],
    ['pieces within 100 ms', percent(pieces.filter((time) => time <= 100).length / pieces.length)],
    ['characters, updates, bytes', `${thousands(units)}, ${thousands(updates)}, ${thousands(bytes)}`],
    ['bytes of a character', round(bytes / units)],
  ],
)
for (const { difference } of failed) console.log(`failed: ${difference}`)
console.log(
  `fsync on this machine: p50 ${round(fsyncMs().p50)} ms; load in the last minute: ${round(loadavg()[0] ?? 0)} on ${cpus().length} cores`,
)
await server.kill()
process.exit(0)
