import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtFile } from '../../core/base/package-file.ts'
import { atEnd } from './ending.ts'
import { killTree, removeDirectory } from './processes.ts'
import type { Run } from './run.ts'
import type { Outcome } from './scenario.ts'

/** Maximum time of a run in ms, so that a run that hangs does not block the others. */
const runMs = 300_000
/** Time in ms in which a run must end after a signal. It is shorter than the time for the functions of `atEnd`. */
const endMs = 3_000

/**
 * Runs a scenario in a separate process, so that its CPU time is that of the load, and no run disturbs the
 * next one.
 * @throws Error that contains the reason if the run failed
 */
export async function startRun(run: Run): Promise<Outcome> {
  // The run puts all its files there, because it cannot remove them if it is killed.
  const directory = join(tmpdir(), `weft-bench-${randomUUID()}`)
  // The serialization `advanced` can transfer undefined; JSON cannot.
  const child = fork(fileURLToPath(builtFile('cli/bench/run.js')), {
    execArgv: [],
    serialization: 'advanced',
    env: { ...process.env, TMPDIR: directory },
  })
  const ended = once(child, 'exit').then(() => removeDirectory(directory))
  // The process ends its server before it ends. If its event loop is blocked, it cannot.
  const end = (): Promise<void> => {
    child.kill('SIGTERM')
    const killing = setTimeout(() => killTree(child.pid ?? 0), endMs)
    return ended.finally(() => clearTimeout(killing))
  }
  let isEnding = false
  const forget = atEnd(() => {
    isEnding = true
    return end()
  })
  const late = setTimeout(() => void end(), runMs)
  mkdirSync(directory, { mode: 0o700 })
  child.send(run)
  const result = await new Promise<Outcome | string>((resolve) => {
    child.once('message', (message) => resolve(message as Outcome | string))
    child.once('exit', (code) => resolve(`the run ended with ${code}, or took longer than ${runMs / 1000} s`))
  })
  clearTimeout(late)
  await ended
  // When this process ends, no other run may start.
  if (isEnding) return new Promise(() => {})
  forget()
  if (typeof result === 'string') throw new Error(result)
  return result
}
