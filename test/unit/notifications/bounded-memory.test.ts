import { expect, it } from 'vitest'
import { notificationLimits } from '../../../src/capabilities/notifications/limits.ts'
import { NotificationService } from '../../../src/capabilities/notifications/notification-service.ts'
import type { Engine, Kv } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'
import { plainNotification } from '../../support/data/notifications.ts'
import { holdable } from '../../support/stores/pausable-engine.ts'
import { HeldClock } from '../../support/time/clock.ts'

const scope = { ...tenant, organizationId: 'acme' }

/** A real engine that measures the most bytes read or written at once. */
function measured(engine: Engine): { readonly engine: Engine; readonly largest: () => number } {
  let largest = 0
  const see = (values: readonly (Uint8Array | null)[]): void => {
    const bytes = values.reduce((sum, value) => sum + (value?.length ?? 0), 0)
    largest = Math.max(largest, bytes)
  }
  const { kv } = engine
  const seen: Kv = {
    scan: (part, range) => kv.scan(part, range),
    get: async (part, keys) => {
      const values = await kv.get(part, keys)
      see(values)
      return values
    },
    commit: (part, commit) => {
      see((commit.puts ?? []).map(({ value }) => value))
      return kv.commit(part, commit)
    },
  }
  return { engine: { ...holdable(engine), kv: seen }, largest: () => largest }
}

it('[NOTE-18] reads and writes only a limited number of large notifications at a time', async () => {
  const { engine, largest } = measured(await openMemoryEngine())
  const clock = new HeldClock()
  const directory = directoryOn(engine, clock)
  await directory.documents.ensure(scope, 'd1')
  const notifications = new NotificationService(directory.store, clock)
  const ids = Array.from({ length: 120 }, (_, index) => `n${index}`)
  const text = 'x'.repeat(100_000)
  for (const id of ids)
    await notifications.add(scope, {
      ...plainNotification,
      displayHeadlineMessageTemplateData: {},
      notificationSourceData: { text },
      notifyAll: true,
      id,
    })
  const page = await notifications.list(scope, { order: 'asc', after: undefined, limit: 100 })
  const results = await notifications.update(
    scope,
    ids.map((id) => ({ id, displayBodyMessage: 'other' })),
  )
  expect(page.items.length).toBeGreaterThan(50)
  expect(Object.values(results).every(({ success }) => success)).toBe(true)
  expect(largest()).toBeLessThan((notificationLimits.together + 1) * (text.length + 1_000))
})
