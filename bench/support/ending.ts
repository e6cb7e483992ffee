import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** Functions to call at the end, in the order of their registration. */
const undoings = new Set<() => void>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `fn` when this process ends: normally, by an error, by a signal, or because its output is closed. */
export function atEnd(fn: () => void): void {
  watch()
  undoings.add(fn)
}

/** Ends the child with this process. */
export function endWithThis(child: ChildProcess): void {
  const end = (): void => void child.kill('SIGKILL')
  atEnd(end)
  child.once('exit', () => undoings.delete(end))
}

/** Signals end a process without `exit`, and the console ignores a closed output. */
function watch(): void {
  if (process.listeners('exit').includes(undoAll)) return
  process.on('exit', undoAll)
  for (const signal of signals) process.on(signal, endBySignal)
  process.stdout.on('error', () => process.exit(1))
}

const endBySignal = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal])

/** The last one runs first: a server ends before its directory is deleted. */
function undoAll(): void {
  for (const fn of [...undoings].reverse()) fn()
}
