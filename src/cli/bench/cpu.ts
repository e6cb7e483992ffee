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

/** Returns the ids of a process and of all its descendants. Works on Linux only. */
export function treeOf(pid: number): readonly number[] {
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
 * Returns the CPU time of a process and of all its descendants, in microseconds; NaN without a process. This includes descendants
 * that have ended, such as a process of PostgreSQL whose connection was closed.
 */
export const cpuOfTree = (pid: number | null): number =>
  pid === null ? Number.NaN : sum(treeOf(pid).map((each) => cpuMicroseconds(each) + endedMicroseconds(each)))

/** Returns the CPU time of the children of a process that have ended, in microseconds. */
function endedMicroseconds(pid: number): number {
  const stat = statOf(pid)
  return stat === null ? 0 : (Number(stat[13]) + Number(stat[14])) * microsecondsPerTick
}

/** Returns the resident memory of a process and of all its descendants, in bytes. */
export const residentBytes = (pid: number | null): number =>
  pid === null ? Number.NaN : sum(treeOf(pid).map((each) => Number(statOf(each)?.[21] ?? 0) * pageBytes))

/** Returns the CPU time of the whole machine in microseconds; NaN on other systems than Linux. */
function machineMicroseconds(): number {
  try {
    const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'latin1')
      .split(/\s+/)
      .map(Number)
    return sum([user, nice, system, irq, softirq, steal].map((ticks) => ticks ?? 0)) * microsecondsPerTick
  } catch {
    return Number.NaN
  }
}

/** CPU time during a part of a run. A value is undefined if this system or a server elsewhere does not show it. */
export interface Usage {
  readonly seconds: number
  /** CPU time of the server. */
  readonly microseconds: number | undefined
  /** Share of a core that the load generator has used. */
  readonly generator: number
  /** Cores that other processes have used. They include a server that the load generator has not started. */
  readonly foreignCores: number | undefined
}

const known = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)

/** Measures the CPU time during `work`. */
export async function during(
  { pid }: { readonly pid: number | null },
  work: () => Promise<unknown>,
): Promise<Usage> {
  const read = () => ({
    server: cpuOfTree(pid),
    machine: machineMicroseconds(),
    own: process.cpuUsage(),
    at: performance.now(),
  })
  const before = read()
  await work()
  const after = read()
  const own = process.cpuUsage(before.own)
  const ownMicroseconds = own.user + own.system
  const microseconds = known(after.server - before.server)
  const wall = (after.at - before.at) * 1000
  const foreign = after.machine - before.machine - ownMicroseconds - (microseconds ?? 0)
  return {
    seconds: wall / 1e6,
    microseconds,
    generator: ownMicroseconds / wall,
    foreignCores: known(Math.max(0, foreign / wall)),
  }
}

/** Returns the memory of a server in bytes; undefined if its process is unknown. */
export const serverMemory = ({ pid }: { readonly pid: number | null }): number | undefined =>
  known(residentBytes(pid)) || undefined
