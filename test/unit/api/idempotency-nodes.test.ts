import { expect, it } from 'vitest'
import type { Caller } from '../../../src/access/credentials.ts'
import type { CallIds } from '../../../src/api/call-ids.ts'
import { callOf } from '../../../src/api/idempotency/call.ts'
import { IdempotentCalls } from '../../../src/api/idempotency/calls.ts'
import { idempotencyLimits } from '../../../src/api/idempotency/limits.ts'
import { sweepQueue } from '../../../src/api/idempotency/records.ts'
import type { Effect } from '../../../src/api/operation.ts'
import { openMemoryEngine } from '../../../src/engine/memory/engine.ts'
import { createLog } from '../../../src/log.ts'
import { createMetrics } from '../../../src/metrics.ts'
import { eventually } from '../../support/clients.ts'
import { HeldClock } from '../../support/clock.ts'
import { tenant } from '../../support/directory.ts'
import { sharedNodes } from '../../support/nodes.ts'

const caller: Caller = { level: 'key', tenant, authToken: 'token' }
const hourMs = 3_600_000

async function nodes(limits = {}) {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const [one, two] = (await sharedNodes(2, { clock, store })).map(
    ({ engine }) =>
      new IdempotentCalls({
        ...engine,
        clock,
        log: createLog('silent'),
        metrics: createMetrics(),
        secrets: ['a secret'],
        keepMs: hourMs,
        limits: { ...idempotencyLimits, ...limits },
      }),
  ) as [IdempotentCalls, IdempotentCalls]
  return { clock, store, one, two }
}

const callWith = (effect: Effect, key = 'key') => callOf(caller, { path: '/v2/test/do', effect }, key, '{}')

/** Something that is done when it is let go, and counts how often. */
function held() {
  const seeds: string[] = []
  let release = (): void => {}
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const work = async (ids: CallIds): Promise<string> => {
    seeds.push(ids.make())
    await gate
    return '"done"'
  }
  return { seeds, work, release: () => release() }
}

/** Time goes by until it has ended. */
async function ended<T>(clock: HeldClock, promise: Promise<T>): Promise<T> {
  const state = { goesOn: true }
  const result = promise.finally(() => {
    state.goesOn = false
  })
  result.catch(() => {})
  while (state.goesOn) {
    clock.advance(100)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return result
}

it.each(['once', 'adds'] as const)(
  '[CS-30] a call that is made at two nodes is carried out %s: by one',
  async (effect) => {
    const { clock, one, two } = await nodes()
    const { seeds, work, release } = held()
    const first = one.run(callWith(effect), work)
    await eventually(() => seeds.length === 1)
    const second = two.run(callWith(effect), work)
    clock.advance(5_000)
    release()
    expect(await first).toMatchObject({ text: '"done"', replayed: false })
    expect(await ended(clock, second)).toMatchObject({ text: '"done"', replayed: true })
    expect(seeds).toHaveLength(1)
  },
)

it('[CS-30] also where both begin at once', async () => {
  const { clock, one, two } = await nodes()
  const { seeds, work, release } = held()
  release()
  for (let round = 0; round < 50; round++) {
    const call = callWith('once', `key ${round}`)
    const given = await ended(clock, Promise.all([one.run(call, work), two.run(call, work)]))
    expect(given.filter(({ replayed }) => replayed)).toHaveLength(1)
  }
  expect(seeds).toHaveLength(50)
})

it('[CS-31] however long it takes at one node, another one says that it is under way', async () => {
  const { clock, one, two } = await nodes()
  const { seeds, work, release } = held()
  const first = one.run(callWith('adds'), work)
  await eventually(() => seeds.length === 1)
  for (let minutes = 0; minutes < 3; minutes++)
    await expect(ended(clock, two.run(callWith('adds'), work))).rejects.toThrow('still under way')
  release()
  expect(await first).toMatchObject({ replayed: false })
  expect(seeds).toHaveLength(1)
})

it('[CS-31] what a node has begun that died is made again with the same ids by another, or not at all', async () => {
  for (const effect of ['adds', 'once'] as const) {
    const { clock, store, one } = await nodes()
    const { seeds, work } = held()
    // What is written by it from now on is lost with it.
    one.run(callWith(effect), work).catch(() => {})
    await eventually(() => seeds.length === 1)
    const noted = await store.kv.scan(callWith(effect).part, { limit: 10 })
    expect(noted.length).toBeGreaterThan(0)
    const stopped = new HeldClock(clock.now() + 60_000)
    const [later] = (await sharedNodes(1, { clock: stopped, store })).map(
      ({ engine }) =>
        new IdempotentCalls({
          ...engine,
          clock: stopped,
          log: createLog('silent'),
          metrics: createMetrics(),
          secrets: ['a secret'],
          keepMs: hourMs,
        }),
    ) as [IdempotentCalls]
    const again = held()
    again.release()
    const given = later.run(callWith(effect), again.work)
    if (effect === 'adds') {
      expect(await given).toMatchObject({ text: '"done"' })
      expect(again.seeds).toEqual(seeds)
    } else await expect(given).rejects.toThrow('nobody knows')
  }
})

it('[CS-32] places that another node has freed can be taken, and those that it has taken count', async () => {
  const { clock, one, two, store } = await nodes({ calls: 2 })
  const { work, release } = held()
  release()
  await one.run(callWith('once', 'a'), work)
  await two.run(callWith('once', 'b'), work)
  clock.advance(61_000)
  await expect(one.run(callWith('once', 'c'), work)).rejects.toThrow('as many calls')
  clock.advance(2 * hourMs)
  two.start()
  await eventually(async () => (await store.kv.scan(callWith('once').part, { limit: 10 })).length === 0)
  await two.stop()
  expect(await store.queue.claim(sweepQueue, 10, 1)).toEqual([])
  expect(await one.run(callWith('once', 'c'), work)).toMatchObject({ replayed: false })
})
