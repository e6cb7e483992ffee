import { describe, expect, it } from 'vitest'
import {
  annotationRecordType,
  commentPositionType,
  commentRecordType,
  threadRecordType,
} from '../../../src/capabilities/comments/comment-records.ts'
import {
  judgmentChangeType,
  judgmentLocationType,
  judgmentType,
  memoryStateType,
} from '../../../src/capabilities/decisions/judgment-keys.ts'
import { editorVersionsType, versionRecordType } from '../../../src/capabilities/history/version-keys.ts'
import {
  notificationReadStateType,
  notificationRecordType,
  notificationStateType,
} from '../../../src/capabilities/notifications/notification-records.ts'
import { erasureRecordType } from '../../../src/capabilities/userdata/erasure-task.ts'
import {
  deliveryStateType,
  editorMessageType,
  messageEventType,
  messageRecordType,
} from '../../../src/capabilities/webhooks/deliveries/delivery-records.ts'
import {
  advancedConfigType,
  basicConfigType,
  endpointRecordType,
  subscriptionKeys,
  subscriptionsPart,
} from '../../../src/capabilities/webhooks/webhook-records.ts'
import { MalformedJsonError } from '../../../src/core/base/json.ts'
import { CachingDirectoryReader } from '../../../src/core/directory/store/directory-reader.ts'
import {
  apiKeyOwnerType,
  apiKeyRecordType,
  authTokenRecordType,
  counterRecordType,
  documentRecordType,
  domainsRecordType,
  folderRecordType,
  grantExpiryType,
  grantRecordType,
  groupRecordType,
  mintingSecretListType,
  organizationCountsType,
  organizationRecordType,
  placedDocumentType,
  placedFolderType,
  retiredTokensRecordType,
  revocationRecordType,
  userRecordType,
  workspaceRecordType,
} from '../../../src/core/directory/store/records.ts'
import { Transaction } from '../../../src/core/directory/store/transaction.ts'
import { activityRecordType, activityTraitsType } from '../../../src/core/events/activity.ts'
import { activityPositionType } from '../../../src/core/events/activity-keys.ts'
import type { Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { encodeRecord, type RecordType, readRecord } from '../../../src/core/store/stored-record.ts'
import { callExpiryType, expiryRecordType } from '../../../src/rest/idempotency/call-records.ts'
import { tenant } from '../../support/data/directory.ts'
import { newEndpoint, openProcess } from '../webhooks/subscription-setup.ts'

const key: Key = ['records', 'one']
const ann = { userId: 'ann', name: 'Ann' }
const dated = { createdAt: 1, lastUpdated: 2 }
const place = { organizationId: 'acme', documentId: null }

/** A record of each type, with its required members only. */
const samples: readonly (readonly [RecordType<object>, object])[] = [
  [counterRecordType, { count: 1 }],
  [organizationRecordType, { organizationId: 'acme', organizationName: 'Acme', metadata: {}, ...dated }],
  [userRecordType, { ...ann, email: '', photoUrl: '', color: '', metadata: { a: [1] }, ...dated }],
  [grantRecordType, { accessRole: 'editor', expiresAt: null }],
  [grantExpiryType, { expiresAt: 1 }],
  [organizationCountsType, { folders: 1, treeChanges: 2 }],
  [
    folderRecordType,
    {
      folderId: 'f',
      folderName: '',
      parentFolderId: 'root',
      accessType: 'restricted',
      inheritAccessFromParent: true,
      ...dated,
    },
  ],
  [placedFolderType, { folderId: 'f', parentFolderId: 'root' }],
  [
    documentRecordType,
    {
      documentId: 'report',
      documentName: '',
      folderId: 'root',
      accessType: null,
      disabled: false,
      metadata: {},
      ...dated,
    },
  ],
  [placedDocumentType, { documentId: 'report', folderId: 'root' }],
  [groupRecordType, { groupId: 'g', groupName: 'G', ...dated }],
  [
    workspaceRecordType,
    {
      id: 'w',
      name: '',
      owner: { id: 'ann', email: '', name: '', avatar: '' },
      authToken: 't',
      createdAt: 1,
    },
  ],
  [apiKeyRecordType, { id: 'key', workspaceId: 'w', apiKeyName: '', type: 'testing', createdAt: 1 }],
  [apiKeyOwnerType, { workspaceId: 'w' }],
  [authTokenRecordType, { token: 't', name: 'default', domains: ['example.com'], createdAt: 1 }],
  [
    retiredTokensRecordType,
    { tokens: [{ token: 't', name: 'default', domains: [], createdAt: 1, validUntil: 2 }] },
  ],
  [mintingSecretListType, { secrets: [{ id: 'm', secret: 's', createdAt: 1 }] }],
  [domainsRecordType, { domains: ['example.com'] }],
  [revocationRecordType, { until: 1 }],
  [expiryRecordType, { bytes: 1 }],
  [callExpiryType, { endsAt: 1 }],
  [
    annotationRecordType,
    {
      annotationId: 'a',
      documentId: 'report',
      order: '1',
      location: { id: 'page', floor: 2 },
      anchor: { editorId: 'main', contentKey: 'content', position: 'AA==' },
      status: 'open',
      priority: null,
      assignedTo: null,
      suggestion: { status: 'pending', content: null },
      createdBy: ann,
      ...dated,
    },
  ],
  [threadRecordType, { count: 1, next: 2 }],
  [
    commentRecordType,
    {
      commentId: 'c',
      order: '1',
      from: ann,
      text: 'Hello',
      reactions: [{ reactionId: 'r', reaction: '+1', user: { userId: 'bob' }, createdAt: 3 }],
      ...dated,
    },
  ],
  [commentPositionType, { order: '1' }],
  [
    notificationRecordType,
    {
      id: 'n',
      documentId: 'report',
      actionUser: ann,
      displayHeadlineMessageTemplate: '{actionUser}',
      displayHeadlineMessageTemplateData: {},
      displayBodyMessage: '',
      notifyUsers: [ann],
      notifyAll: false,
      notificationSourceData: {},
      ...dated,
    },
  ],
  [notificationReadStateType, { read: true, gone: false }],
  [notificationStateType, { marks: 1 }],
  [
    activityRecordType,
    {
      featureType: 'comment',
      actionType: 'comment.add',
      actionUser: ann,
      id: 'a',
      documentId: null,
      timestamp: 1,
      place: 0,
    },
  ],
  [
    activityTraitsType,
    {
      documentId: 'report',
      userId: 'ann',
      targetEntityId: null,
      locationId: null,
      featureType: 'comment',
      actionType: 'comment.add',
    },
  ],
  [activityPositionType, { order: '1', id: 'a' }],
  [
    judgmentType,
    { ...place, judgmentId: 'j', query: 'q', decision: 'approve', reason: '', reviewerId: '', judgedAt: 1 },
  ],
  [judgmentLocationType, { ...place, characters: 1, reviewerId: '' }],
  [memoryStateType, { count: 1, characters: 1, changes: 1 }],
  [judgmentChangeType, { added: [{ ...place, judgmentId: 'j' }], anonymised: [], removed: ['i'] }],
  [
    versionRecordType,
    {
      versionId: 'v',
      kind: 'manual',
      label: '',
      metadata: {},
      createdAt: 1,
      createdBy: '',
      sizeBytes: 1,
      version: '1.2',
      epoch: 1,
      hash: 'h',
      authors: [{ userId: 'ann', at: 1 }],
    },
  ],
  [editorVersionsType, { changes: 1, lastAt: 1, authors: [] }],
  [
    erasureRecordType,
    { jobId: 'j', status: 'done', removed: { users: 1 }, startedAt: 1, endedAt: null, doneUpTo: null },
  ],
  [
    basicConfigType,
    {
      useWebhookService: true,
      webhookServiceConfig: {
        authToken: '',
        rawNotificationUrl: '',
        processedNotificationUrl: '',
        encodeData: false,
        encryptData: false,
        publicKey: '',
        triggers: { 'comment.add': true, huddle: { create: false } },
      },
    },
  ],
  [
    advancedConfigType,
    { isEnabled: true, encryptData: false, encodeData: false, publicKey: '', enableDataProtection: false },
  ],
  [
    endpointRecordType,
    {
      id: 'ep',
      url: 'https://example.com',
      description: null,
      filterTypes: ['comment.add'],
      channels: null,
      disabledBy: null,
      enabledSince: 1,
      rateLimit: null,
      uid: null,
      metadata: { team: 'a' },
      createdAt: 1,
      updatedAt: 1,
      secret: 'whsec_',
      previousSecret: { secret: 'whsec_', until: 1 },
    },
  ],
  [
    messageRecordType,
    {
      id: 'm',
      type: 'comment.add',
      organizationId: 'acme',
      at: 1,
      status: 'pending',
      dueAt: 1,
      failures: 0,
      reason: null,
      attempts: [{ at: 1, httpStatus: null, durationMs: 1, error: 'no response' }],
    },
  ],
  [editorMessageType, { messageId: 'm' }],
  [
    messageEventType,
    {
      type: 'comment.add',
      documentId: null,
      actionUser: ann,
      data: {},
      id: 'e',
      scope: { ...tenant, organizationId: 'acme' },
      at: 1,
    },
  ],
  [deliveryStateType, { pending: 0, failingSince: null, attemptedAt: 0 }],
]

const entryOf = (record: object) => ({ key, value: encodeRecord(record) })
const without = (record: object, member: string): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== member))

