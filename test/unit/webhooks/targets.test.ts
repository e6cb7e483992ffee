import { expect, it } from 'vitest'
import { eventTypes } from '../../../src/core/events/outbound-event.ts'
import { signingSecrets } from '../../../src/core/outgoing/sign.ts'
import { tenant } from '../../support/data/directory.ts'
import { newEndpoint, openProcess, toldEvent } from './subscription-setup.ts'

/** Services with advanced webhooks enabled, whose endpoints have uids. */
async function openTargets() {
  const process = await openProcess()
  const { subscriptions, endpoints, configs } = process
  await configs.updateAdvanced(tenant, { isEnabled: true })
  return {
    ...process,
    add: (uid: string, more: object = {}) => endpoints.create(tenant, newEndpoint({ uid, ...more })),
    /** The targets of an event in the order of their names. */
    told: async (more: object = {}) =>
      (await subscriptions.targetsOf(tenant, toldEvent(more)))
        .map((target) => (target.kind === 'endpoint' ? target.endpoint.uid : target.id))
        .toSorted(),
  }
}

it('[HOOK-50] sends to both URLs of the basic service the events that its triggers enable', async () => {
  const { configs, told, subscriptions } = await openTargets()
  const config = {
    rawNotificationUrl: 'https://raw.test',
    processedNotificationUrl: 'https://processed.test',
  }
  await configs.updateBasic(tenant, { useWebhookService: true, webhookServiceConfig: config })
  expect(await told()).toEqual(['basic-processed', 'basic-raw'])
  const onByDefault = await Promise.all(eventTypes.map(async (type) => (await told({ type })).length > 0))
  expect(eventTypes.filter((_, index) => onByDefault[index])).toEqual([
    'comment_annotation.add',
    'comment_annotation.assign',
    'comment_annotation.status_change',
    'comment_annotation.priority_change',
    'comment.add',
    'comment.update',
    'comment.delete',
    'comment.reaction_add',
    'comment.reaction_delete',
    'huddle.create',
    'huddle.join',
  ])
  const [processed] = (await subscriptions.targetsOf(tenant, toldEvent())).slice(1)
  expect(processed).toMatchObject({ form: 'processed', url: 'https://processed.test', config })
  await configs.updateBasic(tenant, { webhookServiceConfig: { processedNotificationUrl: '' } })
  expect(await told()).toEqual(['basic-raw'])
  await configs.updateBasic(tenant, {
    webhookServiceConfig: { triggers: { 'comment.add': false, crdt: true } },
  })
  expect(await told()).toEqual([])
  expect(await told({ type: 'crdt.update_data' })).toEqual(['basic-raw'])
  await configs.updateBasic(tenant, { useWebhookService: false })
  expect(await told({ type: 'crdt.update_data' })).toEqual([])
})

it('[HOOK-51] sends an endpoint the events of its types in its channels, or in all channels if it has none', async () => {
  const { add, told } = await openTargets()
  await add('everything')
  await add('updates', { filterTypes: ['comment.update', 'comment.delete'] })
  await add('acme', { channels: ['other', 'acme'] })
  await add('report', { channels: ['report'] })
  await add('both', { filterTypes: ['comment.add'], channels: ['report'] })
  await add('asleep', { disabled: true })
  expect(await told()).toEqual(['acme', 'both', 'everything', 'report'])
  expect(await told({ type: 'comment.update' })).toEqual(['acme', 'everything', 'report', 'updates'])
  expect(await told({ documentId: 'other' })).toEqual(['acme', 'everything'])
  expect(await told({ documentId: null })).toEqual(['acme', 'everything'])
  const scope = { ...tenant, organizationId: 'report' }
  expect(await told({ scope, documentId: null })).toEqual(['both', 'everything', 'report'])
})

it('[HOOK-52] sends test events to no subscriber, and does not send the failure of an endpoint to that endpoint', async () => {
  const { add, told, configs } = await openTargets()
  const failed = await add('failed')
  await add('other', { filterTypes: ['message.attempt.exhausted', 'webhook.test'] })
  await configs.updateBasic(tenant, {
    useWebhookService: true,
    webhookServiceConfig: {
      rawNotificationUrl: 'https://raw.test',
      triggers: { 'message.attempt.exhausted': true },
    },
  })
  expect(await told({ type: 'webhook.test' })).toEqual([])
  const type = 'message.attempt.exhausted'
  expect(await told({ type, data: { endpointId: failed.id } })).toEqual(['basic-raw', 'other'])
  expect(await told({ type, data: { endpointId: 'basic-raw' } })).toEqual(['failed', 'other'])
  expect(await told({ data: { endpointId: failed.id } })).toEqual(['basic-raw', 'failed'])
})

