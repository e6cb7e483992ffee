import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

/** Bytes of memory that a process has, as the kernel counts them (Linux). */
export interface ProcessMemory {
  residentBytes(): number
  /** Most bytes that it has had since `forgetPeak`; NaN after its end. */
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
