import { setTimeout as pause } from 'node:timers/promises'
import type { Engine, Job, Key } from '../engine/engine.ts'

/** How long a node has its turn before another one takes it for dead, in ms. */
const leaseMs = 10_000
/** How often a node looks whether it is its turn, in ms. */
const lookMs = 50

/** Where the jobs that stand for turns are enqueued. */
const turnsPart: Key = ['turns']

/** The job of what one node does at a time; `queue` has this one only, which is never done. */
export const createClusterLock = (kv: Engine['kv'], queue: string): Promise<boolean> =>
  kv.commit(turnsPart, { jobs: [{ queue, id: queue, at: 0, payload: new Uint8Array() }] })

/** Is it such a job? It says nothing but that there are turns. */
export const isLockJob = ({ queue, id, payload }: Pick<Job, 'queue' | 'id' | 'payload'>): boolean =>
  queue === id && payload.length === 0

/** Does something short while no other node does it. @throws what `work` throws */
export async function withClusterLock<T>(
  { kv, queue }: Pick<Engine, 'kv' | 'queue'>,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  await createClusterLock(kv, name)
  for (;;) {
    const [turn] = await queue.claim(name, 1, leaseMs)
    if (turn === undefined) {
      await pause(lookMs)
      continue
    }
    try {
      return await work()
    } finally {
      await queue.retry(turn.token, 0, '').catch(() => false)
    }
  }
}
