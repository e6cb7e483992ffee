import { describe, expect, it } from 'vitest'
import { FeedStore } from '../../../src/capabilities/feed/feed-store.ts'
import { keys } from '../../../src/core/directory/organizations/organization-keys.ts'
import { addressKey } from '../../../src/core/model/address.ts'
import {
  addOrganization,
  address,
  allOf,
  appendUpdates,
  changeOf,
  eventOf,
  type OpenFeed,
  openFeed,
  scope,
  tenant,
} from './feed-setup.ts'

const goOn = async (): Promise<void> => {}
const add = async ({ feed }: OpenFeed, count: number): Promise<void> =>
  feed.writer.append(
    tenant,
    Array.from({ length: count }, () => eventOf('comment.add')),
  )

/** Returns all keys of the partition of the feed. */
const storedKeys = async ({ engine }: OpenFeed): Promise<readonly string[]> =>
  (await engine.kv.scan(['feed', 'w', 'k'], { limit: 10_000 })).map(({ key }) => key.join('/'))

describe('age and number', () => {
  it('[FEED-30] removes the events that are too old, and their cursors expire', async () => {
    const opened = await openFeed()
    const { feed, clock, feedRemoval: removal } = opened
    await feed.configure(tenant, { keepSeconds: 60 })
    await add(opened, 3)
    const [first] = await allOf(opened)
    clock.advance(30_000)
    await add(opened, 2)
    clock.advance(31_000)
    expect(await removal.sweep(tenant, clock.now() - 60_000, goOn)).toBe(true)
    const kept = await allOf(opened)
    expect(kept).toHaveLength(2)
    const read = feed.page(tenant, { start: { cursor: first?.cursor ?? '' }, limit: 10 }, 0)
    await expect(read).rejects.toMatchObject({ code: 'feed/cursor-expired' })
    expect((await storedKeys(opened)).filter((key) => key.startsWith('naming'))).toHaveLength(2)
    clock.advance(60_000)
    expect(await removal.sweep(tenant, clock.now() - 60_000, goOn)).toBe(false)
    expect(await storedKeys(opened)).toEqual(['state'])
    // A cursor at the end is still valid, because nothing after it was removed.
    const { events } = await feed.page(tenant, { start: { cursor: kept.at(-1)?.cursor ?? '' }, limit: 10 }, 0)
    expect(events).toEqual([])
  })

  it('[FEED-30] each append removes old events', async () => {
    const opened = await openFeed()
    await opened.feed.configure(tenant, { keepSeconds: 60 })
    for (let round = 0; round < 20; round++) {
      await add(opened, 5)
      opened.clock.advance(20_000)
    }
    expect((await allOf(opened)).length).toBeLessThanOrEqual(20)
  })

  it('[FEED-30] removes the oldest events above the maximum number', async () => {
    const opened = await openFeed()
    await add(opened, 50)
    const all = await allOf(opened)
    const store = new FeedStore(opened.engine)
    while (await store.change(tenant, (change) => change.trim(0, 7, 20)));
    expect(await allOf(opened)).toEqual(all.slice(30))
  })

  it('[FEED-3] a feed that is off loses all records, but not while it is on', async () => {
    const opened = await openFeed()
    await add(opened, 30)
    const store = new FeedStore(opened.engine)
    expect(await store.purge(tenant, 7)).toBe(false)
    expect(await allOf(opened)).toHaveLength(30)
    await opened.feed.configure(tenant, { enabled: false })
    while (await store.purge(tenant, 7));
    expect(await storedKeys(opened)).toEqual([])
  })

  it('[FEED-3] a feed that is turned on again removes the events from before', async () => {
    const opened = await openFeed()
    await add(opened, 10)
    await opened.feed.configure(tenant, { enabled: false })
    await opened.feed.configure(tenant, { enabled: true })
    await add(opened, 2)
    expect(await allOf(opened)).toHaveLength(2)
    await opened.feedRemoval.sweep(tenant, opened.clock.now() - 1_000, goOn)
    expect((await storedKeys(opened)).filter((key) => key.startsWith('entries'))).toHaveLength(2)
  })
})

describe('users', () => {
  it('[FEED-31] an erased user is in no event any more, and the other users stay', async () => {
    const opened = await openFeed()
    const { engine, feed, feedRemoval: removal } = opened
    await appendUpdates(engine, ['ann', 'bob'])
    const user = { userId: 'ann', name: 'Ann' }
    await feed.writer.append(tenant, [
      changeOf(),
      eventOf('presence.join', { actionUser: user, data: { user } }),
      eventOf('comment.add', { actionUser: { userId: 'bob' }, data: { comment: { from: user } } }),
      eventOf('document.create', { actionUser: { userId: 'bob' } }),
    ])
    const first = await removal.listOfUser(scope, 'ann', { after: undefined, limit: 2 })
    expect(first.items).toHaveLength(2)
    const second = await removal.listOfUser(scope, 'ann', { after: first.next ?? '', limit: 2 })
    expect(second.items.map(({ type }) => type)).toEqual(['crdt.update_data'])
    while ((await removal.eraseUser(scope, 'ann')) > 0);
    const events = await allOf(opened)
    expect(events).toHaveLength(4)
    expect(JSON.stringify(events)).not.toMatch(/ann/i)
    expect(JSON.stringify(events).match(/bob/g)).toHaveLength(3)
    expect((await storedKeys(opened)).filter((key) => key.includes('ann'))).toEqual([])
    expect((await removal.listOfUser(scope, 'bob', { after: undefined, limit: 10 })).items).toHaveLength(3)
  })
})

describe('organizations', () => {
  it('[FEED-32] a deleted organization leaves only its deletion, and cursors stay valid', async () => {
    const opened = await openFeed()
    const { engine, feed, store: organizations, feedRemoval: removal } = opened
    await appendUpdates(engine, ['ann'])
    await add(opened, 450)
    await feed.writer.append(tenant, [changeOf()])
    const before = await allOf(opened)
    await organizations.change(scope, async (transaction) => transaction.delete(keys.organization))
    for (let repetition = 0; repetition < 2; repetition++) await removal.forgetOrganization(scope, goOn)
    const left = await allOf(opened)
    expect(left).toMatchObject([{ type: 'organization.delete', organizationId: 'acme' }])
    const middle = before[200]?.cursor ?? ''
    expect((await feed.page(tenant, { start: { cursor: middle }, limit: 10 }, 0)).events).toEqual(left)
    // An event that is added late is removed, and a new organization with the same id has its own events.
    await add(opened, 1)
    expect(new Set((await allOf(opened)).map(({ type }) => type))).toEqual(new Set(['organization.delete']))
    await addOrganization(organizations)
    await add(opened, 1)
    expect((await allOf(opened)).at(-1)?.type).toBe('comment.add')
  })

  it('[FEED-32] a deleted document leaves no position of its editors', async () => {
    const opened = await openFeed()
    await appendUpdates(opened.engine, ['ann'])
    await opened.feed.writer.append(tenant, [changeOf()])
    await opened.engine.log.destroy(addressKey(address))
    await opened.feedRemoval.forgetDocument(scope, 'd', goOn)
    expect((await storedKeys(opened)).filter((key) => key.startsWith('editors'))).toEqual([])
    expect(await allOf(opened)).toHaveLength(1)
  })
})
