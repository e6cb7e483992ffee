import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  advancedPayload,
  basicPayload,
  processedPayload,
  type Recipient,
} from '../../../src/capabilities/webhooks/sending/payload.ts'
import { type EventType, eventTypes, type QueuedEvent } from '../../../src/core/events/outbound-event.ts'

const scope = { workspaceId: 'ws', apiKey: 'key', organizationId: 'org' }
const ann = { userId: 'ann', name: 'Ann', email: 'ann@example.com' }
const bob = { userId: 'bob', name: 'Bob', email: 'bob@example.com' }
const annotation = {
  annotationId: 'a-1',
  documentId: 'doc',
  location: { id: 'page-1', locationName: 'Secret page', note: 'Secret note' },
  anchor: { editorId: 'main', contentKey: 'secret-key', position: 'c2VjcmV0' },
  status: 'open',
  priority: 'Secret priority',
  assignedTo: bob,
  suggestion: { status: 'pending', content: { text: 'Secret suggestion' } },
  createdBy: ann,
  createdAt: 1_700_000_000_000,
  lastUpdated: 1_700_000_000_001,
}
const comment = {
  commentId: 'c-1',
  from: ann,
  text: 'Secret text',
  reactions: [{ reactionId: 'r-1', reaction: 'Secret reaction', user: bob, createdAt: 1 }],
  createdAt: 2,
  lastUpdated: 3,
}
const event = (more: Partial<QueuedEvent> = {}): QueuedEvent => ({
  id: 'event-1',
  scope,
  at: 1_700_000_000_002,
  type: 'comment.add',
  documentId: 'doc',
  actionUser: ann,
  data: { annotation, comment, changes: { text: { from: 'Secret a', to: 'Secret b' } } },
  ...more,
})
const told = (detail: 'whole' | 'protected', more: Partial<QueuedEvent> = {}) => ({
  webhookId: 'msg_1',
  event: event(more),
  detail,
})
const metadata = { apiKey: 'key', organizationId: 'org', documentId: 'doc' }
const recipients: readonly Recipient[] = [
  { ...bob, notificationConfig: { inbox: 'ALL', email: 'MINE', slack: 'NONE' } },
]

it('[HOOK-140] builds the body of the basic service, raw and processed', () => {
  const { data } = event()
  const raw = {
    webhookId: 'msg_1',
    actionType: 'comment.add',
    notificationSource: 'comment',
    actionUser: ann,
    metadata,
    timestamp: 1_700_000_000_002,
    data,
  }
  expect(basicPayload(told('whole'))).toEqual(raw)
  expect(processedPayload(told('whole'), recipients)).toEqual({ ...raw, recipients })
})

it('[HOOK-140] builds the body of advanced webhooks', () => {
  expect(advancedPayload(told('whole'))).toEqual({
    event: 'comment.add',
    actionType: 'comment.add',
    source: 'comment',
    data: { ...event().data, actionUser: ann, metadata },
    webhookId: 'msg_1',
    timestamp: 1_700_000_000_002,
  })
})

it('[HOOK-140] has a source for every event type', () => {
  const sources = eventTypes.map((type) => advancedPayload(told('whole', { type, data: {} })).source)
  expect([...new Set(sources)]).toEqual([
    'comment',
    'huddle',
    'recorder',
    'crdt',
    'document',
    'permission',
    'presence',
    'webhook',
  ])
})

it('[HOOK-141] under data protection, keeps only ids, states and times', () => {
  const shown = processedPayload(told('protected'), recipients)
  const [ids, times] = [{ userId: 'ann' }, { createdAt: 2, lastUpdated: 3 }]
  expect(shown.actionUser).toEqual(ids)
  expect(shown.recipients).toEqual([
    { userId: 'bob', notificationConfig: { inbox: 'ALL', email: 'MINE', slack: 'NONE' } },
  ])
  expect(shown.data).toEqual({
    annotation: {
      annotationId: 'a-1',
      documentId: 'doc',
      location: { id: 'page-1' },
      anchor: { editorId: 'main' },
      status: 'open',
      assignedTo: { userId: 'bob' },
      suggestion: { status: 'pending' },
      createdBy: ids,
      createdAt: 1_700_000_000_000,
      lastUpdated: 1_700_000_000_001,
    },
    comment: {
      commentId: 'c-1',
      from: ids,
      reactions: [{ reactionId: 'r-1', user: { userId: 'bob' }, createdAt: 1 }],
      ...times,
    },
    changes: {},
  })
  const advanced = advancedPayload(told('protected'))
  expect(advanced.data).toEqual({ ...shown.data, actionUser: ids, metadata })
})

