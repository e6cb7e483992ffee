import { expect, it } from 'vitest'
import { feedEventTypes } from '../../../src/capabilities/webhooks/webhook-records.ts'
import { type EventType, eventTypes } from '../../../src/core/events/outbound-event.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
import { dataProblems, feedEventProblems, payloadProblems } from '../../support/data/event-problems.ts'
import { dataOf } from '../../support/servers/server.ts'
import {
  answering,
  type HookReceiver,
  hookTests,
  organizationId,
} from '../../support/servers/webhook-servers.ts'

const { start, receiving } = hookTests()

const ids = { organizationId, documentId: 'd' }
const [ann, bob] = [
  { userId: 'ann', name: 'Ann', email: 'ann@example.com' },
  { userId: 'bob', name: 'Bob', email: 'bob@example.com' },
]
/** Longer than any delay of an event in the server. */
const soonMs = 60_000
const dayMs = 86_400_000

type Hooks = Awaited<ReturnType<typeof start>>

/**
 * User actions for every event except those of webhooks themselves. @param quiet resolves when nothing is in
 * progress
 */
async function everything({ server, clock, document }: Hooks, quiet: () => Promise<void>): Promise<void> {
  const post = async (path: string, data: object): Promise<unknown> =>
    dataOf(await server.post(`/v2/${path}`, { ...ids, ...data }))
  const comments = (path: string, data: object) =>
    post(`commentannotations/${path}`, { actionUser: ann, ...data })
  const change = (annotationId: string, given: object) =>
    comments('update', { annotations: [{ annotationId, ...given }] })
  await document('d')
  const annotations = ['a', 'b'].map((annotationId) => ({
    annotationId,
    suggestion: { content: 'better' },
    comments: [{ commentId: `${annotationId}1`, from: ann, text: 'Is this right?' }],
  }))
  await comments('add', { annotations })
  await change('a', { assignedTo: bob })
  await change('a', { status: 'resolved' })
  await change('a', { priority: 'high' })
  await change('a', { suggestion: { accept: true } })
  await change('b', { suggestion: { reject: true } })
  const ofThread = { annotationId: 'a' }
  await comments('comments/add', { ...ofThread, comments: [{ commentId: 'a2', from: bob, text: 'No' }] })
  await comments('comments/update', { ...ofThread, comments: [{ commentId: 'a2', text: 'Yes' }] })
  const ofComment = { ...ofThread, commentId: 'a2' }
  await comments('comments/reactions/add', {
    ...ofComment,
    reactions: [{ reactionId: 'r', reaction: '👍', user: ann }],
  })
  await comments('comments/reactions/delete', { ...ofComment, reactionIds: ['r'] })
  await comments('comments/delete', { ...ofThread, commentIds: ['a2'] })
  const resource = { type: 'document', id: 'd', organizationId }
  const permissions = async (path: string, data: object): Promise<unknown> =>
    dataOf(await server.post(`/v2/auth/permissions/${path}`, data))
  for (const accessRole of ['viewer', 'editor'])
    await permissions('add', {
      user: { userId: 'cid' },
      permissions: { resources: [{ ...resource, accessRole, expiresAt: 4_000_000_000 }] },
    })
  await permissions('remove', { userId: 'cid', permissions: { resources: [resource] } })
  const said = { actionUser: ann, targetEntityId: 'h' }
  await post('activities/add', {
    activities: [
      { featureType: 'custom', actionType: 'huddle.create', ...said },
      { featureType: 'custom', actionType: 'huddle.join', ...said },
      { featureType: 'recorder', actionType: 'recorder.done', ...said },
    ],
  })
  const client = await RawClient.connect(
    `${server.wsUrl}/sync/${organizationId}/d/main?token=${await server.token('ann', ann)}`,
  )
  client.sendUpdate(typed('x', 1))
  await client.roundTrip()
  client.socket.close()
  await eventually(async () => ((await post('presence/get', {})) as object[]).length === 0)
  // An attempt fails when the clock passes its deadline.
  await quiet()
  clock.advance(soonMs)
  await post('crdt/delete', {})
  const gone = { organizationId, documentIds: ['d'] }
  dataOf(await server.post('/v2/organizations/documents/delete', gone))
}

const typesAt = ({ bodies }: HookReceiver, member: 'event' | 'actionType'): ReadonlySet<unknown> =>
  new Set(bodies.map((body) => body[member]))

