import { expect, it } from 'vitest'
import type { KeyCaller } from '../../../src/core/access/credentials/authenticator.ts'
import { ApiError } from '../../../src/core/base/errors.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { callKeys, callSweepQueue } from '../../../src/rest/idempotency/call-records.ts'
import { IdempotencyService } from '../../../src/rest/idempotency/idempotency-service.ts'
import {
  type IdempotencyLimits,
  idempotencyLimits,
  parseIdempotentCall,
} from '../../../src/rest/idempotency/idempotent-call.ts'
import type { Effect } from '../../../src/rest/operation.ts'
import type { SeededIds } from '../../../src/rest/seeded-ids.ts'
import { eventually } from '../../support/clients/clients.ts'
import { tenant } from '../../support/data/directory.ts'
import { type SharedNode, sharedNodes } from '../../support/servers/simulated-network.ts'
import { HeldClock } from '../../support/time/clock.ts'

const caller: KeyCaller = {
  level: 'key',
  tenant,
  authToken: 'token',
  validUntil: Number.POSITIVE_INFINITY,
}
const hourMs = 3_600_000

/** Idempotency services of `count` nodes. */
async function nodesOn(
  count: number,
  { clock, store, limits = {} }: { clock: HeldClock; store: Engine; limits?: Partial<IdempotencyLimits> },
): Promise<readonly IdempotencyService[]> {
  return (await sharedNodes(count, { clock, store })).map(({ engine }) => callsOf(engine, clock, limits))
}

const callsOf = (engine: Engine, clock: HeldClock, limits: Partial<IdempotencyLimits> = {}) =>
  new IdempotencyService(
    { engine, clock, log: createLog('silent'), metrics: createMetrics() },
    ['a secret'],
    hourMs,
    { ...idempotencyLimits, ...limits },
  )

async function nodes(limits: Partial<IdempotencyLimits> = {}) {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const [one, two] = (await nodesOn(2, { clock, store, limits })) as [IdempotencyService, IdempotencyService]
  return { clock, store, one, two }
}

const callWith = (effect: Effect, key = 'key') =>
  parseIdempotentCall(caller, { path: '/v2/test/do', effect }, key, '{}')

/** Work that runs until `release`, and the seeds of each run. */
function held() {
  const seeds: string[] = []
  let release = (_text: string): void => {}
  let fail = (_error: unknown): void => {}
  const gate = new Promise<string>((resolve, reject) => {
    release = resolve
    fail = reject
  })
  const work = async (ids: SeededIds): Promise<string> => {
    seeds.push(ids.make())
    return gate
  }
  return { seeds, work, release: (text = 'done') => release(text), fail: (error: unknown) => fail(error) }
}

/** Advances the clock until the promise has settled. */
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
  '[CS-30] runs a `%s` call only once when the call arrives at two nodes',
  async (effect) => {
    const { clock, one, two } = await nodes()
    const { seeds, work, release } = held()
    const first = one.run(callWith(effect), work)
    await eventually(() => seeds.length === 1)
    const second = two.run(callWith(effect), work)
    clock.advance(5_000)
    release()
    expect(await first).toMatchObject({ body: '"done"', replayed: false })
    expect(await ended(clock, second)).toMatchObject({ body: '"done"', replayed: true })
    expect(seeds).toHaveLength(1)
  },
)

