import { beforeEach, expect, it } from 'vitest'
import { ApiError } from '../../../src/core/base/errors.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import type { Engine, KvEntry } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { decodeRecord } from '../../../src/core/store/stored-record.ts'
import type { ExpiryRecord } from '../../../src/rest/idempotency/call-records.ts'
import { IdempotencyService } from '../../../src/rest/idempotency/idempotency-service.ts'
import {
  type IdempotentCall,
  idempotencyLimits,
  parseIdempotentCall,
} from '../../../src/rest/idempotency/idempotent-call.ts'
import { countedCallersMax, IdempotencyUsage } from '../../../src/rest/idempotency/usage.ts'
import type { Effect } from '../../../src/rest/operation.ts'
import type { SeededIds } from '../../../src/rest/seeded-ids.ts'
import { HeldClock } from '../../support/time/clock.ts'

const keepMs = 60_000
const caller = {
  level: 'key',
  tenant: { workspaceId: 'ws', apiKey: 'key' },
  authToken: null,
  validUntil: Number.POSITIVE_INFINITY,
} as const

let clock: HeldClock
let engine: Engine
beforeEach(async () => {
  clock = new HeldClock()
  engine = await openMemoryEngine({ clock })
})

/** A process on the store. A later one is the process after a crash of the first. */
function started(
  limits = {},
  secrets: readonly string[] = ['a secret'],
  keptMs: number = keepMs,
): IdempotencyService {
  const log = createLog('silent')
  const metrics = createMetrics()
  const all = { ...idempotencyLimits, ...limits }
  return new IdempotencyService({ engine, clock, log, metrics }, secrets, keptMs, all)
}

const callWith = (key: string, effect: Effect = 'once', text = '{}'): IdempotentCall =>
  parseIdempotentCall(caller, { path: '/v2/test/do', effect }, key, text)

const { part } = callWith('any')
const stored = (): Promise<readonly KvEntry[]> => engine.kv.scan(part, { limit: 10_000 })

