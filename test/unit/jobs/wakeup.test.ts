import { afterAll, expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import * as s from '../../../src/core/base/schema.ts'
import { JobConsumer } from '../../../src/core/jobs/job-consumer.ts'
import { TaskWorker } from '../../../src/core/jobs/task-worker.ts'
import type { ClaimedJob, Queue } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

/** Number of microtask ticks after a claim at which a wakeup may arrive. A claim takes fewer. */
const turns = 12

/** An empty queue that gets a job some ticks after the first claim. */
function lateQueue(): { queue: Queue; claims: () => number; claimed: Promise<void> } {
  let [claims, told] = [0, () => {}]
  const claimed = new Promise<void>((resolve) => {
    told = resolve
  })
  const claim = async (): Promise<readonly ClaimedJob[]> => {
    claims += 1
    told()
    return []
  }
  const never = async () => true
  const queue = { claim, extend: never, done: never, retry: never, moveToDeadLetters: never }
  return { queue, claims: () => claims, claimed }
}

const engine = await openMemoryEngine()
afterAll(() => engine.close())

const common = () => ({ clock: new HeldClock(), log: createLog('silent') })

it.each(Array.from({ length: turns }, (_, turn) => turn))(
  'when a wakeup arrives %i ticks after a claim, starts the job without waiting for the next poll',
  async (turn) => {
    for (const make of [
      (queue: Queue) =>
        new JobConsumer({ ...common(), queue, name: 'q', atOnce: 1, carryOut: async () => 'done' }),
      (queue: Queue) =>
        new TaskWorker({
          ...common(),
          engine: { ...engine, queue },
          queueName: 'q',
          schema: s.unknown,
          partOf: () => ['q'],
          carryOut: async () => {},
        }),
    ]) {
      const { queue, claims, claimed } = lateQueue()
      const loop = make(queue)
      loop.wake()
      await claimed
      for (let passed = 0; passed < turn; passed++) await Promise.resolve()
      loop.wake()
      await new Promise((resolve) => setImmediate(resolve))
      expect(claims()).toBe(2)
    }
  },
)
