import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AnnotationChange } from '../../../src/capabilities/comments/annotation-changes.ts'
import { commentKeys } from '../../../src/capabilities/comments/comment-keys.ts'
import { type CommentModule, createCommentModule } from '../../../src/capabilities/comments/index.ts'
import { judgmentJob } from '../../../src/capabilities/comments/judgment-recorder.ts'
import { anonymizeComments, findMentions } from '../../../src/capabilities/comments/user-data.ts'
import { memoryPart } from '../../../src/capabilities/decisions/judgment-keys.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { markErased } from '../../../src/core/directory/organizations/erased-users.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { OrganizationStore } from '../../../src/core/directory/organizations/organization-store.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import { decodeQueuedEvent, eventQueue } from '../../../src/core/events/outbound-event.ts'
import { deletedUser } from '../../../src/core/model/named-users.ts'
import { ann, bob, say } from '../../support/data/comments.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'

const scope = scopeOf(tenant, 'acme')
const acting = { scope, documentId: 'd1', actionUser: ann }
const plain = {
  location: null,
  anchor: null,
  status: 'open',
  priority: null,
  assignedTo: null,
  suggestion: null,
} as const
const suggesting = { ...plain, suggestion: { status: 'pending', content: null } } as const

let directory: OpenDirectory
let comments: CommentModule
beforeEach(async () => {
  directory = await openDirectory()
  await directory.organizations.ensure(scope)
  await directory.documents.add(scope, [{ documentId: 'd1' }], { createFolder: false })
  comments = commentsOn(directory)
})
afterEach(() => directory.close())

/** Comments on the store of a directory in which subscribers want every event. */
function commentsOn({ engine, clock, organizations, memory }: OpenDirectory): CommentModule {
  const events = new EventRecorder(clock, () => true)
  const store = new OrganizationStore(engine, events)
  return createCommentModule({
    store,
    organizations,
    events,
    memory,
    engine,
    clock,
    log: createLog('silent'),
  })
}

const told = async () => {
  const jobs = await directory.engine.queue.claim(eventQueue, 1_000, 10_000)
  return jobs
    .map(({ payload }) => decodeQueuedEvent(payload))
    .filter(({ type }) => type.startsWith('comment'))
}
const judged = () => directory.memory.query(tenant, { limit: 100 })

it('[COMM-14] stores the judgment of a decision even if the process ends after the decision and before the judgment is stored', async () => {
  const annotation = { annotationId: 'a', ...suggesting, comments: [say('c')] }
  await comments.annotations.add(acting, [annotation])
  await comments.judging.worker.stop()
  await comments.annotations.update(acting, [{ annotationId: 'a', suggestion: { kind: 'accept' } }])
  expect(await judged()).toEqual([])
  const next = commentsOn(directory)
  next.judging.worker.start()
  await expect.poll(judged).toHaveLength(1)
  await next.judging.worker.stop()
  expect(await judged()).toMatchObject([{ query: 'text of c', decision: 'approve', reviewerId: 'ann' }])
})

it('[COMM-14] stores only one judgment even if its job runs twice, and no judgment for a deleted document', async () => {
  const decided = { scope, text: 'x', decision: 'reject', reviewerId: 'ann', judgedAt: 1 } as const
  let first = ''
  const enqueue = (documentId: string) =>
    comments.judging.await(1, async ([jobId = '']) => {
      const job = judgmentJob({ ...decided, jobId, documentId })
      const again = first === '' ? [] : [judgmentJob({ ...decided, jobId: first, documentId: 'd1' })]
      await directory.engine.kv.commit(organizationPart(scope), { jobs: [...again, job] })
      first = jobId
      return { result: null, jobIds: [jobId] }
    })
  await enqueue('d1')
  await enqueue('gone')
  await comments.judging.worker.stop()
  expect(await judged()).toMatchObject([{ query: 'x', documentId: 'd1', judgedAt: 1 }])
  expect(await directory.engine.queue.claim('judgments', 10, 10_000)).toEqual([])
})

it('[COMM-14] delays only the call that contains the decision until the judgment is stored', async () => {
  const annotations = ['a', 'b'].map((annotationId) => ({
    annotationId,
    ...suggesting,
    comments: [say('c')],
  }))
  await comments.annotations.add(acting, annotations)
  const { kv } = directory.engine
  const commit = kv.commit.bind(kv)
  let release = (): void => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  kv.commit = async (part, given) => {
    if (part[0] === memoryPart(tenant)[0]) await released
    return commit(part, given)
  }
  const order: string[] = []
  const change = async (name: string, what: Partial<AnnotationChange>) => {
    await comments.annotations.update(acting, [{ annotationId: 'a', ...what }])
    order.push(name)
  }
  const deciding = change('decided', { suggestion: { kind: 'accept' } })
  await change('assigned', { assignedTo: bob })
  // A call without a new decision does not wait either.
  await expect
    .poll(async () => (await comments.annotations.find(scope, acting, ['a']))[0]?.record)
    .toMatchObject({
      suggestion: { status: 'accepted' },
    })
  await change('again', { suggestion: { kind: 'accept' } })
  release()
  await deciding
  expect(order).toEqual(['assigned', 'again', 'decided'])
  expect(await judged()).toHaveLength(1)
})

