import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Memory of a process in bytes, as the Linux kernel counts it. */
export interface ProcessMemory {
  residentBytes(): number
  /** Peak since `forgetPeak`; NaN after the end of the process. */
  peakBytes(): number
  forgetPeak(): void
}

export function memoryOf({ pid }: Pick<ChildProcess, 'pid'>): ProcessMemory {
  return {
    residentBytes: () => statusBytes(pid, 'VmRSS'),
    peakBytes: () => statusBytes(pid, 'VmHWM'),
    forgetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
  }
}

function statusBytes(pid: number | undefined, name: string): number {
  const file = `/proc/${pid}/status`
  const status = existsSync(file) ? readFileSync(file, 'latin1') : ''
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
}
