/**
 * Carries out 30 tasks of an agent in real documents, each in several ways: by small edits, by replacing the whole
 * Markdown, and by replacing the whole XML. Three users type recorded keystrokes over websockets while the agent
 * works, and while its change is on the way to them. Prints a table with one row for each way, and the failures.
 * The tables are the same in each run with the same seed, except for the bytes: the server chooses its client ids
 * at random, so that they differ by a few bytes.
 *
 *   node --import tsx bench/agents.ts [--smoke] [--seed=NUMBER]
 */

import { recordedTyping } from './agents/keystrokes.ts'
import { keystrokesMade, type Outcome, runTask } from './agents/run-task.ts'
import { structureTasks } from './agents/structure-tasks.ts'
import { textTasks } from './agents/text-tasks.ts'
import { ways } from './agents/ways.ts'
import { mean, median, percent, progress, sum, table, thousands } from './support/report.ts'
import { startWeft, temporaryDirectory, unlimitedCalls } from './support/server.ts'

const smoke = process.argv.includes('--smoke')
const seed = Number(
  process.argv.find((argument) => argument.startsWith('--seed='))?.slice('--seed='.length) ?? 30,
)
const tasks = [...textTasks, ...structureTasks].filter((_task, index) => !smoke || index % 10 === 0)
const users = 4

const { source, stretches } = recordedTyping(
  keystrokesMade.before + keystrokesMade.during + keystrokesMade.after,
)
const server = await startWeft(temporaryDirectory(), unlimitedCalls)
const tokens = await Promise.all(Array.from({ length: users }, (_, index) => server.token(`user-${index}`)))

const bar = progress('tasks')
const outcomes: Outcome[] = []
for (const [index, task] of tasks.entries()) {
  outcomes.push(...(await runTask({ server, tokens, stretches, seed: seed + index }, task, ways)))
  bar.at(index / tasks.length)
}
bar.end()

const byWay = ways.map((way) => ({ way, results: outcomes.filter((outcome) => outcome.way === way) }))
const reference = byWay.find(({ way }) => way.write === 'xml')?.results ?? []
const sentByXml = sum(reference.map(({ sent }) => sent))
const bothByXml = sentByXml + sum(reference.map(({ read }) => read))
console.log(
  `${tasks.length} tasks, 3 users who type (${source}), seed ${seed}; characters and bytes for each task:`,
)
table(
  [
    '',
    'tasks done',
    'sent: mean',
    'sent: p50',
    'sent: of whole XML',
    'read: mean',
    'both: of whole XML',
    'bytes: mean',
    'retries',
    'typed characters lost',
    'carets moved',
  ],
  byWay.map(({ way, results }) => {
    const [sent, read] = [results.map((result) => result.sent), results.map((result) => result.read)]
    const [typed, lost] = [
      sum(results.map((result) => result.typed)),
      sum(results.map((result) => result.lost)),
    ]
    const [carets, moved] = [
      sum(results.map((result) => result.carets)),
      sum(results.map((result) => result.moved)),
    ]
    return [
      way.name,
      `${results.filter(({ problem }) => problem === null).length} of ${results.length}`,
      thousands(mean(sent)),
      thousands(median(sent)),
      percent(sum(sent) / sentByXml, 1),
      thousands(mean(read)),
      percent((sum(sent) + sum(read)) / bothByXml, 1),
      thousands(mean(results.map(({ bytes }) => bytes))),
      String(sum(results.map(({ retries }) => retries))),
      `${thousands(lost)} of ${thousands(typed)} (${percent(lost / typed, 1)})`,
      `${thousands(moved)} of ${thousands(carets)} (${percent(moved / carets, 1)})`,
    ]
  }),
)
const failures = outcomes.filter(({ problem }) => problem !== null)
for (const { task, way, problem } of failures) console.log(`failed: ${task.name}, ${way.name}: ${problem}`)
await server.kill()
process.exit(0)
