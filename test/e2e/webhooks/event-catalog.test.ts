import { expect, it } from 'vitest'
import { type EventType, eventTypes } from '../../../src/events/outbound-event.ts'
import { eventually, RawClient, typed } from '../../support/clients/clients.ts'
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
  const gone = { organizationId, documentIds: ['d'] }
  dataOf(await server.post('/v2/organizations/documents/delete', gone))
}

const typesAt = ({ bodies }: HookReceiver, member: 'event' | 'actionType'): ReadonlySet<unknown> =>
  new Set(bodies.map((body) => body[member]))

/** Members of `data` that an event must have. */
const members: Readonly<Record<EventType, readonly string[]>> = {
  'comment_annotation.add': ['annotation'],
  'comment_annotation.assign': ['annotation', 'changes'],
  'comment_annotation.status_change': ['annotation', 'changes'],
  'comment_annotation.priority_change': ['annotation', 'changes'],
  'comment_annotation.suggestion_accept': ['annotation', 'changes'],
  'comment_annotation.suggestion_reject': ['annotation', 'changes'],
  'comment.add': ['annotation', 'comment'],
  'comment.update': ['annotation', 'comment', 'changes'],
  'comment.delete': ['annotation', 'comment'],
  'comment.reaction_add': ['annotation', 'comment', 'changes'],
  'comment.reaction_delete': ['annotation', 'comment', 'changes'],
  'huddle.create': ['activity'],
  'huddle.join': ['activity'],
  'recorder.done': ['activity'],
  'crdt.update_data': ['editorId'],
  'document.create': ['documentId'],
  'document.delete': ['documentId'],
  'permission.add': ['resource', 'user', 'accessRole', 'expiresAt'],
  'permission.update': ['resource', 'user', 'accessRole', 'expiresAt'],
  'permission.delete': ['resource', 'user'],
  'presence.join': ['user', 'source'],
  'presence.leave': ['user', 'source'],
  'webhook.test': ['endpointId', 'test'],
  'message.attempt.exhausted': ['endpointId', 'messageId', 'eventType', 'attempts', 'httpStatus'],
}

const text = expect.any(String)
const number = expect.any(Number)
const actor = expect.objectContaining({ userId: text })

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
  for (const body of advanced.bodies) {
    const type = body.event as EventType
    const metadata = {
      apiKey: server.credentials.apiKey,
      organizationId: text,
      documentId: expect.toBeOneOf([text, null]),
    }
    const data = Object.fromEntries(members[type].map((member) => [member, expect.anything()]))
    expect(body, type).toEqual({
      event: type,
      actionType: type,
      source: text,
      data: expect.objectContaining({ ...data, actionUser: actor, metadata }),
      webhookId: text,
      timestamp: number,
    })
  }
  for (const [receiver, more] of [
    [raw, {}],
    [processed, { recipients: expect.any(Array) }],
  ] as const)
    for (const body of receiver.bodies)
      expect(body).toEqual({
        webhookId: text,
        actionType: text,
        notificationSource: text,
        actionUser: actor,
        metadata: expect.objectContaining({ apiKey: server.credentials.apiKey }),
        timestamp: number,
        data: expect.objectContaining(
          Object.fromEntries(
            members[body.actionType as EventType].map((member) => [member, expect.anything()]),
          ),
        ),
        ...more,
      })
}, 60_000)
