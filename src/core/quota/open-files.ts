import { readFileSync } from 'node:fs'
import { attempt } from '../base/errors.ts'

/**
 * Number of files that are reserved for the store, threads and outgoing calls. These need files independent
 * of the number of connections.
 */
export const filesBeside = 1_200

/**
 * Returns the maximum number of files and connections that the process may have open. Node has already raised
 * this limit to the hard limit. Returns Infinity if there is no limit, and null if the system does not show
 * it.
 */
export function openFilesMax(): number | null {
  const limits = attempt(() => readFileSync('/proc/self/limits', 'utf8'), '')
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1]
  if (soft === undefined) return null
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/**
 * Returns the maximum number of connections of the process: all files except the reserved ones, but at least
 * half of the files.
 */
export function openConnectionsMax(files = openFilesMax()): number {
  if (files === null) return Number.POSITIVE_INFINITY
  return Math.max(files - filesBeside, Math.floor(files / 2))
}
