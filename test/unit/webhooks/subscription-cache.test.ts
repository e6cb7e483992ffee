import { expect, it } from 'vitest'
import type { SubscriptionCache } from '../../../src/capabilities/webhooks/subscription-cache.ts'
import { eventTypes } from '../../../src/core/events/outbound-event.ts'
import type { Tenant } from '../../../src/core/model/address.ts'
import type { Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { LocalBus } from '../../../src/core/store/single-node.ts'
import { tenant } from '../../support/data/directory.ts'
import { newEndpoint, openProcess, processOn, toldEvent } from './subscription-setup.ts'

const neighbor: Tenant = { workspaceId: 'workspace', apiKey: 'key2' }

/** Wanted event types after a read, because `targetsOf` caches what it reads. */
async function wantedTypes(subscriptions: SubscriptionCache, of: Tenant = tenant) {
  await subscriptions.targetsOf(of, toldEvent())
  return eventTypes.filter((type) => subscriptions.wanted(of, type))
}

/** A bus that loses messages on request. */
class LossyBus extends LocalBus {
  readonly #listeners: (() => void)[] = []
  isDeaf = false
  override publish(topic: string, message: Uint8Array): void {
    if (!this.isDeaf) super.publish(topic, message)
  }
  override onLoss(listener?: () => void): () => undefined {
    if (listener !== undefined) this.#listeners.push(listener)
    return () => undefined
  }
  lose(): void {
    for (const listener of this.#listeners) listener()
  }
}

it('[HOOK-40] wants every event before the first read, and afterwards only events that a subscriber wants', async () => {
  const { subscriptions, configs } = await openProcess()
  expect(eventTypes.every((type) => subscriptions.wanted(tenant, type))).toBe(true)
  await expect.poll(() => subscriptions.wanted(tenant, 'comment.add')).toBe(false)
  expect(await wantedTypes(subscriptions)).toEqual([])
  await configs.updateBasic(neighbor, {
    useWebhookService: true,
    webhookServiceConfig: { rawNotificationUrl: 'https://a.test' },
  })
  expect(await wantedTypes(subscriptions)).toEqual([])
  expect(await wantedTypes(subscriptions, neighbor)).toContain('comment.add')
})

it('[HOOK-41] applies a change immediately in the process that made it, without the bus', async () => {
  const bus = new LossyBus()
  bus.isDeaf = true
  const { subscriptions, configs, endpoints } = processOn(await openMemoryEngine(), bus)
  const basic = (useWebhookService: boolean, rawNotificationUrl: string) =>
    configs.updateBasic(tenant, { useWebhookService, webhookServiceConfig: { rawNotificationUrl } })
  /** The result right after the change, and after a read. */
  const after = async (change: Promise<unknown>) => {
    await wantedTypes(subscriptions)
    await change
    const atOnce = subscriptions.wanted(tenant, 'comment.add')
    return [atOnce, (await wantedTypes(subscriptions)).includes('comment.add')]
  }
  expect(await after(basic(true, ''))).toEqual([true, false])
  expect(await after(basic(true, 'https://a.test'))).toEqual([true, true])
  expect(await after(basic(false, 'https://a.test'))).toEqual([true, false])
  expect(await after(configs.updateAdvanced(tenant, { isEnabled: true }))).toEqual([true, false])
  const { id } = await endpoints.create(tenant, newEndpoint({ filterTypes: ['comment.update'] }))
  expect(await wantedTypes(subscriptions)).toEqual(['comment.update'])
  expect(await after(endpoints.update(tenant, id, { filterTypes: null }))).toEqual([true, true])
  expect(await after(endpoints.update(tenant, id, { disabled: true }))).toEqual([true, false])
  expect(await after(endpoints.update(tenant, id, { disabled: false }))).toEqual([true, true])
  expect(await after(endpoints.disable(tenant, id, 'gone'))).toEqual([true, false])
  await endpoints.update(tenant, id, { disabled: false })
  expect(await after(configs.updateAdvanced(tenant, { isEnabled: false }))).toEqual([true, false])
  await configs.updateAdvanced(tenant, { isEnabled: true })
  expect(await after(endpoints.delete(tenant, id))).toEqual([true, false])
})

it('[HOOK-41] does not cache the result of a read if a change occurred during the read', async () => {
  const engine = await openMemoryEngine()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    commit: (part, commit) => engine.kv.commit(part, commit),
    scan: async (part, range) => {
      const found = await engine.kv.scan(part, range)
      await held
      return found
    },
  }
  const { subscriptions, configs } = processOn({ ...engine, kv }, engine.bus)
  subscriptions.wanted(tenant, 'comment.add')
  const late = subscriptions.targetsOf(tenant, toldEvent())
  await configs.updateBasic(tenant, {
    useWebhookService: true,
    webhookServiceConfig: { rawNotificationUrl: 'https://a.test' },
  })
  release()
  await late
  expect(subscriptions.wanted(tenant, 'comment.add')).toBe(true)
  expect(await wantedTypes(subscriptions)).toContain('comment.add')
})

it('[HOOK-42] other processes apply a change after a message about it or a possible message loss, and use the stored targets', async () => {
  const [engine, bus] = [await openMemoryEngine(), new LossyBus()]
  const [one, other] = [processOn(engine, bus), processOn(engine, bus)]
  const turnOn = (useWebhookService: boolean) =>
    one.configs.updateBasic(tenant, {
      useWebhookService,
      webhookServiceConfig: { rawNotificationUrl: 'https://a.test' },
    })
  expect(await wantedTypes(other.subscriptions)).toEqual([])
  await turnOn(true)
  await Promise.resolve()
  expect(other.subscriptions.wanted(tenant, 'comment.add')).toBe(true)
  expect(await wantedTypes(other.subscriptions)).toContain('comment.add')
  await turnOn(false)
  expect(await wantedTypes(other.subscriptions)).toEqual([])
  bus.isDeaf = true
  await turnOn(true)
  expect(other.subscriptions.wanted(tenant, 'comment.add')).toBe(false)
  bus.lose()
  expect(other.subscriptions.wanted(tenant, 'comment.add')).toBe(true)
  await wantedTypes(other.subscriptions)
  await turnOn(false)
  expect(await other.subscriptions.targetsOf(tenant, toldEvent())).toEqual([])
  await turnOn(true)
  expect((await other.subscriptions.targetsOf(tenant, toldEvent())).map(({ id }) => id)).toEqual([
    'basic-raw',
  ])
})

it('[HOOK-43] limits the bytes of the cache, and reads evicted entries again', async () => {
  const engine = await openMemoryEngine()
  const { subscriptions } = processOn(engine, engine.bus, 5_000)
  const tenants = Array.from({ length: 50 }, (_, index) => ({ workspaceId: 'w', apiKey: `k${index}` }))
  for (const each of tenants) await subscriptions.targetsOf(each, toldEvent())
  const known = tenants.filter((each) => !subscriptions.wanted(each, 'comment.add'))
  expect(known.length).toBeGreaterThan(0)
  expect(known.length).toBeLessThan(10)
  expect(known).toContain(tenants.at(-1))
  // The queries above have made it read all tenants again.
  await Promise.all(tenants.map((each) => subscriptions.targetsOf(each, toldEvent())))
  expect(await wantedTypes(subscriptions, tenants[0])).toEqual([])
  // An entry that was dropped while it was read takes no room.
  for (const each of tenants) {
    const late = subscriptions.targetsOf(each, toldEvent())
    subscriptions.forget(each)
    await late
  }
  expect(await wantedTypes(subscriptions)).toEqual([])
})

it('[HOOK-42] reads a change only once for many concurrent callers', async () => {
  const engine = await openMemoryEngine()
  let scans = 0
  const kv: Kv = {
    get: (part, keys) => engine.kv.get(part, keys),
    commit: (part, commit) => engine.kv.commit(part, commit),
    scan: (part, range) => {
      scans += 1
      return engine.kv.scan(part, range)
    },
  }
  const bus = new LossyBus()
  bus.isDeaf = true
  const [reader, other] = [processOn({ ...engine, kv }, bus), processOn(engine, bus)]
  const ask = () =>
    Promise.all(Array.from({ length: 100 }, () => reader.subscriptions.targetsOf(tenant, toldEvent())))
  expect(new Set((await ask()).map(({ length }) => length))).toEqual(new Set([0]))
  await other.configs.updateBasic(tenant, {
    useWebhookService: true,
    webhookServiceConfig: { rawNotificationUrl: 'https://a.test' },
  })
  expect(new Set((await ask()).map(({ length }) => length))).toEqual(new Set([1]))
  expect(scans).toBe(2)
})

it('[HOOK-40] while the store is unavailable, wants every event, and afterwards only the subscribed events', async () => {
  const engine = await openMemoryEngine()
  let isAway = true
  const kv: Kv = {
    get: async (part, keys) => {
      if (isAway) throw new Error('away')
      return engine.kv.get(part, keys)
    },
    commit: (part, commit) => engine.kv.commit(part, commit),
    scan: (part, range) => engine.kv.scan(part, range),
  }
  const { subscriptions } = processOn({ ...engine, kv }, engine.bus)
  expect(subscriptions.wanted(tenant, 'comment.add')).toBe(true)
  await expect(subscriptions.targetsOf(tenant, toldEvent())).rejects.toThrow('away')
  expect(subscriptions.wanted(tenant, 'comment.add')).toBe(true)
  isAway = false
  await expect.poll(() => subscriptions.wanted(tenant, 'comment.add')).toBe(false)
})
