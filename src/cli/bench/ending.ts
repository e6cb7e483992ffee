import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** Functions to call when this process ends, in the order of their registration. */
const undoings = new Set<() => void>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Registers a function that is called when this process ends: normally, by an error, by a signal, or because
 * its output is closed.
 */
export function atEnd(fn: () => void): void {
  watch()
  undoings.add(fn)
}

/** Kills the child process when this process ends. */
export function endWithThis(child: ChildProcess): void {
  const end = (): void => void child.kill('SIGKILL')
  atEnd(end)
  child.once('exit', () => undoings.delete(end))
}

/**
 * Installs the handlers that call the registered functions. A signal ends a process without the event `exit`.
 * If the output is closed, the console ignores the error, so the process must exit.
 */
function watch(): void {
  if (process.listeners('exit').includes(undoAll)) return
  process.on('exit', undoAll)
  for (const signal of signals) process.on(signal, endBySignal)
  process.stdout.on('error', () => process.exit(1))
}

function endBySignal(signal: NodeJS.Signals): void {
  // Not left to the event `exit`, because a runner of tests may forbid `process.exit`.
  undoAll()
  process.exit(128 + constants.signals[signal])
}

/**
 * Calls the registered functions, the last one first, so that a server ends before its directory is deleted.
 */
function undoAll(): void {
  for (const fn of [...undoings].reverse()) fn()
  undoings.clear()
}
