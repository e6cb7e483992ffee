import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { UsageMeter } from '../../../src/capabilities/usage/usage-meter.ts'
import {
  type Granularity,
  type UsageItem,
  UsageReader,
} from '../../../src/capabilities/usage/usage-reader.ts'
import { hourKey, msPerDay, msPerHour, usagePart } from '../../../src/capabilities/usage/usage-records.ts'
import { UsageRetention } from '../../../src/capabilities/usage/usage-retention.ts'
import { openPostgresEngine } from '../../../src/cluster/postgres/engine.ts'
import { createLog } from '../../../src/core/base/log.ts'
import type { StorageQuota } from '../../../src/core/directory/storage-quota.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import { type Engine, type Kv, StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { encodeRecord } from '../../../src/core/store/stored-record.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { missing } from '../../support/needs.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { HeldClock } from '../../support/time/clock.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'

const log = createLog('silent')
const start = Date.UTC(2026, 0, 30)
const owner = { name: 'Ann', email: 'ann@example.com', avatar: '' }
/** Stored bytes are not part of these tests. */
const storage: Pick<StorageQuota, 'measured'> = { measured: () => Promise.resolve(null) }

interface Store {
  readonly engine: Engine
  readonly clock: HeldClock
  readonly workspaceId: string
}

async function storeOf(engine: Engine): Promise<Store> {
  onTestFinished(() => engine.close())
  const clock = new HeldClock(start)
  const { workspace } = await createTenancy(engine, clock).workspaces.create({ name: 'w', owner })
  return { engine, clock, workspaceId: workspace.id }
}

const engines: readonly (readonly [string, () => Promise<Engine>])[] = [
  ['memory', () => openMemoryEngine()],
  [
    'level',
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'weft-usage-'))
      onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }))
      return openLevelEngine({ directory })
    },
  ],
  [
    'postgres',
    async () => {
      const postgres = await startPostgres()
      onTestFinished(() => postgres.remove())
      return openPostgresEngine({ url: postgres.url, schema: postgres.newSchema(), partitions: 2 })
    },
  ],
]

const organizations = ['acme', 'zoo', 'ångström/…']

/** Writes random usage of two nodes for a number of hours. */
async function work({ engine: { kv }, clock, workspaceId }: Store, hours: number): Promise<void> {
  const random = new Random(seed)
  const meters = ['a', 'b'].map(
    (node) => new UsageMeter({ kv, storage, clock, log, node, writer: `${node}1` }),
  )
  const rooms = meters.map((meter) =>
    organizations.map((organizationId) => meter.hold({ workspaceId, apiKey: 'k', organizationId })),
  )
  for (let hour = 0; hour < hours; hour++) {
    for (const of of rooms)
      for (const room of of) {
        // An hour without usage has no record.
        if (random.below(3) === 0) continue
        for (let opened = random.below(4); opened > 0; opened--) room.enter()
        clock.advance(random.below(9))
        room.updates += random.below(100)
        room.bytesSent += random.below(10_000)
      }
    for (const of of rooms) for (const room of of) while (room.connections.isOpen) room.leave()
    for (const meter of meters) await meter.write(workspaceId)
    clock.advance(msPerHour - (clock.now() % msPerHour))
  }
  for (const meter of meters) await meter.stop()
}

async function listing(
  { engine, workspaceId, clock }: Store,
  granularity: Granularity,
  by: 'workspace' | 'organization',
  pageSize = 1_000,
): Promise<readonly UsageItem[]> {
  const reader = new UsageReader(engine.kv)
  const items: UsageItem[] = []
  for (let after: string | undefined; ; ) {
    const query = { granularity, by, from: 0, to: clock.now() }
    const page = await reader.list(workspaceId, query, { after, limit: pageSize })
    expect(page.items.length).toBeLessThanOrEqual(pageSize)
    items.push(...page.items)
    if (page.next === null) return items
    after = page.next
  }
}

const retentionOf = ({ engine, clock }: Store, kv: Kv = engine.kv) => {
  const { tenants } = createTenancy(engine, clock)
  return new UsageRetention(kv, new UsageReader(kv), tenants, clock, log)
}