it('[DATA-5] when the reviewer was erased after the decision, stores the judgment without a reviewer', async () => {
  const decided = { scope, documentId: 'd1', text: 'x', decision: 'approve', reviewerId: 'ann' } as const
  await directory.store.carryOut(scope, (transaction) => markErased(transaction, 'ann', 5))
  for (const judgedAt of [5, 6]) {
    await comments.judging.await(1, async ([jobId = '']) => {
      const job = judgmentJob({ ...decided, jobId, judgedAt })
      await directory.engine.kv.commit(organizationPart(scope), { jobs: [job] })
      return { result: null, jobIds: [jobId] }
    })
  }
  expect(await judged()).toMatchObject([
    { judgedAt: 6, reviewerId: 'ann' },
    { judgedAt: 5, reviewerId: '' },
  ])
})

it('[COMM-18] sends one event for each change, with the annotation and the comment as they were at that moment', async () => {
  const { annotations, comments: commentService, reactions } = comments
  await annotations.add(acting, [{ annotationId: 'a', ...suggesting, comments: [say('c1'), say('c2')] }])
  const added = await told()
  expect(added.map(({ type }) => type).toSorted()).toEqual([
    'comment.add',
    'comment.add',
    'comment_annotation.add',
  ])
  const first = added.find(({ type }) => type === 'comment.add')
  expect(first).toMatchObject({
    documentId: 'd1',
    actionUser: ann,
    data: { annotation: { annotationId: 'a' } },
  })
  expect(JSON.stringify(added)).not.toContain('"order"')
  const change = { annotationId: 'a', status: 'resolved', assignedTo: bob } as const
  for (let again = 0; again < 2; again++) await annotations.update(acting, [change])
  expect((await told()).map(({ type, data }) => [type, data.changes]).toSorted()).toEqual([
    ['comment_annotation.assign', { assignedTo: { from: null, to: bob } }],
    ['comment_annotation.status_change', { status: { from: 'open', to: 'resolved' } }],
  ])
  const on = { ...acting, annotationId: 'a' }
  await commentService.update(on, [{ commentId: 'c1', text: 'new' }])
  await reactions.add({ ...on, commentId: 'c1' }, [{ reactionId: 'r', reaction: '!', user: bob }])
  await reactions.delete({ ...on, commentId: 'c1' }, ['r'])
  expect((await told()).map(({ type }) => type).toSorted()).toEqual([
    'comment.reaction_add',
    'comment.reaction_delete',
    'comment.update',
  ])
  // The end of an annotation has no event of its own: its comments have one each.
  await annotations.delete(acting, ['a'])
  const ends = await told()
  expect(ends.map(({ type }) => type)).toEqual(['comment.delete', 'comment.delete'])
})

it('[COMM-19] finds each place that refers to a user, and replaces the user with the placeholder for deleted users', async () => {
  const { annotations, comments: commentService, reactions } = comments
  const many = Array.from({ length: 30 }, (_, index) => ({
    annotationId: `a${index}`,
    ...plain,
    assignedTo: index % 2 ? ann : bob,
    comments: [say('c', 'said', index % 3 ? ann : bob)],
  }))
  await annotations.add({ ...acting, actionUser: bob }, many)
  const on = { ...acting, annotationId: 'a0', commentId: 'c' }
  await reactions.add(on, [{ reactionId: 'r', reaction: '!', user: ann }])
  const reader = directory.store.read(scope)
  const ties = (await reader.scan({ prefix: commentKeys.tiesOf('ann'), limit: 100 })).map(({ key }) => key)
  const found = (await findMentions(reader, ties)).map(
    (trace) => `${trace?.kind} ${trace?.annotation.annotationId}`,
  )
  const assigned = many
    .filter((_, index) => index % 2)
    .map(({ annotationId }) => `annotation ${annotationId}`)
  const said = many.filter((_, index) => index % 3).map(({ annotationId }) => `comment ${annotationId}`)
  expect(found.toSorted()).toEqual([...assigned, ...said, 'comment a0'].toSorted())
  for (let count = -1; count !== 0; )
    count = await directory.store.carryOut(scope, (transaction) => anonymizeComments(transaction, 'ann', 7))
  const all = await directory.engine.kv.scan(organizationPart(scope), { limit: 10_000 })
  const ofComments = all.filter(({ key: [kind = ''] }) => kind.startsWith('annotation'))
  const naming = ofComments.filter(
    ({ key, value }) => key.includes('ann') || /"ann"|Ann/.test(Buffer.from(value).toString()),
  )
  expect(naming).toEqual([])
  expect(await commentService.find(scope, { documentId: 'd1', annotationId: 'a0' }, ['c'])).toMatchObject([
    { from: bob, text: 'said', reactions: [{ user: deletedUser }] },
  ])
})
