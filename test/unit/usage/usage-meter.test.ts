import { expect, it } from 'vitest'
import { createUsage } from '../../../src/capabilities/usage/index.ts'
import type { UsageQuery } from '../../../src/capabilities/usage/usage-reader.ts'
import { msPerHour } from '../../../src/capabilities/usage/usage-records.ts'
import { organizationsPerHourMax } from '../../../src/capabilities/usage/workspace-usage.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { StorageQuota } from '../../../src/core/directory/storage-quota.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { type Engine, type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const minuteMs = 60_000
const noon = Date.UTC(2026, 10, 27, 12)
const acme = { workspaceId: 'w', apiKey: 'k', organizationId: 'acme' }

interface ProcessOptions {
  readonly engine: Engine
  readonly clock: HeldClock
  readonly node?: string
  readonly writer?: string
  readonly kv?: Kv
}

/** The usage of one process. Processes with the same engine are nodes, or follow each other. */
function startUsage({ engine, clock, node = 'node', writer = 'first', kv = engine.kv }: ProcessOptions) {
  const log = createLog('silent')
  const { tenants } = createTenancy(engine, clock)
  const storage = new StorageQuota({ engine, tenants, clock, log, metrics: createMetrics(), bytesMax: 0 })
  const cluster = { ...engine.cluster, self: node, incarnation: writer }
  const usage = createUsage({
    engine: { kv, cluster },
    storage,
    tenants,
    clock,
    log,
  })
  usage.meter.start()
  return usage
}

type Started = ReturnType<typeof startUsage>

async function hoursOf({ meter, reader }: Started, query: Partial<UsageQuery> = {}) {
  await meter.write('w')
  const all = { granularity: 'hour', from: 0, to: noon + 1_000 * msPerHour, by: 'workspace' } as const
  const { items } = await reader.list('w', { ...all, ...query }, { after: undefined, limit: 1_000 })
  return items.map(({ bucket }) => ({
    hour: (bucket.start - noon) / msPerHour,
    opened: bucket.opened,
    peak: bucket.peak,
    minutes: bucket.openMs / minuteMs,
    updates: bucket.updates,
    calls: bucket.calls,
  }))
}

const none = { opened: 0, peak: 0, minutes: 0, updates: 0, calls: 0 }

it('[USE-2] counts each hour from its start to its end, and open connections in each hour', async () => {
  const clock = new HeldClock(noon + 50 * minuteMs)
  const engine = await openMemoryEngine({ clock })
  const usage = startUsage({ engine, clock })
  const room = usage.meter.hold(acme)
  room.enter()
  room.enter()
  room.updates += 5
  clock.advance(4 * minuteMs)
  room.leave()
  room.updates += 1
  clock.advance(6 * minuteMs)
  room.updates += 7
  clock.advance(60 * minuteMs)
  clock.advance(10 * minuteMs)
  room.leave()
  room.enter()
  room.leave()
  const hours = [
    { hour: 0, opened: 2, peak: 2, minutes: 14, updates: 6, calls: 0 },
    { hour: 1, opened: 0, peak: 1, minutes: 60, updates: 7, calls: 0 },
    { hour: 2, opened: 1, peak: 1, minutes: 10, updates: 0, calls: 0 },
  ]
  expect(await hoursOf(usage)).toEqual(hours)
  expect(await hoursOf(usage, { by: 'organization' })).toEqual(hours)
  room.release()
  // Unused counters are removed, and an hour without usage has no record.
  clock.advance(3 * msPerHour)
  usage.meter.hold(acme).updates += 1
  expect(await hoursOf(usage)).toEqual([...hours, { ...none, hour: 5, updates: 1 }])
})

it('[USE-2] loses nothing and counts nothing twice if the clock is set back over the start of an hour', async () => {
  const clock = new HeldClock(noon + minuteMs)
  const engine = await openMemoryEngine({ clock })
  const usage = startUsage({ engine, clock })
  const room = usage.meter.hold(acme)
  room.enter()
  room.updates += 1
  clock.advance(-10 * minuteMs)
  room.updates += 2
  room.leave()
  room.enter()
  expect(await hoursOf(usage)).toEqual([{ hour: 0, opened: 2, peak: 1, minutes: 0, updates: 3, calls: 0 }])
  clock.advance(15 * minuteMs)
  room.leave()
  expect(await hoursOf(usage)).toEqual([{ hour: 0, opened: 2, peak: 1, minutes: 15, updates: 3, calls: 0 }])
})

it('[USE-31] counts in the hours of the corrected clock after a wrong reading, and adds up an hour that is entered again', async () => {
  const clock = new HeldClock(noon + minuteMs)
  const engine = await openMemoryEngine({ clock })
  const usage = startUsage({ engine, clock })
  const room = usage.meter.hold(acme)
  const early = usage.meter.hold({ ...acme, organizationId: 'early' })
  room.updates += 1
  early.updates += 1
  room.enter()
  room.leave()
  await usage.meter.write('w')
  const yearMs = 365 * 24 * msPerHour
  clock.advance(yearMs)
  room.updates += 2
  await usage.meter.write('w')
  clock.advance(-yearMs)
  early.release()
  room.updates += 4
  // The clock was wrong until this event.
  room.enter()
  room.updates += 10
  clock.advance(minuteMs)
  room.leave()
  const hours = [
    { hour: 0, opened: 2, peak: 1, minutes: 1, updates: 12, calls: 0 },
    { hour: 365 * 24, opened: 0, peak: 0, minutes: 0, updates: 6, calls: 0 },
  ]
  const all = { to: noon + 2 * yearMs }
  expect(await hoursOf(usage, all)).toEqual(hours)
  // A second wrong reading in the same hours.
  clock.advance(yearMs)
  usage.meter.hold(acme).updates += 1
  clock.advance(-yearMs)
  usage.meter.hold(acme).updates += 1
  clock.advance(5 * msPerHour)
  usage.meter.hold(acme).updates += 100
  expect(await hoursOf(usage, all)).toEqual([
    { ...hours[0], updates: 13 },
    { ...none, hour: 5, updates: 100 },
    { ...hours[1], updates: 7 },
  ])
})

it('[USE-4] adds up the counts and peaks of nodes, and keeps those of an earlier process of a node', async () => {
  const clock = new HeldClock(noon)
  const engine = await openMemoryEngine({ clock })
  const processes = [
    startUsage({ engine, clock, node: 'a', writer: 'a1' }),
    startUsage({ engine, clock, node: 'b', writer: 'b1' }),
    startUsage({ engine, clock, node: 'a', writer: 'a2' }),
  ]
  for (const [index, { meter }] of processes.entries()) {
    const room = meter.hold(acme)
    for (let opened = 0; opened < 3 + index; opened++) room.enter()
    room.updates += 10 ** index
    meter.holdRest('w').calls += 1
    await meter.stop()
  }
  const [read] = await hoursOf(startUsage({ engine, clock, writer: 'reader' }))
  // The peaks are 3 and then 5 of node a, and 4 of node b.
  expect(read).toEqual({ hour: 0, opened: 12, peak: 9, minutes: 0, updates: 111, calls: 3 })
})

it('[USE-9] counts the usage of further organizations for the workspace', async () => {
  const clock = new HeldClock(noon)
  const engine = await openMemoryEngine({ clock })
  const usage = startUsage({ engine, clock })
  for (let index = 0; index < organizationsPerHourMax + 10; index++) {
    const room = usage.meter.hold({ ...acme, organizationId: `o${index}` })
    room.enter()
    room.updates += 1
    room.leave()
    room.release()
  }
  const count = organizationsPerHourMax + 10
  expect(await hoursOf(usage)).toEqual([{ ...none, hour: 0, opened: count, peak: 1, updates: count }])
  const query = { granularity: 'hour', from: 0, to: noon + msPerHour, by: 'organization' } as const
  let listed = 0
  for (let after: string | undefined; ; ) {
    const { items, next } = await usage.reader.list('w', query, { after, limit: 1_000 })
    listed += items.length
    if (next === null) break
    after = next
  }
  expect(listed).toBe(organizationsPerHourMax)
  // In the next hour, other organizations can have their own counts.
  clock.advance(msPerHour)
  usage.meter.hold({ ...acme, organizationId: 'later' }).updates += 1
  expect(await hoursOf(usage, { by: 'organization', organizationId: 'later' })).toEqual([
    { ...none, hour: 1, updates: 1 },
  ])
})

it('[USE-10] keeps the counts of an outage over the end of an hour, and stores them later', async () => {
  const clock = new HeldClock(noon + 30 * minuteMs)
  const engine = await openMemoryEngine({ clock })
  let isDown = false
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    scan: (part, range) => engine.kv.scan(part, range),
    // The outcome of a commit is unknown to its caller: every second one is stored.
    async commit(part, commit) {
      if (!isDown) return engine.kv.commit(part, commit)
      if (clock.now() % (2 * minuteMs) === 0) await engine.kv.commit(part, commit)
      throw new StoreUnavailableError('the store is away')
    },
  }
  const usage = startUsage({ engine, clock, kv })
  const room = usage.meter.hold(acme)
  isDown = true
  for (let minute = 0; minute < 150; minute++) {
    room.updates += 1
    clock.advance(minuteMs)
    await expect(usage.meter.write('w')).rejects.toThrow(StoreUnavailableError)
  }
  isDown = false
  expect(await hoursOf(usage)).toEqual([
    { ...none, hour: 0, updates: 30 },
    { ...none, hour: 1, updates: 60 },
    { ...none, hour: 2, updates: 60 },
  ])
})

