import { setTimeout as pause } from 'node:timers/promises'
import type { LeaseStore } from '../store/engine.ts'

/** Interval in ms at which a waiting process tries to acquire the lease. */
const lookMs = 50

/**
 * Runs `work` while no other process runs work under the same `name`. Use it only for short work.
 * @throws the errors of `work`
 */
export async function withClusterLock<T>(
  leases: LeaseStore,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    const lease = await leases.acquire(name)
    if (lease === null) {
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
