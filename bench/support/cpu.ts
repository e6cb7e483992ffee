import { readFileSync } from 'node:fs'

/** The kernel counts in hundredths of a second. */
const microsecondsPerTick = 10_000

/** Microseconds of CPU that a process has used, all threads, user and system; where the kernel tells (Linux). */
export function cpuMicroseconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  // The name of the program, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick
}