const others: readonly (readonly [EventType, QueuedEvent['data'], unknown])[] = [
  [
    'comment_annotation.status_change',
    { changes: { status: { from: 'open', to: 'resolved' }, priority: { from: 'low', to: 'high' } } },
    { changes: { status: { from: 'open', to: 'resolved' } } },
  ],
  [
    'huddle.join',
    // The caller chooses these names.
    {
      activity: { id: 'a', targetEntityId: 't', changes: { id: 'a diagnosis', location: { id: 'ward 3' } } },
    },
    { activity: { id: 'a', targetEntityId: 't' } },
  ],
  [
    'comment_annotation.assign',
    { changes: { assignedTo: { from: null, to: bob } } },
    { changes: { assignedTo: { from: null, to: { userId: 'bob' } } } },
  ],
  [
    'huddle.join',
    { activity: { id: 'h-1', targetEntityId: 't-1', featureType: 'custom', displayMessageTemplate: 'Ann' } },
    { activity: { id: 'h-1', targetEntityId: 't-1' } },
  ],
  ['comment.add', { endpointId: 'e', test: true }, { endpointId: 'e', test: true }],
  ['webhook.test', { endpointId: 'e', test: true }, { endpointId: 'e', test: true }],
  ['document.create', { documentId: 'doc', test: 'Secret', endpointId: ['Secret'] }, { documentId: 'doc' }],
  ['crdt.update_data', { editorId: 'main', text: 'Secret' }, { editorId: 'main' }],
  ['document.create', { documentId: 'doc', documentName: 'Secret' }, { documentId: 'doc' }],
  ['presence.join', { user: ann, source: 'socket' }, { user: { userId: 'ann' }, source: 'socket' }],
  [
    'message.attempt.exhausted',
    { endpointId: 'e', messageId: 'm', eventType: 'comment.add', attempts: 8, url: 'http://secret' },
    { endpointId: 'e', messageId: 'm', eventType: 'comment.add', attempts: 8 },
  ],
]
it.each(others)(
  '[HOOK-141] under data protection, shows only the permitted data of %s',
  (type, data, shown) => {
    expect(basicPayload(told('protected', { type, data })).data).toEqual(shown)
  },
)

/** Every known member of the data of any event. */
const everything = {
  annotation: { ...annotation, comments: [comment] },
  comment,
  changes: {
    status: { from: 'open', to: 'resolved' },
    assignedTo: { from: ann, to: bob },
    suggestion: { from: 'pending', to: 'accepted' },
    text: { from: 'a', to: 'b' },
  },
  activity: { id: 'a', targetEntityId: 't', featureType: 'custom', changes: { a: 'b' }, actionUser: ann },
  user: ann,
  source: 'socket',
  editorId: 'main',
  documentId: 'doc',
  endpointId: 'e',
  messageId: 'm',
  eventType: 'comment.add',
  attempts: 8,
  httpStatus: 500,
  error: 'none',
}

/** The same with other values and unknown members. */
function changed(value: unknown, next: () => unknown): unknown {
  if (typeof value !== 'object' || value === null) return next()
  if (Array.isArray(value)) return value.map((each) => changed(each, next))
  const entries = Object.entries(value).map(([name, each]) => [name, changed(each, next)] as const)
  return { ...Object.fromEntries(entries), unknown: next() }
}

/** Names of members that contain ids. */
const idNames = /^(id|\w+Id)$/

/** Strings that are not ids. */
function unnamed(value: unknown, name = ''): readonly string[] {
  if (typeof value === 'string') return idNames.test(name) ? [] : [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => unnamed(each, Array.isArray(value) ? name : key))
}

it('[HOOK-141] under data protection, shows only ids, states and times, for any values', () => {
  const time = '2026-01-01T00:00:00Z'
  const leaf = fc.oneof(
    fc.string().map((text) => `Secret ${text}`),
    fc.constantFrom(
      `Secret ${time}`,
      `${time} Secret`,
      'open Secret',
      'Secret socket',
      time,
      'open',
      7,
      null,
    ),
    fc.constant({ userId: 'ann', name: 'Secret' }),
    fc.constant(['Secret', { text: 'Secret' }]),
  )
  fc.assert(
    fc.property(fc.constantFrom(...eventTypes), fc.array(leaf, { minLength: 120 }), (type, leaves) => {
      let at = 0
      const data = changed(everything, () => leaves[at++ % leaves.length]) as QueuedEvent['data']
      const shown = basicPayload(told('protected', { type, data })).data
      expect(unnamed(shown).filter((text) => text.includes('Secret'))).toEqual([])
    }),
  )
})
