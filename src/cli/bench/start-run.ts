import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../core/base/package-file.ts'
import { atEnd } from './ending.ts'
import type { Run } from './run.ts'
import type { Outcome } from './scenario.ts'

/** Maximum time of a run in ms, so that a run that hangs does not block the others. */
const runMs = 300_000

/**
 * Runs a scenario in a separate process, so that its CPU time is that of the load, and no run disturbs the
 * next one.
 * @throws Error that contains the reason if the run failed
 */
export async function startRun(run: Run): Promise<Outcome> {
  // The serialization `advanced` can transfer undefined; JSON cannot.
  const child = fork(fileURLToPath(builtFile('cli/bench/run.js')), {
    execArgv: [],
    serialization: 'advanced',
  })
  const ended = once(child, 'exit')
  // The process ends its server and removes its files before it ends.
  const forget = atEnd(() => {
    child.kill('SIGTERM')
    return ended
  })
  const late = setTimeout(() => child.kill('SIGTERM'), runMs)
  child.send(run)
  const result = await new Promise<Outcome | string>((resolve) => {
    child.once('message', (message) => resolve(message as Outcome | string))
    child.once('exit', (code) => resolve(`the run ended with ${code}, or took longer than ${runMs / 1000} s`))
  })
  clearTimeout(late)
  await ended
  forget()
  if (typeof result === 'string') throw new Error(result)
  return result
}