it('[CS-30] runs a call only once when two nodes begin to run it at the same time', async () => {
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

it('[CS-31] reports a call that runs at another node as in progress', async () => {
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

it('[CS-31] after the node that ran a call has died, another node runs the call again with the same ids, or reports an unknown outcome', async () => {
  for (const effect of ['adds', 'once'] as const) {
    const { clock, store, one } = await nodes()
    const { seeds, work } = held()
    // Everything that this call writes from now on is lost with its node.
    one.run(callWith(effect), work).catch(() => {})
    await eventually(() => seeds.length === 1)
    const noted = await store.kv.scan(callWith(effect).part, { limit: 10 })
    expect(noted.length).toBeGreaterThan(0)
    const [later] = (await nodesOn(1, { clock, store })) as [IdempotencyService]
    const again = held()
    again.release()
    const given = later.run(callWith(effect), again.work)
    if (effect === 'adds') {
      expect(await given).toMatchObject({ body: '"done"' })
      expect(again.seeds).toEqual(seeds)
    } else await expect(given).rejects.toThrow('is unknown; check the result')
  }
})

/** A call that one node began and another node took over because it treats the first one as dead. */
async function takenOver() {
  const clock = new HeldClock()
  const store = await openMemoryEngine({ clock })
  const [dead, alive] = (await sharedNodes(2, { clock, store })) as [SharedNode, SharedNode]
  const [one, two] = [callsOf(dead.engine, clock), callsOf(alive.engine, clock)]
  const [first, again] = [held(), held()]
  const slow = one.run(callWith('adds'), first.work)
  slow.catch(() => {})
  await eventually(() => first.seeds.length === 1)
  dead.cut()
  const other = two.run(callWith('adds'), again.work)
  await eventually(() => again.seeds.length === 1)
  expect(again.seeds).toEqual(first.seeds)
  const recorded = () => store.kv.get(callWith('adds').part, [callKeys.call(callWith('adds').id)])
  return { clock, slow, first, other, again, recorded, two }
}

it('[CS-33] when another node has taken over a call, stores nothing for the call, and returns the response of that node', async () => {
  const { slow, first, other, again, recorded, two } = await takenOver()
  again.release()
  expect(await other).toMatchObject({ replayed: false })
  const noted = await recorded()
  first.release('late')
  expect(await slow).toMatchObject({ body: '"done"', replayed: true })
  expect(await recorded()).toEqual(noted)
  expect(await two.run(callWith('adds'), again.work)).toMatchObject({ body: '"done"', replayed: true })
})

it.each(['crdt/content-exists', 'request/conflict', 'server/stopping'] as const)(
  '[CS-33] when a call fails late with %s, returns the response of the other node',
  async (code) => {
    const { slow, first, other, again, recorded } = await takenOver()
    again.release()
    await other
    const noted = await recorded()
    first.fail(new ApiError(code, 'late'))
    expect(await slow).toMatchObject({ body: '"done"', replayed: true })
    expect(await recorded()).toEqual(noted)
  },
)

it('[CS-33] waits for a node that has taken over a call and still runs it', async () => {
  const { clock, slow, first, other, again } = await takenOver()
  first.release('late')
  await expect(ended(clock, slow)).rejects.toThrow('still under way')
  again.release()
  expect(await other).toMatchObject({ body: '"done"', replayed: false })
})

it('[CS-33] when the record of a running call is deleted, does not run the call again, and returns its own response', async () => {
  const { clock, one, two, store } = await nodes()
  const { seeds, work, release } = held()
  const slow = one.run(callWith('once'), work)
  await eventually(() => seeds.length === 1)
  await store.kv.commit(callWith('once').part, { dels: [callKeys.call(callWith('once').id)] })
  release()
  expect(await ended(clock, slow)).toMatchObject({ body: '"done"', replayed: false })
  expect(seeds).toHaveLength(1)
  await two.sweeps.stop()
})

it('[CS-33] if two nodes run a call that stores nothing before its end, keeps the response that is ready first', async () => {
  const { one, two } = await nodes()
  const [first, second] = [held(), held()]
  const call = callWith('repeatable')
  const given = [one.run(call, first.work), two.run(call, second.work)] as const
  await eventually(() => first.seeds.length + second.seeds.length === 2)
  second.release('second')
  expect(await given[1]).toMatchObject({ body: '"second"', replayed: false })
  first.release('first')
  expect(await given[0]).toMatchObject({ body: '"second"', replayed: true })
  expect(await two.run(call, first.work)).toMatchObject({ body: '"second"', replayed: true })
})

it('[CS-32] counts the record slots that another node uses, and reuses slots that this node has freed', async () => {
  const { clock, one, two, store } = await nodes({ calls: 2 })
  const { work, release } = held()
  release()
  await one.run(callWith('once', 'a'), work)
  await two.run(callWith('once', 'b'), work)
  clock.advance(61_000)
  await expect(one.run(callWith('once', 'c'), work)).rejects.toThrow('maximum number of stored calls')
  clock.advance(2 * hourMs)
  two.sweeps.start()
  await eventually(async () => (await store.kv.scan(callWith('once').part, { limit: 10 })).length === 0)
  await two.sweeps.stop()
  expect(await store.queue.claim(callSweepQueue, 10, 1)).toEqual([])
  expect(await one.run(callWith('once', 'c'), work)).toMatchObject({ replayed: false })
})
