import { expect, it } from 'vitest'
import { createUsage } from '../../../src/capabilities/usage/index.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { StorageQuota } from '../../../src/core/directory/storage-quota.ts'
import { createTenancy } from '../../../src/core/directory/tenants/tenancy.ts'
import { createMetrics } from '../../../src/core/metrics/metrics.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock, turnsDuring } from '../../support/time/clock.ts'

const organizations = 5_000
/** Maximum number of records that one tick of the event loop stores. */
const recordsPerTick = 500
const ticksMin = organizations / recordsPerTick

/** Counts an update of each organization of two workspaces. */
async function startMetering() {
  const clock = new HeldClock(Date.UTC(2026, 10, 27, 12))
  const engine = await openMemoryEngine({ clock })
  const log = createLog('silent')
  const { tenants } = createTenancy(engine, clock)
  const storage = new StorageQuota({ engine, tenants, clock, log, metrics: createMetrics(), bytesMax: 0 })
  const { meter, reader } = createUsage({ engine, storage, tenants, clock, log })
  const count = (): void => {
    for (const workspaceId of ['w', 'v'])
      for (let index = 0; index < organizations; index++) {
        const counter = meter.hold({ workspaceId, apiKey: 'k', organizationId: `o${index}` })
        counter.updates += 1
        counter.release()
      }
  }
  /** Returns the stored updates of all organizations of a workspace. */
  const stored = async (workspaceId: string): Promise<number> => {
    const query = { granularity: 'day', from: 0, to: clock.now() + 1, by: 'organization' } as const
    let sum = 0
    let after: string | undefined
    do {
      const { items, next } = await reader.list(workspaceId, query, { after, limit: 1_000 })
      for (const { bucket } of items) sum += bucket.updates
      after = next ?? undefined
    } while (after !== undefined)
    return sum
  }
  return { clock, engine, meter, reader, count, stored }
}

it('[USE-35] stores the counts of many organizations in slices, so that other work runs in between', async () => {
  const { engine, meter, count, stored } = await startMetering()
  count()
  const write = async (): Promise<void> => {
    await Promise.all([meter.write('w'), meter.write('v')])
  }
  expect(await turnsDuring(write)).toBeGreaterThanOrEqual(ticksMin)
  expect([await stored('w'), await stored('v')]).toEqual([organizations, organizations])
  // Nothing has changed, so nothing is stored again.
  expect(await turnsDuring(write)).toBeLessThan(ticksMin)
  count()
  await write()
  expect(await stored('w')).toBe(2 * organizations)
  await engine.close()
})

it('[USE-35] stores the counts of an ended hour in slices, and loses none', async () => {
  const { clock, engine, meter, count, stored } = await startMetering()
  count()
  clock.advance(3_600_000)
  count()
  expect(await turnsDuring(() => meter.stop())).toBeGreaterThanOrEqual(4 * ticksMin)
  expect([await stored('w'), await stored('v')]).toEqual([2 * organizations, 2 * organizations])
  await engine.close()
})

it('[USE-36] ends the hour of many workspaces in slices, and a workspace that is used meanwhile before its use', async () => {
  const { clock, engine, meter, reader } = await startMetering()
  const held = Array.from({ length: 10_000 }, (_, index) => meter.holdRest(`w${index}`))
  for (const counter of held) counter.updates += 1
  const last = held.at(-1) as (typeof held)[number]
  const isEnded = (counter: typeof last): boolean => counter.updates === 0
  clock.advance(3_600_000)
  meter.holdRest('w0').release()
  // A counter starts from 0 in the next hour.
  const ended = [held.filter(isEnded).length]
  expect(isEnded(last)).toBe(false)
  last.enter()
  expect(isEnded(last)).toBe(true)
  last.updates += 2
  while (ended.at(-1) !== held.length - 1) {
    await new Promise(setImmediate)
    ended.push(held.filter(isEnded).length)
  }
  const perTick = ended.map((count, index) => count - (ended[index - 1] ?? 0))
  expect(Math.max(...perTick)).toBeLessThanOrEqual(recordsPerTick + 1)
  await meter.write(`w${held.length - 1}`)
  const query = { granularity: 'hour', from: 0, to: clock.now() + 1, by: 'workspace' } as const
  const { items } = await reader.list(`w${held.length - 1}`, query, { after: undefined, limit: 10 })
  expect(items.map(({ bucket: { updates, opened } }) => ({ updates, opened }))).toEqual([
    { updates: 1, opened: 0 },
    { updates: 2, opened: 1 },
  ])
  for (const counter of held) counter.release()
  await engine.close()
})
