import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Calls `work` with a new directory in TMPDIR that only its owner can read. Removes the directory when `work` has ended.
 * A signal to this process aborts `stop`, and the process exits when `work` has ended: only then no thread of a store
 * creates files in the directory. After a second signal, the process exits immediately.
 */
export async function withTemporaryDirectory<T>(
  work: (directory: string, stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  let exitCode: number | null = null
  const onSignal = (signal: (typeof signals)[number]): void => {
    // The code that shells use for a process that a signal has ended.
    const code = 128 + constants.signals[signal]
    if (exitCode !== null) process.exit(code)
    exitCode = code
    stop.abort()
  }
  for (const signal of signals) process.on(signal, onSignal)
  const directory = mkdtempSync(join(tmpdir(), 'weft-restore-'))
  try {
    return await work(directory, stop.signal)
  } finally {
    rmSync(directory, { recursive: true, force: true })
    for (const signal of signals) process.off(signal, onSignal)
    if (exitCode !== null) process.exit(exitCode)
  }
}
