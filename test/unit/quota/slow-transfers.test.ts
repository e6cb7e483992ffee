import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SlowTransfers } from '../../../src/core/quota/slow-transfers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Runs a transfer for 100 s. Returns the second in which it was ended, or null. */
function endOf(bytesPerSecond: number, isPaused = false): number | null {
  const transfers = new SlowTransfers(10_000)
  const begin = Date.now()
  let endedAt: number | null = null
  const transfer = {
    get transferredBytes() {
      return Math.floor((Date.now() - begin) / 1000) * bytesPerSecond
    },
    isPaused,
    tooSlow: () => {
      endedAt ??= Math.round((Date.now() - begin) / 1000)
      transfers.delete(transfer)
    },
  }
  transfers.add(transfer)
  vi.advanceTimersByTime(100_000)
  transfers.delete(transfer)
  vi.advanceTimersByTime(1_000)
  return endedAt
}

it('[LIM-21] [LIM-27] ends a transfer that makes no progress or is too slow', () => {
  expect(endOf(0)).toBe(11)
  expect(endOf(1)).toBe(11)
})

it('[LIM-21] [LIM-27] continues a transfer that has 16 KiB a second, or that the server pauses', () => {
  expect(endOf(16_384)).toBeNull()
  expect(endOf(0, true)).toBeNull()
})
