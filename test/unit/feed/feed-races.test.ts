import { expect, it } from 'vitest'
import { FeedStore } from '../../../src/capabilities/feed/feed-store.ts'
import { FeedWriter } from '../../../src/capabilities/feed/feed-writer.ts'
import { allOf, eventOf, openFeed, tenant } from './feed-setup.ts'

it('[FEED-50] a writer that has an old configuration does not turn a feed on', async () => {
  const opened = await openFeed()
  const { services, engine, feed } = opened
  const before = await feed.config(tenant)
  const subscriptions = { feedOf: async () => before, outdatedMs: 0 }
  const writer = new FeedWriter({ ...services, subscriptions }, new FeedStore(engine))
  await writer.append(tenant, [eventOf('document.create')])
  expect(await allOf(opened)).toHaveLength(1)
  await feed.configure(tenant, { enabled: false })
  await writer.append(tenant, [eventOf('document.create')])
  await expect(allOf(opened)).rejects.toMatchObject({ code: 'feed/disabled' })
})

it('[FEED-51] a cursor whose next events are removed during the read has expired', async () => {
  let beforeScan: () => Promise<unknown> = async () => {}
  const opened = await openFeed((engine) => ({
    ...engine,
    kv: {
      ...engine.kv,
      get: (part, keys) => engine.kv.get(part, keys),
      commit: (part, change) => engine.kv.commit(part, change),
      scan: async (part, range) => {
        const work = beforeScan
        beforeScan = async () => {}
        await work()
        return engine.kv.scan(part, range)
      },
    },
  }))
  const { feed, clock, feedRemoval: removal } = opened
  for (let index = 0; index < 3; index += 1) {
    await feed.writer.append(tenant, [eventOf('document.create')])
    clock.advance(1_000)
  }
  const [first] = await allOf(opened)
  const after = { start: { cursor: first?.cursor ?? '' }, limit: 10 }
  expect((await feed.page(tenant, after, 0)).events).toHaveLength(2)
  // The second event is removed after the place of the cursor was found.
  beforeScan = () => removal.sweep(tenant, clock.now() - 1_000, async () => {})
  await expect(feed.page(tenant, after, 0)).rejects.toMatchObject({ code: 'feed/cursor-expired' })
})

it('[FEED-52] reads a limited number of bytes of large events at a time, and for one page', async () => {
  const reads: number[] = []
  const note = (values: readonly (Uint8Array | null)[]): void =>
    void reads.push(values.reduce((sum, value) => sum + (value?.length ?? 0), 0))
  const opened = await openFeed((engine) => ({
    ...engine,
    kv: {
      get: async (part, keys) => {
        const values = await engine.kv.get(part, keys)
        note(values)
        return values
      },
      scan: async (part, range) => {
        const entries = await engine.kv.scan(part, range)
        note(entries.map(({ value }) => value))
        return entries
      },
      commit: (part, change) => engine.kv.commit(part, change),
    },
  }))
  const data = { text: 'x'.repeat(250_000) }
  for (let index = 0; index < 60; index += 1)
    await opened.feed.writer.append(tenant, [eventOf('document.create', { data })])
  const found = { start: 'oldest', types: ['document.delete'], limit: 10 } as const
  for (const organizationId of [undefined, 'acme']) {
    reads.length = 0
    const first = await opened.feed.page(tenant, { ...found, organizationId }, 0)
    expect(first).toMatchObject({ events: [], isEnd: false })
    expect(Math.max(...reads)).toBeLessThan(6_000_000)
    expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(8_000_000)
  }
})
