import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { commentKeys } from '../../../src/capabilities/comments/comment-keys.ts'
import { removeListed } from '../../../src/capabilities/comments/comment-removal.ts'
import { anonymizeComments, findMentions } from '../../../src/capabilities/comments/user-data.ts'
import { versionKeys, writeVersion, writeVersions } from '../../../src/capabilities/history/version-keys.ts'
import { notificationKeys } from '../../../src/capabilities/notifications/notification-keys.ts'
import {
  putConfig,
  putReadState,
  removeNotification,
} from '../../../src/capabilities/notifications/notification-records.ts'
import {
  anonymizeNotifications,
  removeSomeRecipients,
} from '../../../src/capabilities/notifications/notification-removal.ts'
import { MalformedJsonError } from '../../../src/core/base/json.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { Transaction } from '../../../src/core/directory/store/transaction.ts'
import { activityKeys } from '../../../src/core/events/activity-keys.ts'
import { listActivities } from '../../../src/core/events/activity-listing.ts'
import {
  anonymizeActivities,
  readActivities,
  removeActivitiesBy,
  removeActivitiesOf,
} from '../../../src/core/events/activity-store.ts'
import type { Key } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { encodeRecord } from '../../../src/core/store/stored-record.ts'
import { directoryOn, scopeOf, type TestDirectory, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'acme')
const part = organizationPart(scope)
const position = { order: '1'.padStart(20, '0'), id: 'a' }
const editor = { documentId: 'd', editorId: 'main' }
const page = { order: 'asc', after: undefined, limit: 10 } as const
const ann = { userId: 'ann' }
const annotation = {
  annotationId: 'a',
  documentId: 'd',
  order: position.order,
  location: null,
  anchor: null,
  status: 'open',
  priority: null,
  assignedTo: null,
  suggestion: null,
  createdBy: ann,
  createdAt: 1,
  lastUpdated: 1,
}
const list = { kind: 'document', documentId: 'd' } as const

let directory: TestDirectory

beforeEach(async () => {
  directory = directoryOn(await openMemoryEngine())
})
afterEach(() => directory.engine.close())

interface Case {
  readonly title: string
  /** Entries that the operation needs to find the record. */
  readonly index?: readonly (readonly [Key, object])[]
  readonly key: Key
  /** The malformed record. */
  readonly record: object
  readonly type: string
  readonly run: (transaction: Transaction) => Promise<unknown>
}

const inNotifications = notificationKeys.inList({ kind: 'user', id: 'ann' }, 1, 'n')
const cases: readonly Case[] = [
  {
    title: 'the removal of a notification',
    key: notificationKeys.notification('n'),
    record: { id: 'n', documentId: 'd' },
    type: 'notification',
    run: (transaction) => removeNotification(transaction, 'n'),
  },
  {
    title: 'the removal of a recipient',
    index: [[inNotifications, {}]],
    key: notificationKeys.notification('n'),
    record: { id: 'n', documentId: 'd' },
    type: 'notification',
    run: (transaction) => removeSomeRecipients(transaction, 'ann', 10),
  },
  {
    title: 'the erasure of a user in notifications',
    index: [[notificationKeys.namingIn('ann', 'n'), {}]],
    key: notificationKeys.notification('n'),
    record: { id: 'n', documentId: 'd' },
    type: 'notification',
    run: (transaction) => anonymizeNotifications(transaction, 'ann', 10),
  },
  {
    title: 'a change of a read state',
    key: notificationKeys.mark('n', 'ann'),
    record: { read: 'yes', gone: false },
    type: 'read state of a notification',
    run: (transaction) => putReadState(transaction, 'n', 'ann', { gone: true }),
  },
  {
    title: 'the first read state of a user',
    key: notificationKeys.state('n'),
    record: { marks: null },
    type: 'state of a notification',
    run: (transaction) => putReadState(transaction, 'n', 'ann', { read: true }),
  },
  {
    title: 'a change of a notification config',
    key: notificationKeys.config('ann', null),
    record: { inbox: 1 },
    type: 'notification config',
    run: (transaction) => putConfig(transaction, { userId: 'ann', documentId: null }, { email: 'ALL' }),
  },
  {
    title: 'the erasure of a user in annotations',
    index: [[commentKeys.tie('ann', 'a', null), {}]],
    key: commentKeys.annotation('a'),
    record: { ...annotation, createdBy: null },
    type: 'annotation',
    run: (transaction) => anonymizeComments(transaction, 'ann', 10),
  },
  {
    title: 'the erasure of a user in comments',
    index: [[commentKeys.tie('ann', 'a', '1'), {}]],
    key: commentKeys.comment('a', '1'),
    record: { commentId: 'c', order: '1', from: ann },
    type: 'comment',
    run: (transaction) => anonymizeComments(transaction, 'ann', 10),
  },
  {
    title: 'an export of the mentions of a user',
    key: commentKeys.annotation('a'),
    record: { annotationId: 'a' },
    type: 'annotation',
    run: (transaction) => findMentions(transaction, [commentKeys.tie('ann', 'a', null)]),
  },
  {
    title: 'a read of an activity by its id',
    index: [[activityKeys.position('a'), position]],
    key: activityKeys.activity(position),
    record: { id: 'a', featureType: 'comment' },
    type: 'activity',
    run: (transaction) => readActivities(transaction, ['a']),
  },
  {
    title: 'a read of an activity without its position',
    key: activityKeys.position('a'),
    record: { id: 'a' },
    type: 'position of an activity',
    run: (transaction) => readActivities(transaction, ['a']),
  },
  {
    title: 'a list of all activities',
    key: activityKeys.activity(position),
    record: { id: 'a', featureType: 'comment' },
    type: 'activity',
    run: (transaction) => listActivities(transaction, {}, page),
  },
  {
    title: 'a list of the activities of a document',
    key: [...activityKeys.by('documentId', 'd'), position.order, position.id],
    record: { documentId: 'd' },
    type: 'index entry of an activity',
    run: (transaction) => listActivities(transaction, { documentId: 'd' }, page),
  },
  {
    title: 'the removal of the activities of a document',
    index: [[[...activityKeys.by('documentId', 'd'), position.order, position.id], {}]],
    key: activityKeys.activity(position),
    record: { id: 'a', featureType: 'comment' },
    type: 'activity',
    run: (transaction) => removeActivitiesOf(transaction, 'd', 10),
  },
  {
    title: 'the removal of the activities of a location',
    key: [...activityKeys.by('locationId', 'page'), position.order, position.id],
    record: { locationId: 'page' },
    type: 'index entry of an activity',
    run: (transaction) => removeActivitiesBy(transaction, 'locationId', { locationId: 'page' }, 10),
  },
  {
    title: 'the erasure of a user in activities',
    index: [[[...activityKeys.naming('ann'), position.order, position.id], {}]],
    key: activityKeys.activity(position),
    record: { id: 'a', featureType: 'comment' },
    type: 'activity',
    run: (transaction) => anonymizeActivities(transaction, 'ann', 10),
  },
  {
    title: 'the deletion of a version whose authors are malformed',
    key: versionKeys.version(editor, 'v'),
    record: { authors: [{ name: 'Ann' }] },
    type: 'version',
    run: (transaction) => writeVersion(transaction, editor, 'v', null),
  },
]

