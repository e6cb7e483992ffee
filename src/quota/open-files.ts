import { readFileSync } from 'node:fs'

/** Files that are kept for the store, threads and calls to others, however many connect. */
export const filesBeside = 1_200

/**
 * How many files the process may have open, connections included: Node has raised it as far as it may. Infinity: as many
 * as it likes; null: not known on this system.
 */
export function openFilesMax(): number | null {
  const soft = /^Max open files\s+(\d+|unlimited)/m.exec(limitsOfProcess())?.[1]
  if (soft === undefined) return null
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Connections for which there are files; half of the files where there are few. */
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
