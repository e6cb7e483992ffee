import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second. */
const microsecondsPerTick = 10_000
const pageBytes = 4_096

/** Returns the fields of a process after its name: state, parent, and so on; null when it has ended. */
function statOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program, in parentheses, may contain spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** Returns a process and all its descendants. */
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

/** Returns the microseconds of CPU that a process has used: all threads, user and system. Linux only. */
export function cpuMicroseconds(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? Number.NaN : (Number(stat[11]) + Number(stat[12])) * microsecondsPerTick
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Returns the same for a process and all its descendants. */
export const cpuOfTree = (pid: number): number => sum(treeOf(pid).map(cpuMicroseconds))

/** Returns the bytes of resident memory of a process and all its descendants. */
export const residentBytes = (pid: number): number =>
  sum(treeOf(pid).map((each) => Number(statOf(each)?.[21] ?? 0) * pageBytes))
