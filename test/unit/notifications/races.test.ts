import { expect, it } from 'vitest'
import { NotificationService } from '../../../src/capabilities/notifications/notification-service.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'
import { plainNotification } from '../../support/data/notifications.ts'
import { HeldClock } from '../../support/time/clock.ts'

const scope = { ...tenant, organizationId: 'acme' }
const everybody = {
  ...plainNotification,
  displayHeadlineMessageTemplateData: {},
  notificationSourceData: {},
  notifyAll: true,
}
const userIds = Array.from({ length: 10 }, (_, index) => `user-${index}`)

async function openNotifications(engine: Engine) {
  const clock = new HeldClock()
  const directory = directoryOn(engine, clock)
  await directory.documents.ensure(scope, 'd1')
  const users = userIds.map((userId) => ({ userId }))
  await directory.users.add(scope, { type: 'organization', id: 'acme' }, users)
  return { directory, notifications: new NotificationService(directory.store, clock) }
}

it('[NOTE-13] removes a notification completely even if a user reads it while it is being deleted', async () => {
  const engine = await openMemoryEngine()
  const { notifications } = await openNotifications(engine)
  const outcomes = new Set<boolean | undefined>()
  for (let round = 0; round < 40; round++) {
    await notifications.add(scope, { ...everybody, id: 'n' })
    const reading = userIds.map((userId) =>
      notifications.update(scope, [{ id: 'n', readByUserIds: [userId] }]),
    )
    // Deletions begin at a different step of the update each time.
    for (let turn = 0; turn < round * 4; turn++) await Promise.resolve()
    const deleting = notifications.delete(scope, {}, ['n'])
    for (const results of await Promise.all(reading)) outcomes.add(results.n?.success)
    await deleting
    const entries = await engine.kv.scan(organizationPart(scope), { limit: 1_000 })
    expect(entries.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('notification'))).toEqual([])
  }
  expect(outcomes.size).toBe(2)
})

it('[NOTE-14] hides the notifications of a document as soon as its deletion starts', async () => {
  const engine = await openMemoryEngine()
  const destroyPrefix = () => new Promise<null>(() => {})
  const held: Engine = {
    ...engine,
    log: Object.assign(Object.create(engine.log) as Engine['log'], { destroyPrefix }),
  }
  const { directory, notifications } = await openNotifications(held)
  await notifications.add(scope, { ...everybody, id: 'n' })
  void directory.documents.delete(scope, ['d1'])
  await expect.poll(async () => (await directory.documents.get(scope, ['d1'])).length).toBe(0)
  for (const filter of [{}, { userId: 'user-1' }]) {
    const listing = { ...filter, order: 'asc', after: undefined, limit: 10 } as const
    expect(await notifications.list(scope, listing)).toEqual({ items: [], next: null })
    expect(await notifications.find(scope, filter, ['n'])).toEqual([])
  }
  expect(await notifications.update(scope, [{ id: 'n' }])).toMatchObject({ n: { success: false } })
  await expect(notifications.add(scope, { ...everybody, id: 'm' })).rejects.toMatchObject({
    status: 'NOT_FOUND',
  })
})
