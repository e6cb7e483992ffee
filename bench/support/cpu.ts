import { readdirSync, readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second. */
const microsecondsPerTick = 10_000
const pageBytes = 4_096

/** Of a process, after its name: state, parent, ...; null when it has ended. */
function statOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name of the program, in parentheses, may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/** A process and all that it has started. */
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

/** Microseconds of CPU that a process has used, all threads, user and system; where the kernel tells (Linux). */
export function cpuMicroseconds(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? Number.NaN : (Number(stat[11]) + Number(stat[12])) * microsecondsPerTick
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** The same of a process and of all that it has started. */
export const cpuOfTree = (pid: number): number => sum(treeOf(pid).map(cpuMicroseconds))

/** Bytes of memory that a process and all that it has started have resident. */
export const residentBytes = (pid: number): number =>
  sum(treeOf(pid).map((each) => Number(statOf(each)?.[21] ?? 0) * pageBytes))
