import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** Functions to call when this process ends. */
const undoings = new Set<() => unknown>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Time in ms in which the functions must end after a signal. */
const patienceMs = 5_000

/**
 * Registers a function that is called when this process ends: normally, by an error, by a signal, or because
 * its output is closed. After a signal, this process waits for a promise that the function returns. Returns a
 * function that removes the registration.
 */
export function atEnd(fn: () => unknown): () => void {
  watch()
  undoings.add(fn)
  return () => void undoings.delete(fn)
}

/** Kills the child process when this process ends. */
export function endWithThis(child: ChildProcess): void {
  child.once(
    'exit',
    atEnd(() => child.kill('SIGKILL')),
  )
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

/** Settles when the functions have ended; null before the first signal. */
let ending: Promise<unknown> | null = null

/** A second signal changes nothing. */
function endBySignal(signal: NodeJS.Signals): void {
  const leave = (): void => process.exit(128 + constants.signals[signal])
  // Not left to the event `exit`, because a runner of tests may forbid `process.exit`.
  ending ??= Promise.allSettled(undoAll())
  void ending.then(leave)
  setTimeout(leave, patienceMs).unref()
}

/**
 * Calls the registered functions, the last one first, so that a server ends before its directory is deleted.
 */
function undoAll(): readonly unknown[] {
  const fns = [...undoings].reverse()
  undoings.clear()
  return fns.map((fn) => fn())
}
