import { readFileSync } from 'node:fs'

/** Files reserved for the store, threads and outgoing calls, independent of the number of connections. */
export const filesBeside = 1_200

/**
 * Returns the maximum number of open files of the process, including connections. Node has already raised it
 * to the hard limit. Infinity: unlimited; null: unknown on this system.
 */
export function openFilesMax(): number | null {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limitsOfProcess())?.[1]
  if (soft === undefined) return null
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Returns the number of connections for which there are files; at least half of the files. */
export function openConnectionsMax(files = openFilesMax()): number {
  if (files === null) return Number.POSITIVE_INFINITY
  return Math.max(files - filesBeside, Math.floor(files / 2))
}

function limitsOfProcess(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ''
  }
}
