import { expect, it } from 'vitest'
import { feedPart } from '../../../src/capabilities/feed/feed-records.ts'
import { FeedStore } from '../../../src/capabilities/feed/feed-store.ts'
import { Random } from '../../support/data/random-doc.ts'
import { seed } from '../../support/data/seed.ts'
import { eventOf, openFeed, tenant } from './feed-setup.ts'

/** Opens a feed with a copy of the records of another feed. */
async function copyOf({ engine }: Awaited<ReturnType<typeof openFeed>>) {
  const copy = await openFeed()
  const part = feedPart(tenant)
  for (const { key } of await copy.engine.kv.scan(part, { limit: 1_000 }))
    await copy.engine.kv.commit(part, { dels: [key] })
  await copy.engine.kv.commit(part, { puts: await engine.kv.scan(part, { limit: 1_000 }) })
  return copy
}

it(`[FEED-62] in a copy of the store with other later events, each cursor continues without a gap, or is rejected (seed ${seed})`, async () => {
  const random = new Random(seed)
  const results = { continued: 0, expired: 0, unknown: 0 }
  for (let round = 0; round < 60; round++) {
    const first = await openFeed()
    const shared = Array.from({ length: random.below(4) }, () => eventOf('comment.add'))
    await first.feed.writer.append(tenant, shared)
    const second = await copyOf(first)
    // Both histories have some events in common, also after the first difference.
    const common = Array.from({ length: 6 }, () => eventOf('comment.add'))
    const later = () => common.map((each) => (random.once(4) ? eventOf('comment.add') : each))
    const [ofFirst, ofSecond] = [
      [...shared, ...later()],
      [...shared, ...later()],
    ]
    await first.feed.writer.append(tenant, ofFirst.slice(shared.length))
    await second.feed.writer.append(tenant, ofSecond.slice(shared.length))
    const { events } = await first.feed.page(tenant, { start: 'oldest', limit: 100 }, 0)
    const trimmed = random.once(2) ? random.below(ofSecond.length) : 0
    await new FeedStore(second.engine).change(tenant, (change) =>
      change.trim(0, 100, ofSecond.length - trimmed),
    )
    const ids = ofSecond.map(({ id }) => id)
    for (const [index, { cursor }] of events.entries()) {
      const isSame = ofFirst.slice(0, index + 1).every(({ id }, at) => id === ids[at])
      const read = second.feed.page(tenant, { start: { cursor }, limit: 100 }, 0)
      const found = await read.then(
        (page) => page.events.map(({ id }) => id),
        ({ code }: { code: string }) => code,
      )
      const expected = isSame ? ids.slice(index + 1) : 'feed/cursor-unknown'
      expect(found, `round ${round}, event ${index}`).toEqual(
        index + 1 < trimmed ? 'feed/cursor-expired' : expected,
      )
      results[index + 1 < trimmed ? 'expired' : isSame ? 'continued' : 'unknown'] += 1
    }
  }
  for (const count of Object.values(results)) expect(count).toBeGreaterThan(10)
})
