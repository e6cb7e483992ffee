import { expect, it } from 'vitest'
import { deliveryLimits } from '../../../src/capabilities/webhooks/deliveries/delivery-records.ts'
import { DeliveryService } from '../../../src/capabilities/webhooks/deliveries/delivery-service.ts'
import { DeliveryStore } from '../../../src/capabilities/webhooks/deliveries/delivery-store.ts'
import { delayAfter } from '../../../src/capabilities/webhooks/sending/failed-attempts.ts'
import { EventIds, orderAt, orderOf, type QueuedEvent } from '../../../src/core/events/outbound-event.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const address = { workspaceId: 'w', apiKey: 'k', targetId: 'ep_1' }
const isOff = async () => true
const never = { retryAfter: () => null, exhausted: () => null }

async function open(pending = 3) {
  const clock = new HeldClock()
  const { kv, bus, queue } = await openMemoryEngine({ clock })
  const store = new DeliveryStore(kv)
  const ids = new EventIds()
  const event = (documentId: string): QueuedEvent => ({
    id: ids.next(clock.now()),
    at: clock.now(),
    scope: { workspaceId: 'w', apiKey: 'k', organizationId: 'acme' },
    type: 'document.create',
    documentId,
    actionUser: { userId: 'ann' },
    data: { documentId },
  })
  /** The same service with another limit. */
  const more = (pending: number) => new DeliveryService(store, bus, clock, { ...deliveryLimits, pending })
  return { clock, queue, store, event, more, deliveries: more(pending) }
}

/** Document ids of due messages. */
async function documentIds(deliveries: DeliveryService): Promise<readonly (string | null | undefined)[]> {
  const due = await deliveries.due(address, 10)
  const events = await Promise.all(due.map(({ id }) => deliveries.eventOf(address, id)))
  return events.map((event) => event?.documentId)
}

it('[HOOK-216] when an event is enqueued again, changes nothing, regardless of the state of its message', async () => {
  const { event, deliveries, queue } = await open()
  const [first, second] = [event('a'), event('b')]
  await deliveries.enqueue(address, [first])
  const [due] = await deliveries.due(address, 10)
  const attempt = { at: 1, httpStatus: 200, durationMs: 1, error: null }
  await deliveries.record(address, [{ messageId: due?.id as string, attempt }], never)
  const [job] = await queue.claim('webhooks', 10, 1_000)
  await queue.done(job?.token as string)
  await deliveries.enqueue(address, [first])
  expect(await deliveries.due(address, 10)).toEqual([])
  expect(await queue.claim('webhooks', 10, 1_000)).toEqual([])
  await deliveries.enqueue(address, [first, second])
  expect(await documentIds(deliveries)).toEqual(['b'])
  expect(await deliveries.state(address)).toMatchObject({ pending: 1 })
})

it('[HOOK-217] when more messages wait than allowed, fails the oldest ones with the reason', async () => {
  const { event, deliveries } = await open(3)
  await deliveries.enqueue(address, [event('a'), event('b')])
  await deliveries.enqueue(address, [event('c'), event('d'), event('e')])
  expect(await documentIds(deliveries)).toEqual(['c', 'd', 'e'])
  expect(await deliveries.state(address)).toMatchObject({ pending: 3 })
  const { items } = await deliveries.list(address, 'failed', null, 10)
  expect(items.map(({ reason }) => reason)).toEqual([
    'too many messages are waiting',
    'too many messages are waiting',
  ])
})

it('[HOOK-223] reports each message that fails before its last attempt only once', async () => {
  const { event, deliveries } = await open(2)
  const dropped: unknown[] = []
  deliveries.onDropped((target, outcome, messages) => dropped.push([target, outcome, messages.length]))
  const first = await deliveries.send(address, event('a'))
  await deliveries.enqueue(address, [event('b')])
  await deliveries.enqueue(address, [event('c'), event('d')])
  expect(dropped).toEqual([[address, 'overflow', 2]])
  const attempt = { at: 1, httpStatus: 500, durationMs: 1, error: 'no' }
  const { messages } = await deliveries.record(address, [{ messageId: first, attempt }], never)
  expect(messages).toEqual([null])
  expect(await deliveries.failDisabled(address, isOff)).toBe(2)
  expect(await deliveries.failDisabled(address, isOff)).toBe(0)
  expect(dropped.slice(1)).toEqual([[address, 'disabled', 2]])
})

