import { expect, it } from 'vitest'
import { EventListeners, Fanout } from '../../../src/capabilities/webhooks/sending/fanout.ts'
import { StoreUnavailableError } from '../../../src/core/store/engine.ts'
import { allOf, eventOf, openFeed } from './feed-setup.ts'

/** Creates a fan-out whose feed fails before it adds events, once for each of the given errors. */
async function openFanout(errors: Error[]) {
  const opened = await openFeed()
  const { services, feed } = opened
  const append: typeof feed.writer.append = async (...given) => {
    const error = errors.shift()
    if (error !== undefined) throw error
    await feed.writer.append(...given)
  }
  const listeners = new EventListeners(services.log)
  const fanout = new Fanout({ ...services, tracer: undefined, listeners, feed: { writer: { append } } })
  return { opened, fanout }
}

it('[FEED-12] events wait until the store is available again, so that later events do not overtake them', async () => {
  const { opened, fanout } = await openFanout(
    Array.from({ length: 6 }, () => new StoreUnavailableError('away')),
  )
  const [first, second] = [eventOf('document.create'), eventOf('document.delete')]
  expect(await fanout.tell([first], 1_000, () => false)).toEqual(new Set())
  expect(await fanout.tell([second], 1_000, () => false)).toEqual(new Set())
  expect((await allOf(opened)).map(({ id }) => id)).toEqual([first.id, second.id])
})

it('[FEED-12] events that cannot be added for another reason, or because the server stops, are tried again later', async () => {
  const errors = Array.from({ length: 4 }, () => new Error('broken'))
  const { opened, fanout } = await openFanout(errors)
  const event = eventOf('document.create')
  expect(await fanout.tell([event], 1_000, () => false)).toEqual(new Set([event]))
  expect(errors).toEqual([])
  expect(await fanout.tell([event], 1_000, () => true)).toEqual(new Set([event]))
  expect(await allOf(opened)).toEqual([])
  expect(await fanout.tell([event], 1_000, () => false)).toEqual(new Set())
  expect(await allOf(opened)).toHaveLength(1)
})
