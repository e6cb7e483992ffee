import { expect, it } from 'vitest'
import { createLog } from '../../../src/core/base/log.ts'
import { type HeldLease, JobConsumer } from '../../../src/core/jobs/job-consumer.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { eventually } from '../../support/clients/clients.ts'
import { HeldClock } from '../../support/time/clock.ts'

/** A job that runs until `finish`. Leases cannot be extended while `isAway`. */
async function carrying() {
  const clock = new HeldClock()
  const { kv, queue } = await openMemoryEngine({ clock })
  const store = { isAway: false, extensions: 0 }
  let finish = (): void => {}
  let hold: HeldLease | null = null
  const pull = new JobConsumer({
    queue: {
      claim: (...call) => queue.claim(...call),
      done: (...call) => queue.done(...call),
      retry: (...call) => queue.retry(...call),
      moveToDeadLetters: (...call) => queue.moveToDeadLetters(...call),
      extend: async (...call) => {
        store.extensions += 1
        if (store.isAway) throw new Error('the store is away')
        return queue.extend(...call)
      },
    },
    name: 'jobs',
    clock,
    log: createLog('silent'),
    atOnce: 1,
    carryOut: (_job, given) => {
      hold = given
      return new Promise((resolve) => {
        finish = () => resolve('done')
      })
    },
  })
  await kv.commit(['test'], { jobs: [{ queue: 'jobs', id: 'a', at: 0, payload: new Uint8Array() }] })
  pull.start()
  await eventually(() => hold !== null)
  /** Advances the clock, and waits for one attempt to extend the lease. */
  const pass = async (): Promise<void> => {
    const before = store.extensions
    clock.advance(3_400)
    await eventually(() => store.extensions > before)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const end = async (): Promise<void> => {
    finish()
    await pull.stop()
  }
  return { clock, queue, store, pass, end, isHeld: () => hold?.isHeld }
}

it('[HOOK-248] extends a lease even after one extension has failed', async () => {
  const { queue, store, pass, end, isHeld } = await carrying()
  await pass()
  store.isAway = true
  await pass()
  store.isAway = false
  for (let times = 0; times < 4; times++) {
    await pass()
    expect(isHeld()).toBe(true)
    expect(await queue.claim('jobs', 1, 1_000)).toEqual([])
  }
  await end()
})

it('[HOOK-248] when a lease could not be extended, does not treat it as held after its end', async () => {
  const { clock, queue, store, pass, end, isHeld } = await carrying()
  store.isAway = true
  await pass()
  await pass()
  expect(isHeld()).toBe(true)
  clock.advance(3_400)
  expect(await queue.claim('jobs', 1, 1_000)).toHaveLength(1)
  expect(isHeld()).toBe(false)
  await end()
})

/** Runs jobs whose ids start with the name of their group. */
async function grouping(ids: readonly string[], carryOutAll: (ids: readonly string[]) => Promise<void>) {
  const clock = new HeldClock()
  const { kv, queue } = await openMemoryEngine({ clock })
  const ran: string[] = []
  const consumer = new JobConsumer({
    queue,
    name: 'jobs',
    clock,
    log: createLog('silent'),
    atOnce: 10,
    carryOut: async ({ id, attempt }) => {
      ran.push(`${id}, attempt ${attempt}`)
      return 'done'
    },
    groups: {
      nameOf: ({ id }) => {
        if (id.startsWith('?')) throw new Error('the job has no group')
        return id.slice(0, 1)
      },
      carryOut: async (jobs) => {
        const group = jobs.map(({ id }) => id).sort()
        await carryOutAll(group)
        ran.push(group.join('+'))
      },
    },
  })
  const jobs = ids.map((id) => ({ queue: 'jobs', id, at: 0, payload: new Uint8Array() }))
  await kv.commit(['test'], { jobs })
  consumer.start()
  await consumer.drain()
  await consumer.stop()
  clock.advance(3_600_000)
  expect(await queue.claim('jobs', 10, 1_000)).toEqual([])
  return ran.sort()
}

it('[ACT-30] runs the jobs of a group together, and jobs without a group separately', async () => {
  const ran = await grouping(['a1', 'a2', 'b1', '?1', '?2'], async () => undefined)
  expect(ran).toEqual(['?1, attempt 1', '?2, attempt 1', 'a1+a2', 'b1, attempt 1'])
})

it('[ACT-30] runs the jobs of a group separately, as in their next attempt, if they fail together', async () => {
  const ran = await grouping(['a1', 'a2', 'b1', 'b2'], async ([first]) => {
    if (first === 'a1') throw new Error('one of them is malformed')
  })
  expect(ran).toEqual(['a1, attempt 2', 'a2, attempt 2', 'b1+b2'])
})