/** Work that counts its runs. */
function work(answer: string | Error = 'done') {
  const counted = {
    times: 0,
    do: async () => {
      counted.times += 1
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  return counted
}

const never = (): Promise<string> => new Promise(() => {})

it('[IDEM-8] after the process that ran a call has died, does not repeat a `once` call, but repeats a `repeatable` call', async () => {
  for (const effect of ['once', 'repeatable'] as const) {
    void started().run(callWith(effect, effect), never)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const [calls, second] = [started(), work()]
    const again = calls.run(callWith(effect, effect), second.do)
    if (effect === 'repeatable') expect(await again).toMatchObject({ body: '"done"', replayed: false })
    else {
      await expect(again).rejects.toMatchObject({ status: 'ABORTED', details: { outcome: 'unknown' } })
      await expect(calls.run(callWith(effect, effect), second.do)).rejects.toThrow('a new key')
    }
    expect(second.times).toBe(effect === 'repeatable' ? 1 : 0)
  }
})

it('[IDEM-8] creates the same ids when an `adds` call is repeated, but other ids for a new key', async () => {
  const ids: string[][] = []
  const adding = async (make: SeededIds, end: Promise<string>) => {
    ids.push([make.make(), make.make()])
    return end
  }
  void started().run(callWith('a', 'adds'), (make) => adding(make, never()))
  await expect.poll(() => ids.length).toBe(1)
  const calls = started()
  const failed = calls.run(callWith('a', 'adds'), (make) => adding(make, Promise.reject(new Error('a bug'))))
  await expect(failed).rejects.toThrow('a bug')
  const done = () => calls.run(callWith('a', 'adds'), (make) => adding(make, Promise.resolve('done')))
  expect(await done()).toMatchObject({ body: '"done"', replayed: false })
  expect(await done()).toMatchObject({ body: '"done"', replayed: true })
  clock.advance(keepMs)
  expect(await done()).toMatchObject({ replayed: false })
  const [first, second, third, later] = ids
  expect([second, third]).toEqual([first, first])
  expect(new Set([...(first ?? []), ...(later ?? [])]).size).toBe(4)
  for (const id of first ?? [])
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
})

it('[IDEM-8] creates the same ids in a repeated `adds` call, even after a temporary rejection in between', async () => {
  const ids: string[] = []
  const adding = async (make: SeededIds, end: Promise<string>) => {
    ids.push(make.make())
    return end
  }
  void started().run(callWith('a', 'adds'), (make) => adding(make, never()))
  await expect.poll(() => ids.length).toBe(1)
  const calls = started()
  const full = new ApiError('limit/exceeded', 'full')
  await expect(calls.run(callWith('a', 'adds'), (make) => adding(make, Promise.reject(full)))).rejects.toBe(
    full,
  )
  const done = calls.run(callWith('a', 'adds'), (make) => adding(make, Promise.resolve('done')))
  expect(await done).toMatchObject({ replayed: false })
  expect(new Set(ids).size).toBe(1)
})

it('[IDEM-8] reports an unknown outcome after an internal error or a store failure', async () => {
  for (const [index, error] of [
    new Error('a bug'),
    new ApiError('server/store-unavailable', 'away'),
  ].entries()) {
    const [calls, second] = [started(), work()]
    await expect(calls.run(callWith(`once-${index}`), work(error).do)).rejects.toBe(error)
    await expect(calls.run(callWith(`once-${index}`), second.do)).rejects.toMatchObject({
      details: { outcome: 'unknown' },
    })
    expect(second.times).toBe(0)
    const repeatable = callWith(`repeatable-${index}`, 'repeatable')
    await expect(calls.run(repeatable, work(error).do)).rejects.toBe(error)
    expect(await calls.run(repeatable, second.do)).toMatchObject({ replayed: false })
  }
})

it('[IDEM-8] if the start of a call cannot be stored, does not run the call', async () => {
  const commit = engine.kv.commit.bind(engine.kv)
  engine.kv.commit = () => Promise.reject(new Error('the store is away'))
  const [calls, first] = [started(), work()]
  await expect(calls.run(callWith('a'), first.do)).rejects.toThrow('away')
  expect(first.times).toBe(0)
  engine.kv.commit = commit
  expect(await calls.run(callWith('a'), first.do)).toMatchObject({ replayed: false })
})

it('[IDEM-8] returns the response of a call even if the response cannot be stored', async () => {
  const calls = started()
  const commit = engine.kv.commit.bind(engine.kv)
  const fail = async (): Promise<string> => {
    engine.kv.commit = () => Promise.reject(new Error('the store is away'))
    return 'done'
  }
  expect(await calls.run(callWith('a'), fail)).toMatchObject({ body: '"done"' })
  engine.kv.commit = commit
  await expect(calls.run(callWith('a'), never)).rejects.toMatchObject({ details: { outcome: 'unknown' } })
})

it('[IDEM-4] limits the number of calls that wait for the first call with the same key, and their waiting time', async () => {
  const calls = started({ waitMs: 1_000, waiting: 2 })
  let finish = (_text: string): void => {}
  const first = calls.run(callWith('a'), () => new Promise((resolve) => (finish = resolve)))
  const waiting = [calls.run(callWith('a'), never), calls.run(callWith('a'), never)]
  const busy = { status: 'ABORTED', details: { outcome: 'running' }, retryAfterSeconds: 1 }
  await expect(calls.run(callWith('a'), never)).rejects.toMatchObject(busy)
  clock.advance(1_000)
  for (const each of waiting) await expect(each).rejects.toMatchObject(busy)
  const patient = calls.run(callWith('a'), never)
  await expect(calls.run(callWith('a', 'once', 'other'), never)).rejects.toThrow('with a different body')
  finish('at last')
  expect(await first).toMatchObject({ body: '"at last"', replayed: false })
  expect(await patient).toMatchObject({ body: '"at last"', replayed: true })
})

it('[IDEM-4] when the first call did nothing, runs one of the calls that wait for it', async () => {
  const calls = started()
  let refuse = (_error: Error): void => {}
  const first = calls.run(callWith('a'), () => new Promise((_, reject) => (refuse = reject)))
  const others = work()
  const waiting = [calls.run(callWith('a'), others.do), calls.run(callWith('a'), others.do)]
  await new Promise((resolve) => setTimeout(resolve, 10))
  refuse(new ApiError('request/conflict', 'others change the same'))
  await expect(first).rejects.toThrow('others')
  expect((await Promise.all(waiting)).map(({ replayed }) => replayed)).toEqual([false, true])
  expect(others.times).toBe(1)
})

it('[IDEM-10] treats an expired idempotency key as new, and removes its record in the background, even after a restart', async () => {
  const calls = started()
  for (let at = 0; at < 450; at++) await calls.run(callWith(`key-${at}`), work().do)
  clock.advance(keepMs / 2)
  await calls.run(callWith('late'), work().do)
  expect((await stored()).length).toBe(902)
  clock.advance(45_000)
  const second = work()
  expect(await calls.run(callWith('key-0'), second.do)).toMatchObject({ replayed: false })
  const later = started()
  clock.advance(50_000)
  await settled(later, 2)
  expect(await later.run(callWith('key-0'), second.do)).toMatchObject({ replayed: true })
  expect(await later.run(callWith('late'), second.do)).toMatchObject({ replayed: false })
  clock.advance(keepMs + 120_000)
  await settled(later, 0)
  await later.sweeps.stop()
})

/** Waits until the store has `entries` entries after the removal of expired ones. */
async function settled(calls: IdempotencyService, entries: number): Promise<void> {
  calls.sweeps.start()
  await expect.poll(async () => (await stored()).length).toBe(entries)
}

it('[IDEM-11] when stored calls or response bytes reach their limit, rejects more calls until the first record expires', async () => {
  for (const limits of [{ calls: 3 }, { bytes: 1800 }]) {
    engine = await openMemoryEngine({ clock })
    const calls = started(limits)
    for (const key of ['a', 'b', 'c']) await calls.run(callWith(key), work().do)
    clock.advance(10_000)
    for (const process of [calls, started(limits)]) {
      const fourth = process.run(callWith('d'), never)
      await expect(fourth).rejects.toMatchObject({
        status: 'RESOURCE_EXHAUSTED',
        retryAfterSeconds: 50,
        details: { limit: 'idempotentCalls', scope: 'apiKey' },
      })
      expect(await process.run(callWith('a'), never)).toMatchObject({ replayed: true })
    }
    clock.advance(keepMs + 60_000)
    calls.sweeps.start()
    await expect.poll(async () => (await stored()).length).toBe(0)
    await calls.sweeps.stop()
    expect(await calls.run(callWith('d'), work().do)).toMatchObject({ replayed: false })
  }
})

it('[IDEM-10] removes expired records without waiting for records that expire later', async () => {
  await started({}, ['a secret'], 100 * keepMs).run(callWith('long'), work().do)
  const calls = started()
  for (const key of ['a', 'b']) await calls.run(callWith(key), work().do)
  clock.advance(keepMs + 60_000)
  await settled(calls, 2)
  await calls.sweeps.stop()
})

it('[IDEM-11] limits the bytes of many concurrent responses, and beyond the limit keeps only their outcome', async () => {
  const bytes = 20_000
  const calls = started({ bytes })
  const answer = 'x'.repeat(1_000)
  const keys = Array.from({ length: 30 }, (_, at) => `key-${at}`)
  const given = await Promise.all(keys.map((key) => calls.run(callWith(key), work(answer).do)))
  expect(given.map(({ body }) => body)).toEqual(keys.map(() => JSON.stringify(answer)))
  const used = (await stored()).filter(({ key }) => key[0] === 'ends').map(({ value }) => decodeRecord(value))
  const sum = (used as ExpiryRecord[]).reduce((all, record) => all + record.bytes, 0)
  expect(sum).toBeLessThanOrEqual(bytes)
  expect(sum).toBeGreaterThan(bytes - 2_000)
  const again = await Promise.allSettled(keys.map((key) => calls.run(callWith(key), never)))
  const lost = again.filter(({ status }) => status === 'rejected')
  expect(lost.length).toBeGreaterThan(0)
  for (const each of lost)
    expect(each).toMatchObject({ reason: { status: 'ABORTED', details: { outcome: 'done' } } })
})

it('[IDEM-11] uses no record slot for calls whose response is not stored', async () => {
  const calls = started({ calls: 1 })
  for (let at = 0; at < 5; at++)
    await expect(calls.run(callWith('a'), work(new ApiError('request/conflict', '')).do)).rejects.toThrow()
  expect(await stored()).toEqual([])
  expect(await calls.run(callWith('b'), work().do)).toMatchObject({ replayed: false })
})

it('[IDEM-11] uses no record slot for a call whose end could not be stored', async () => {
  const calls = started({ calls: 1, bytes: 2_000 })
  const commit = engine.kv.commit.bind(engine.kv)
  engine.kv.commit = () => Promise.reject(new Error('the store is away'))
  for (const key of ['a', 'b', 'c'])
    expect(await calls.run(callWith(key, 'repeatable'), work('x'.repeat(600)).do)).toMatchObject({
      replayed: false,
    })
  engine.kv.commit = commit
  await calls.run(callWith('d', 'repeatable'), work('x'.repeat(600)).do)
  expect(await calls.run(callWith('d', 'repeatable'), never)).toMatchObject({ replayed: true })
})

it('[IDEM-11] keeps the counts of a limited number of callers in memory', async () => {
  const { kv, foreignChanges } = engine
  let reads = 0
  const counting: Engine['kv'] = {
    get: (part, keys) => kv.get(part, keys),
    commit: (part, change) => kv.commit(part, change),
    scan: (part, range) => {
      reads += 1
      return kv.scan(part, range)
    },
  }
  const usage = new IdempotencyUsage({ ...engine, kv: counting, foreignChanges }, clock, idempotencyLimits)
  const agent = (number: number) => ['idempotency', 'agent', `${number}`]
  for (let number = 0; number <= countedCallersMax; number += 1) await usage.take(agent(number))
  expect(reads).toBe(countedCallersMax + 1)
  await usage.take(agent(1))
  expect(reads).toBe(countedCallersMax + 1)
  await usage.take(agent(0))
  expect(reads).toBe(countedCallersMax + 2)
})

it('[IDEM-11] when a response is too large, keeps only its outcome', async () => {
  const calls = started({ answerBytes: 10 })
  const [large, second] = ['more than ten', work()]
  expect(await calls.run(callWith('a'), work(large).do)).toMatchObject({ body: large })
  const again = calls.run(callWith('a'), second.do)
  await expect(again).rejects.toMatchObject({
    status: 'ABORTED',
    details: { outcome: 'done', httpCode: 200 },
  })
  expect(second.times).toBe(0)
})

it('[IDEM-12] reads responses stored with the previous secret, and reports only the outcome when neither secret can read them', async () => {
  await started({}, ['old']).run(callWith('a'), work().do)
  expect(await started({}, ['new', 'old']).run(callWith('a'), never)).toMatchObject({ body: '"done"' })
  const lost = started({}, ['new', 'newer']).run(callWith('a'), never)
  await expect(lost).rejects.toMatchObject({ details: { outcome: 'done' } })
})
