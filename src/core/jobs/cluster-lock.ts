import { setTimeout as pause } from 'node:timers/promises'
import type { LeaseStore } from '../store/engine.ts'

/** Interval in ms at which a waiting process tries to acquire the lease. */
const lookMs = 50

/** Thrown if the lock was not free in time. */
export class LockTimeoutError extends Error {}

/**
 * Runs `work` while no other process runs work under the same `name`. Use it only for short work.
 * @param waitMsMax maximum time in ms to wait for the lock; default: unlimited
 * @throws LockTimeoutError; the errors of `work`
 */
export async function withClusterLock<T>(
  leases: LeaseStore,
  name: string,
  work: () => Promise<T>,
  waitMsMax: number = Number.POSITIVE_INFINITY,
): Promise<T> {
  const since = performance.now()
  for (;;) {
    const lease = await leases.acquire(name)
    if (lease === null) {
      if (performance.now() - since >= waitMsMax) throw new LockTimeoutError(`the lock ${name} is not free`)
      await pause(lookMs)
      continue
    }
    try {
      return await work()
    } finally {
      await lease.release()
    }
  }
}