describe.each(samples)('a stored record', (type, record) => {
  it(`[STORE-23] returns a ${type.name} that has members of a newer version`, () => {
    const newer = { ...record, addedLater: { a: 1 } }
    expect(readRecord(type, entryOf(newer))).toEqual(newer)
  })

  it.each(Object.keys(record))(`[STORE-23] rejects a ${type.name} without %s`, (member) => {
    const read = () => readRecord(type, entryOf(without(record, member)))
    expect(read).toThrow(MalformedJsonError)
    expect(read).toThrow(`the stored ${type.name} ["records","one"] is malformed: ${member} must be present`)
  })
})

it('[STORE-23] accepts a webhook message whose event type is from a newer version', () => {
  const [, message] = samples.find(([type]) => type === messageRecordType) ?? []
  expect(readRecord(messageRecordType, entryOf({ ...message, type: 'page.turn' }))).toBeDefined()
})

it('[STORE-23] a reader and a transaction reject a record that does not match its record type', async () => {
  const engine = await openMemoryEngine()
  const { kv } = engine
  await kv.commit(['part'], { puts: [entryOf({ counted: 1 })] })
  await expect(new CachingDirectoryReader(kv, ['part']).get(key, counterRecordType)).rejects.toThrow(
    'count must',
  )
  await expect(new Transaction(kv, ['part']).get(key, counterRecordType)).rejects.toThrow('count must')
  await engine.close()
})

it('[STORE-23] rejects a list and a target lookup with an error that names the malformed endpoint record', async () => {
  const { engine, configs, endpoints, subscriptions } = await openProcess()
  await configs.updateAdvanced(tenant, { isEnabled: true })
  const { id } = await endpoints.create(tenant, newEndpoint())
  const stored = {
    key: subscriptionKeys.endpoint(id),
    value: encodeRecord({ id, url: 'https://example.com' }),
  }
  await engine.kv.commit(subscriptionsPart(tenant), { puts: [stored] })
  subscriptions.forget(tenant)
  const problem = `the stored webhook endpoint ["endpoints","${id}"] is malformed`
  await expect(endpoints.list(tenant, null, 10)).rejects.toThrow(problem)
  await expect(subscriptions.targetOf(tenant, id)).rejects.toThrow(problem)
  await engine.close()
})
