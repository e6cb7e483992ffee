import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'

/** What is to be undone, in the order in which it was done. */
const undoings = new Set<() => void>()
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Calls `fn` when this process ends: as it should, by an error, by a signal, or because nobody reads its output. */
export function atEnd(fn: () => void): void {
  watch()
  undoings.add(fn)
}

/** No process outlives this one. */
export function endWithThis(child: ChildProcess): void {
  const end = (): void => void child.kill('SIGKILL')
  atEnd(end)
  child.once('exit', () => undoings.delete(end))
}

/** Signals end a process without `exit`, and the console is silent about a reader who has gone. */
function watch(): void {
  if (process.listeners('exit').includes(undoAll)) return
  process.on('exit', undoAll)
  for (const signal of signals) process.on(signal, endBySignal)
  process.stdout.on('error', () => process.exit(1))
}

const endBySignal = (signal: NodeJS.Signals): never => process.exit(128 + constants.signals[signal])

/** The last first: a server goes before its directory. */
function undoAll(): void {
  for (const fn of [...undoings].reverse()) fn()
}
