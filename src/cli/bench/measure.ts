import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns a quantile of the values; NaN if there are no values. @param share which quantile, such as 0.99 */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export const round = (value: number, digits = 2): string => value.toFixed(digits)
export const thousands = (value: number): string => Math.round(value).toLocaleString('en-US')

/**
 * Measures how long one `fdatasync` takes after a write of 100 bytes, in ms. A durable write on this machine
 * cannot be faster.
 */
export function fsyncMs(): { p50: number; p99: number } {
  const directory = mkdtempSync(join(tmpdir(), 'weft-fsync-'))
  const file = openSync(join(directory, 'file'), 'w')
  const times = Array.from({ length: 300 }, () => {
    writeSync(file, Buffer.alloc(100))
    const start = performance.now()
    fdatasyncSync(file)
    return performance.now() - start
  })
  closeSync(file)
  rmSync(directory, { recursive: true })
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