it('finds a target by its id as long as the target is in use', async () => {
  const { add, subscriptions, configs, endpoints } = await openTargets()
  const { id } = await add('mine')
  const url = 'https://raw.test'
  await configs.updateBasic(tenant, {
    useWebhookService: true,
    webhookServiceConfig: { rawNotificationUrl: url },
  })
  const find = (targetId: string) => subscriptions.targetOf(tenant, targetId)
  expect(await find(id)).toMatchObject({ kind: 'endpoint', endpoint: { id }, config: { isEnabled: true } })
  expect(await find('basic-raw')).toMatchObject({ kind: 'basic', form: 'raw', url })
  expect(await find('basic-processed')).toBeNull()
  expect(await find('mine')).toBeNull()
  await configs.updateAdvanced(tenant, { encodeData: true })
  expect(await find(id)).toMatchObject({ config: { encodeData: true } })
  await endpoints.update(tenant, id, { disabled: true })
  expect(await find(id)).toBeNull()
  await endpoints.update(tenant, id, { disabled: false })
  await configs.updateAdvanced(tenant, { isEnabled: false })
  expect(await find(id)).toBeNull()
})

it('[HOOK-54] sends nothing to an endpoint that was disabled because of failures until it is enabled again', async () => {
  const { add, told, endpoints, clock, configs } = await openTargets()
  const { id, createdAt, enabledSince } = await add('mine')
  expect(enabledSince).toBe(createdAt)
  for (const by of ['gone', 'failures'] as const) {
    clock.advance(10)
    await endpoints.disable(tenant, id, by)
    const disabledAt = clock.now()
    expect(await endpoints.find(tenant, id)).toMatchObject({ disabledBy: by, updatedAt: disabledAt })
    expect(await told()).toEqual([])
    clock.advance(10)
    // The first reason stays.
    await endpoints.disable(tenant, id, 'failures')
    expect(await endpoints.update(tenant, id, { disabled: true })).toMatchObject({ disabledBy: by })
    expect(await endpoints.update(tenant, id, { rateLimit: 1 })).toMatchObject({ disabledBy: by })
    clock.advance(10)
    const again = await endpoints.update(tenant, id, { disabled: false })
    expect(again).toMatchObject({ disabledBy: null, enabledSince: clock.now() })
    clock.advance(10)
    const still = await endpoints.update(tenant, id, { disabled: false })
    expect(still.enabledSince).toBe(again.enabledSince)
    expect(await told()).toEqual(['mine'])
  }
  // A delivery can disable an endpoint while advanced webhooks are off. A deleted endpoint stays deleted.
  await configs.updateAdvanced(tenant, { isEnabled: false })
  await endpoints.disable(tenant, id, 'gone')
  await configs.updateAdvanced(tenant, { isEnabled: true })
  expect(await endpoints.find(tenant, id)).toMatchObject({ disabledBy: 'gone' })
  await endpoints.delete(tenant, id)
  await endpoints.disable(tenant, id, 'gone')
  await expect(endpoints.find(tenant, id)).rejects.toMatchObject({ status: 'NOT_FOUND' })
})

it('[HOOK-29] also signs with a replaced secret during its grace period, but not with any older secret', async () => {
  const { add, endpoints, clock } = await openTargets()
  const first = await add('mine')
  const secretsNow = async () => signingSecrets(await endpoints.find(tenant, first.id), clock.now())
  expect(await secretsNow()).toEqual([first.secret])
  const second = await endpoints.rotateSecret(tenant, first.id, 60)
  clock.advance(59_999)
  expect(await secretsNow()).toEqual([second.secret, first.secret])
  clock.advance(1)
  expect(await secretsNow()).toEqual([second.secret])
  const third = await endpoints.rotateSecret(tenant, 'mine', 3_600)
  const fourth = await endpoints.rotateSecret(tenant, 'mine', 60)
  expect(await secretsNow()).toEqual([fourth.secret, third.secret])
  const fifth = await endpoints.rotateSecret(tenant, 'mine', 0)
  expect(await secretsNow()).toEqual([fifth.secret])
  expect(fifth.previousSecret).toBeNull()
})