describe('a malformed record', () => {
  it.each(cases)(
    '[STORE-25] $title fails at a malformed record, and the error names the type and the key of the record',
    async ({ index = [], key, record, type, run }) => {
      const { kv } = directory.engine
      const puts = [...index, [key, record] as const].map(([key, record]) => ({
        key,
        value: encodeRecord(record),
      }))
      await kv.commit(part, { puts })
      const failed = run(new Transaction(kv, part))
      await expect(failed).rejects.toThrow(MalformedJsonError)
      await expect(failed).rejects.toThrow(`the stored ${type} ${JSON.stringify(key)} is malformed`)
    },
  )

  it.each([
    { type: 'annotation', key: commentKeys.annotation('a'), record: { ...annotation, createdBy: null } },
    { type: 'thread', key: commentKeys.thread('a'), record: { count: '1' } },
    { type: 'comment', key: commentKeys.comment('a', '1'), record: { commentId: 'c', order: '1' } },
  ])(
    '[STORE-25] the removal of comments fails at a malformed $type, and the error names the record',
    async ({ type, key, record }) => {
      const stored = [
        [commentKeys.inList(list, annotation), {}],
        [commentKeys.annotation('a'), annotation],
        [key, record],
      ] as const
      for (const [key, record] of stored)
        await directory.engine.kv.commit(part, { puts: [{ key, value: encodeRecord(record) }] })
      const removal = removeListed(directory.store, scope, list, async () => {}, { forget: async () => {} })
      await expect(removal).rejects.toThrow(`the stored ${type} ${JSON.stringify(key)} is malformed`)
    },
  )

  it('[STORE-25] deletes a version record even if its members other than the users are malformed', async () => {
    const { kv } = directory.engine
    const keys = [versionKeys.version(editor, 'v'), versionKeys.state(editor)]
    const value = encodeRecord({ createdBy: 'ann', authors: [{ userId: 'bob' }], createdAt: '1' })
    const index = [versionKeys.by('ann', editor, 'v'), versionKeys.by('bob', editor, 'v')]
    const entries = [
      ...keys.map((key) => ({ key, value })),
      ...index.map((key) => ({ key, value: encodeRecord({}) })),
    ]
    await kv.commit(part, { puts: entries })
    const transaction = new Transaction(kv, part)
    await writeVersion(transaction, editor, 'v', null)
    await writeVersions(transaction, editor, null)
    await kv.commit(part, transaction.commit() ?? {})
    expect(await kv.get(part, [...keys, ...index])).toEqual([null, null, null, null])
  })
})
