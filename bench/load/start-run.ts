import { fork } from 'node:child_process'
import { join } from 'node:path'
import type { Contender } from '../../src/cli/bench/contender.ts'
import { endWithThis } from '../../src/cli/bench/ending.ts'
import type { Scale, Scenario } from '../../src/cli/bench/scenario.ts'

/** Maximum time of a run in ms, so that a run that hangs does not block the others. */
const runMs = 180_000

/**
 * Runs a scenario in a separate process.
 * @throws Error that contains the reason if the run failed
 */
export async function startRun(
  scenario: Scenario,
  contender: Contender,
  scale: Scale,
): Promise<Readonly<Record<string, number>>> {
  const args = [scenario.name, contender.name, JSON.stringify(scale)]
  // The serialization `advanced` can transfer NaN; JSON cannot.
  const child = fork(join(import.meta.dirname, 'run.ts'), args, {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  })
  endWithThis(child)
  const late = setTimeout(() => child.kill('SIGTERM'), runMs)
  const told = await new Promise<unknown>((resolve) => {
    child.once('message', resolve)
    child.once('exit', () => resolve(`it took longer than ${runMs / 1000} s, or failed`))
  })
  clearTimeout(late)
  if (typeof told === 'string') throw new Error(told)
  return told as Readonly<Record<string, number>>
}