it('[HOOK-204] fails no message that arrives when its endpoint is enabled again', async () => {
  const { event, deliveries } = await open()
  await deliveries.enqueue(address, [event('before')])
  let isOn = false
  const isOff = async () => {
    if (isOn) return false
    isOn = true
    await deliveries.enqueue(address, [event('after')])
    return true
  }
  expect(await deliveries.failDisabled(address, isOff)).toBe(0)
  expect(await documentIds(deliveries)).toEqual(['before', 'after'])
})

it('[CALL-60] removes no message to store that arrives when the callback is configured again', async () => {
  const { event, deliveries, store } = await open()
  const change = (documentId: string): QueuedEvent => ({
    ...event(documentId),
    type: 'crdt.update_data',
    data: { editorId: 'main' },
    only: 'feed',
  })
  await deliveries.enqueueStore(address, [change('a')], 0)
  await store.clear(address, isOff, async () => {})
  expect(await documentIds(deliveries)).toEqual([])
  expect(await deliveries.state(address)).toMatchObject({ pending: 0 })
  await deliveries.enqueueStore(address, [change('b')], 0)
  for (const documentId of ['b', 'c']) {
    let isOn = false
    const isOffFirst = async () => {
      if (isOn) return false
      isOn = true
      await deliveries.enqueueStore(address, [change(documentId)], 0)
      return true
    }
    await store.clear(address, isOffFirst, async () => {})
  }
  expect((await documentIds(deliveries)).toSorted()).toEqual(['b', 'c'])
})

it('[HOOK-244] recover requeues at most as many messages as may wait, and fails none of them', async () => {
  const { event, deliveries } = await open(3)
  const failing = { at: 1, httpStatus: 500, durationMs: 1, error: 'no' }
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    const messageId = await deliveries.send(address, event(name))
    await deliveries.record(address, [{ messageId, attempt: failing }], never)
  }
  expect(await deliveries.recover(address, 0)).toBe(3)
  expect(await documentIds(deliveries)).toEqual(['a', 'b', 'c'])
  expect(await deliveries.recover(address, 0)).toBe(0)
  expect(await deliveries.state(address)).toMatchObject({ pending: 3 })
})

it('[HOOK-244] when far more messages wait than allowed, fails a limited number of them per commit', async () => {
  const { event, deliveries, more } = await open(1_000)
  const events = Array.from({ length: 1_000 }, (_, at) => event(`d${at}`))
  await deliveries.enqueue(address, events)
  const strict = more(10)
  await strict.enqueue(address, [event('one more')])
  expect(await strict.state(address)).toMatchObject({ pending: 800 })
  for (let times = 0; times < 5; times++) await strict.enqueue(address, [event(`again ${times}`)])
  expect(await strict.state(address)).toMatchObject({ pending: 10 })
})

it('creates event ids that sort in the order of their creation', () => {
  const ids = new EventIds()
  const made = [5, 5, 5, 6, 1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_001].map((at) => ids.next(at))
  expect(made.toSorted()).toEqual(made)
  expect(new Set(made).size).toBe(made.length)
  expect(orderOf(made[3] as string) >= orderAt(6)).toBe(true)
  expect(orderOf(made[2] as string) < orderAt(6)).toBe(true)
})

it('[HOOK-202] varies the delay before a retry by at most a tenth in both directions', () => {
  expect(delayAfter(1, 0)).toBe(4_500)
  expect(delayAfter(1, 1)).toBe(5_500)
  expect(delayAfter(7, 0.5)).toBe(36_000_000)
  expect(delayAfter(8, 0.5)).toBeNull()
})
