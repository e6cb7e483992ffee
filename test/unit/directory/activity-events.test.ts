import { afterEach, beforeEach, expect, it } from 'vitest'
import { OrganizationStore } from '../../../src/core/directory/organizations/organization-store.ts'
import { ActivityService } from '../../../src/core/directory/services/activity-service.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import { decodeQueuedEvent, eventQueue } from '../../../src/core/events/outbound-event.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'acme')

let directory: OpenDirectory
let activities: ActivityService
beforeEach(async () => {
  directory = await openDirectory()
  await directory.organizations.ensure(scope)
  await directory.documents.add(scope, [{ documentId: 'd1' }], { createFolder: false })
  const events = new EventRecorder(directory.clock, () => true)
  activities = new ActivityService(new OrganizationStore(directory.engine, events), events)
})
afterEach(() => directory.close())

const told = async () => {
  const jobs = await directory.engine.queue.claim(eventQueue, 1_000, 10_000)
  for (const { token } of jobs) await directory.engine.queue.done(token)
  return jobs.map(({ payload }) => decodeQueuedEvent(payload).type)
}
const activity = (id: string, actionType: string) => ({
  id,
  featureType: 'recorder' as const,
  actionType,
  actionUser: { userId: 'ann' },
})

it('[ACT-16] sends the events of huddles and recordings only once', async () => {
  const add = (...given: readonly ReturnType<typeof activity>[]) => activities.add(scope, 'd1', given)
  await add(activity('h', 'huddle.create'), activity('j', 'huddle.join'), activity('r', 'recorder.start'))
  expect((await told()).toSorted()).toEqual(['huddle.create', 'huddle.join'])
  // A client repeats a call whose response it did not receive.
  await add(activity('h', 'huddle.create'))
  await activities.update(scope, 'd1', [{ id: 'j', displayMessageTemplate: '{{user}} joined' }])
  expect(await told()).toEqual([])
  for (let again = 0; again < 2; again++)
    await activities.update(scope, 'd1', [{ id: 'r', actionType: 'recorder.done' }])
  expect(await told()).toEqual(['recorder.done'])
})
