import { readFileSync } from 'node:fs'

const status = (pid: number | undefined, name: string): number => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = new RegExp(`${name}:\\s+(\\d+) kB`).exec(text)?.[1]
  if (kilobytes === undefined) throw new Error(`no ${name} of process ${pid}`)
  return Number(kilobytes) * 1024
}

/** Returns the peak resident memory of a process in bytes. */
export const peakBytes = (pid: number | undefined): number => status(pid, 'VmHWM')

/** Returns the current resident memory of a process in bytes. */
export const residentBytes = (pid: number | undefined): number => status(pid, 'VmRSS')