it('[USE-7] measures the stored bytes of a workspace at most twice an hour', async () => {
  const clock = new HeldClock(noon)
  const engine = await openMemoryEngine({ clock })
  let measured = 0
  const counting: Engine = {
    ...engine,
    storedBytes: async () => {
      measured += 1
      return 1_000 * measured
    },
  }
  const usage = startUsage({ engine: counting, clock })
  const room = usage.meter.hold(acme)
  for (let minute = 0; minute < 60; minute++) {
    room.updates += 1
    await usage.meter.write('w')
    clock.advance(minuteMs)
  }
  expect(measured).toBe(2)
  const query = { granularity: 'month', from: 0, to: noon + msPerHour, by: 'workspace' } as const
  const { items } = await usage.reader.list('w', query, { after: undefined, limit: 1 })
  expect(items.map(({ bucket }) => bucket.stored?.bytes)).toEqual([2_000])
})

it('[USE-7] does not measure at the end of an hour: an hour begins with the last measurement', async () => {
  const clock = new HeldClock(noon + 59 * minuteMs)
  const engine = await openMemoryEngine({ clock })
  let measured = 0
  const counting: Engine = { ...engine, storedBytes: async () => 1_000 * ++measured }
  const usage = startUsage({ engine: counting, clock })
  const room = usage.meter.hold(acme)
  for (let minute = 0; minute < 2; minute++) {
    room.updates += 1
    await usage.meter.write('w')
    clock.advance(minuteMs)
  }
  expect(measured).toBe(1)
  const query = { granularity: 'hour', from: 0, to: noon + 2 * msPerHour, by: 'workspace' } as const
  const { items } = await usage.reader.list('w', query, { after: undefined, limit: 2 })
  expect(items.map(({ bucket }) => bucket.stored?.bytes)).toEqual([1_000, 1_000])
})