describe.each(
  engines.filter(([name]) => name !== 'postgres' || (missing('postgres') === null && isEverythingAsked)),
)('with the engine %s', (_, open) => {
  it(`[USE-5] reads pages of any size with each item once (seed ${seed})`, {
    timeout: 60_000,
  }, async () => {
    const store = await storeOf(await open())
    await work(store, 72)
    for (const granularity of ['hour', 'day', 'month'] as const)
      for (const by of ['workspace', 'organization'] as const) {
        const whole = await listing(store, granularity, by)
        for (const size of [1, 2, 7]) expect(await listing(store, granularity, by, size)).toEqual(whole)
      }
    expect(await listing(store, 'day', 'organization')).toHaveLength(3 * organizations.length)
    // The time of these hours is in two months.
    const months = await listing(store, 'month', 'workspace')
    expect(months.map(({ bucket }) => new Date(bucket.start).toISOString().slice(0, 10))).toEqual([
      '2026-01-01',
      '2026-02-01',
    ])
  })

  it(`[USE-6] moves old hours to days and deletes old days, with the same sums, over failing commits and on several nodes (seed ${seed})`, {
    timeout: 60_000,
  }, async () => {
    const store = await storeOf(await open())
    await work(store, 60)
    const { engine, clock } = store
    const read = async () => ({
      days: await listing(store, 'day', 'organization'),
      months: await listing(store, 'month', 'organization'),
      all: await listing(store, 'day', 'workspace'),
    })
    const [hours, before] = [await listing(store, 'hour', 'workspace'), await read()]
    clock.advance(88 * msPerDay)
    await retentionOf(store).run()
    expect(await listing(store, 'hour', 'workspace')).toEqual(hours)
    clock.advance(3 * msPerDay)
    const random = new Random(seed + 1)
    const failing: Kv = {
      get: (part, keys) => engine.kv.get(part, keys),
      scan: (part, range) => engine.kv.scan(part, range),
      async commit(part, commit) {
        const outcome = random.below(3)
        if (outcome === 0) throw new StoreUnavailableError('not stored')
        const isStored = await engine.kv.commit(part, commit)
        if (outcome === 1) throw new StoreUnavailableError('stored, but the outcome is unknown')
        return isStored
      },
    }
    for (let round = 0; round < 6; round++) {
      await Promise.all(
        [failing, failing].map((kv) =>
          retentionOf(store, kv)
            .run()
            .catch((error: unknown) => expect(error).toBeInstanceOf(StoreUnavailableError)),
        ),
      )
      expect(totals(await read())).toEqual(totals(before))
    }
    await Promise.all([1, 2].map(() => retentionOf(store).run()))
    await retentionOf(store).run()
    expect(await read()).toEqual(before)
    expect(await listing(store, 'hour', 'workspace')).toEqual([])
    clock.advance(630 * msPerDay)
    await retentionOf(store).run()
    expect(totals(await read())).toEqual(totals(before))
    clock.advance(10 * msPerDay)
    await retentionOf(store).run()
    expect(await read()).toEqual({ days: [], months: [], all: [] })
  })
})

/** The counts of listings, without their peaks: while hours of a day are moved, they may be too high. */
const totals = (listings: Readonly<Record<string, readonly UsageItem[]>>) =>
  Object.values(listings).map((items) =>
    items.map(({ subject, bucket: { start: at, opened, openMs, updates, bytesSent, calls } }) => ({
      subject,
      at,
      opened,
      openMs,
      updates,
      bytesSent,
      calls,
    })),
  )

it('[USE-5] reads a month of hours in one page, with a bounded number of records in a page', async () => {
  const { engine, workspaceId } = await storeOf(await openMemoryEngine())
  const hours = 31 * 24
  const record = { opened: 1, peak: 1, openMs: 1, updates: 1, bytesSent: 1, calls: 1 }
  const writeNode = async (node: string) => {
    const puts = Array.from({ length: hours }, (_, hour) => ({
      key: hourKey(null, start + hour * msPerHour, node),
      value: encodeRecord({ node, ...record }),
    }))
    await engine.kv.commit(usagePart(workspaceId), { puts })
  }
  let [scans, entries] = [0, 0]
  const reader = new UsageReader({
    async scan(part, range) {
      const found = await engine.kv.scan(part, range)
      scans += 1
      entries += found.length
      return found
    },
  })
  const query = { granularity: 'hour', by: 'workspace', from: start, to: start + 31 * msPerDay } as const
  const page = async (after?: string) => {
    scans = 0
    entries = 0
    const { items, next } = await reader.list(workspaceId, query, { after, limit: 1_000 })
    expect(entries).toBeLessThanOrEqual(20_500)
    expect(scans).toBeLessThanOrEqual(42)
    return { updates: items.map(({ bucket }) => bucket.updates), next }
  }
  for (let node = 0; node < 10; node++) await writeNode(`n${node}`)
  expect(await page()).toEqual({ updates: Array.from({ length: hours }, () => 10), next: null })
  // With 30 nodes, the month has more records than a page may read.
  for (let node = 10; node < 30; node++) await writeNode(`n${node}`)
  const first = await page()
  expect(first.updates).toHaveLength(Math.ceil(20_000 / 30))
  const second = await page(first.next ?? undefined)
  expect([...first.updates, ...second.updates]).toEqual(Array.from({ length: hours }, () => 30))
  expect(second.next).toBeNull()
  // An item is complete, even if it has more records.
  const month = { ...query, granularity: 'month', from: Date.UTC(2026, 1, 1) } as const
  const { items } = await reader.list(workspaceId, month, { after: undefined, limit: 1 })
  expect(items[0]?.bucket.updates).toBe(28 * 24 * 30)
})