it('[HOOK-243] actions of users trigger every event of the catalog, and endpoints and both basic URLs get it as documented', async () => {
  const hooks = await start()
  const { server, clock, endpoint, test, log } = hooks
  const [advanced, raw, processed, failing] = [
    await receiving(),
    await receiving(),
    await receiving(),
    await receiving(answering(500)),
  ]
  const triggers = Object.fromEntries(eventTypes.map((type) => [type, true]))
  const urls = { rawNotificationUrl: raw.url, processedNotificationUrl: processed.url }
  dataOf(
    await server.post('/v2/workspace/webhookconfig/update', {
      useWebhookService: true,
      webhookServiceConfig: { authToken: 'secret', ...urls, triggers },
    }),
  )
  dataOf(await server.post('/v2/workspace/feed/update', { enabled: true }))
  const id = await endpoint(advanced.url)
  const failed = await endpoint(failing.url, { filterTypes: ['document.create'] })
  await test(id)
  const targets = [id, 'basic-raw', 'basic-processed']
  const waiting = (targetId: string) => log(targetId, { status: 'pending' })
  await everything(hooks, async () => {
    for (const receiver of [raw, processed])
      await eventually(() => typesAt(receiver, 'actionType').has('recorder.done'))
    await eventually(() => typesAt(advanced, 'event').has('presence.join'))
    for (const target of targets)
      await eventually(async () => (await waiting(target)).deliveries.length === 0)
  })
  const told = eventTypes.filter((type) => type !== 'message.attempt.exhausted')
  await eventually(
    () => typesAt(advanced, 'event').size >= told.length,
    () => told.filter((type) => !typesAt(advanced, 'event').has(type)),
  )
  const attempts = async () => (await log(failed)).deliveries[0]?.attempts.length ?? 0
  for (let made = await attempts(); made < 8; made = await attempts()) {
    clock.advance(dayMs / 2)
    await eventually(async () => (await attempts()) > made)
  }
  await eventually(
    () => typesAt(advanced, 'event').size === eventTypes.length,
    () => [...typesAt(advanced, 'event')],
  )
  const basic = eventTypes.filter((type) => type !== 'webhook.test')
  for (const receiver of [raw, processed])
    await eventually(
      () => typesAt(receiver, 'actionType').size === basic.length,
      () => basic.filter((type) => !typesAt(receiver, 'actionType').has(type)),
    )
  for (const body of advanced.bodies) expect([body, payloadProblems(body)]).toEqual([body, null])
  const { apiKey } = server.credentials
  for (const [receiver, others] of [
    [raw, {}],
    [processed, { recipients: expect.any(Array) }],
  ] as const)
    for (const { data, ...body } of receiver.bodies) {
      expect(body).toEqual({
        webhookId: expect.any(String),
        actionType: expect.any(String),
        notificationSource: expect.any(String),
        actionUser: expect.objectContaining({ userId: expect.any(String) }),
        metadata: expect.objectContaining({ apiKey }),
        timestamp: expect.any(Number),
        ...others,
      })
      expect([data, dataProblems(body.actionType as EventType, data)]).toEqual([data, null])
    }
  const { events } = dataOf(await server.post('/v2/feed/get', { pageSize: 1_000, content: 'text' })) as {
    readonly events: readonly { readonly type: string }[]
  }
  expect(feedEventTypes.filter((type) => !events.some((event) => event.type === type))).toEqual([])
  for (const event of events) expect([event, feedEventProblems(event)]).toEqual([event, null])
}, 60_000)

it('[HOOK-259] under data protection, events and tests have the form that their description states', async () => {
  const hooks = await start()
  const { server, endpoint, test, log } = hooks
  const receiver = await receiving()
  const id = await endpoint(receiver.url)
  dataOf(await server.post('/v2/workspace/advancedwebhookconfig/update', { enableDataProtection: true }))
  const has = (types: readonly EventType[]) =>
    eventually(
      () => types.every((type) => typesAt(receiver, 'event').has(type)),
      () => types.filter((type) => !typesAt(receiver, 'event').has(type)),
    )
  await everything(hooks, async () => {
    await has(['presence.join'])
    await eventually(async () => (await log(id, { status: 'pending' })).deliveries.length === 0)
  })
  await has(eventTypes.filter((type) => !['webhook.test', 'message.attempt.exhausted'].includes(type)))
  const tested = ['webhook.test', 'comment.add', 'message.attempt.exhausted'] as const
  const count = receiver.hooks.length
  for (const eventType of tested) await test(id, { eventType })
  await eventually(() => receiver.hooks.length === count + tested.length)
  for (const body of receiver.bodies) expect([body, payloadProblems(body)]).toEqual([body, null])
})
