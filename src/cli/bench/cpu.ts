import { readdirSync, readFileSync } from 'node:fs'
import { sum } from './measure.ts'

/** Microseconds in the unit in which the kernel counts CPU time: a hundredth of a second. */
const microsecondsPerTick = 10_000
const pageBytes = 4_096

/**
 * Returns the fields of a process that follow its name in `/proc`: its state, its parent, and so on. Returns
 * null if the process has ended.
 */
function statOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The fields are counted from the last parenthesis, because the name in parentheses may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** Returns the ids of a process and of all its descendants. */
function treeOf(pid: number): readonly number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null
    if (stat !== null) parents.set(Number(name), Number(stat[1]))
  }
  const tree = [pid]
  for (const parent of tree)
    tree.push(...[...parents].filter(([, of]) => of === parent).map(([child]) => child))
  return tree
}

/**
 * Returns the CPU time of all threads of a process in microseconds, user and system time together. Works on
 * Linux only.
 */
export function cpuMicroseconds(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? Number.NaN : (Number(stat[11]) + Number(stat[12])) * microsecondsPerTick
}

/**
 * Returns the CPU time of a process and of all its descendants, in microseconds. This includes descendants
 * that have ended, such as a process of PostgreSQL whose connection was closed.
 */
export const cpuOfTree = (pid: number): number =>
  sum(treeOf(pid).map((each) => cpuMicroseconds(each) + endedMicroseconds(each)))

/** Returns the CPU time of the children of a process that have ended, in microseconds. */
function endedMicroseconds(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? 0 : (Number(stat[13]) + Number(stat[14])) * microsecondsPerTick
}

/** Returns the resident memory of a process and of all its descendants, in bytes. */
export const residentBytes = (pid: number): number =>
  sum(treeOf(pid).map((each) => Number(statOf(each)?.[21] ?? 0) * pageBytes))
