import { afterAll, beforeAll, expect, it } from 'vitest'
import { appendComments } from '../../../src/capabilities/comments/comment-records.ts'
import { participantsOf } from '../../../src/capabilities/comments/find-comments.ts'
import { NotificationConfigService } from '../../../src/capabilities/notifications/notification-config-service.ts'
import {
  CommentRecipients,
  recipientsMax,
} from '../../../src/capabilities/webhooks/sending/request-composer.ts'
import type { QueuedEvent } from '../../../src/core/events/outbound-event.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'org')
const all = { inbox: 'ALL', email: 'ALL', slack: 'ALL' }

let directory: OpenDirectory
beforeAll(async () => {
  directory = await openDirectory()
  await directory.organizations.ensure(scope)
  await directory.documents.add(scope, [{ documentId: 'doc' }], { createFolder: false })
  const place = { type: 'organization', id: 'org' } as const
  await directory.users.add(scope, place, [{ userId: 'bob', name: 'Bob', email: 'bob@example.com' }])
  const configs = new NotificationConfigService(directory.store)
  await configs.set(scope, ['bob', 'cyd'], [null], { email: 'NONE' })
  await configs.set(scope, ['cyd'], ['doc'], { inbox: 'MINE' })
})
afterAll(() => directory.close())

const event = (data: QueuedEvent['data'], type: QueuedEvent['type'] = 'comment.add'): QueuedEvent => ({
  id: 'e',
  scope,
  at: 0,
  type,
  documentId: 'doc',
  actionUser: { userId: 'ann' },
  data,
})
const annotation = {
  annotationId: 'a-1',
  assignedTo: { userId: 'bob', name: 'Robert' },
  createdBy: { userId: 'cyd', name: 'Cyd' },
}

it('[HOOK-142] lists as recipients the users of a thread and its assignee, but not the acting user', async () => {
  const recipients = new CommentRecipients(directory.store, async (_scope, annotationId) =>
    annotationId === 'a-1' ? [{ userId: 'dan' }, { userId: 'ann' }, { userId: 'bob' }] : [],
  )
  expect(await recipients.of(event({ annotation, comment: { from: { userId: 'ann' } } }))).toEqual([
    { userId: 'bob', name: 'Bob', email: 'bob@example.com', notificationConfig: { ...all, email: 'NONE' } },
    { userId: 'cyd', name: 'Cyd', notificationConfig: { inbox: 'MINE', email: 'NONE', slack: 'ALL' } },
    { userId: 'dan', notificationConfig: all },
  ])
})

it('[HOOK-142] reads the recipients of a deleted thread from the event, and lists no recipients for other events', async () => {
  const recipients = new CommentRecipients(directory.store, async () => [])
  const shown = await recipients.of(event({ annotation: { annotationId: 'a-2', assignedTo: null } }))
  expect(shown).toEqual([])
  expect(await recipients.of(event({ documentId: 'doc' }, 'document.create'))).toEqual([])
})

it('[HOOK-142] limits the number of recipients', async () => {
  const crowd = Array.from({ length: recipientsMax + 10 }, (_, index) => ({ userId: `u${index}` }))
  const recipients = new CommentRecipients(directory.store, async () => crowd)
  const shown = await recipients.of(event({ annotation }))
  expect(shown.map(({ userId }) => userId).slice(0, 3)).toEqual(['bob', 'cyd', 'u0'])
  expect(shown).toHaveLength(recipientsMax)
})

it('[HOOK-142] reads a limited number of bytes of a long thread', async () => {
  const text = 'x'.repeat(16_000)
  const comments = Array.from({ length: 200 }, (_, at) => ({
    commentId: `c${at}`,
    from: { userId: `u${at}` },
    text,
  }))
  await directory.store.carryOut(scope, async (transaction) => {
    appendComments(transaction, 'long', { count: 0, next: 0 }, comments, 0)
  })
  const reader = directory.store.read(scope)
  const reads: number[] = []
  const scan: typeof reader.scan = async (range) => {
    const entries = await reader.scan(range)
    reads.push(entries.reduce((sum, { value }) => sum + value.length, 0))
    return entries
  }
  const [first] = await participantsOf({ scan }, 'long')
  expect(first).toEqual({ userId: 'u0' })
  expect(Math.max(...reads)).toBeLessThan(500_000)
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(1_500_000)
})
