import { setTimeout as pause } from 'node:timers/promises'
import type { LeaseStore } from '../engine/engine.ts'

/** How often a process looks whether it can have the lease, in ms. */
const lookMs = 50

/** Does something short while no other process does it. @throws what `work` throws */
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
