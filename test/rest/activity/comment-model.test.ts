import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { type CommentModule, createCommentModule } from '../../../src/capabilities/comments/index.ts'
import { createLog } from '../../../src/core/base/log.ts'
import { organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { EventRecorder } from '../../../src/core/events/event-recorder.ts'
import { straysIn } from '../../support/data/comment-index.ts'
import { say } from '../../support/data/comments.ts'
import { type OpenDirectory, openDirectory, scopeOf, tenant } from '../../support/data/directory.ts'
import { times } from '../../support/time/full-run.ts'

const scope = scopeOf(tenant, 'acme')
const documents = ['d1', 'd2']
const users = ['ann', 'bob', 'cy']
const annotationIds = ['a', 'b', 'c', 'd']
const commentIds = ['x', 'y', 'z']
const locationIds = ['l1', 'l2']

const where = { documentId: fc.constantFrom(...documents), annotationId: fc.constantFrom(...annotationIds) }
const userId = fc.constantFrom(...users)
const commentId = fc.constantFrom(...commentIds)
const locationId = fc.constantFrom(...locationIds)
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined })

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      ...where,
      by: userId,
      locationId: maybe(locationId),
      from: maybe(userId),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('update' as const),
      ...where,
      locationId: maybe(locationId),
      assignee: fc.option(userId),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('say' as const), ...where, commentId, from: userId }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unsay' as const), ...where, commentId }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('react' as const), ...where, commentId, user: userId }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('unreact' as const), ...where, commentId, user: userId }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), ...where }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('clear' as const), documentId: where.documentId, locationId }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Known {
  readonly documentId: string
  readonly createdBy: string
  locationId: string | undefined
  assignee: string | null
  readonly comments: Map<string, { readonly from: string; readonly reactions: Set<string> }>
}

/** All annotations, the oldest first. */
type Model = Map<string, Known>

const sees = ({ createdBy, assignee, comments }: Known, user: string): boolean =>
  createdBy === user ||
  assignee === user ||
  [...comments.values()].some(({ from, reactions }) => from === user || reactions.has(user))

const named = (id: string) => ({ userId: id })
const locationOf = (id: string | undefined) => (id === undefined ? undefined : { id })
/** Runs a call on an item that may be missing. */
const tried = (work: Promise<unknown>) => work.catch(() => {})

async function carryOut(comments: CommentModule, model: Model, step: Step): Promise<void> {
  const { annotations, comments: commentService, reactions, locations } = comments
  const acting = { scope, documentId: step.documentId, actionUser: named('ann') }
  if (step.kind === 'clear') {
    await locations.clear(scope, step)
    for (const [id, known] of model)
      if (known.documentId === step.documentId && known.locationId === step.locationId) model.delete(id)
    return
  }
  const { annotationId } = step
  const on = { ...acting, annotationId }
  const found = model.get(annotationId)
  const known = found?.documentId === step.documentId ? found : undefined
  switch (step.kind) {
    case 'add': {
      const said = step.from === undefined ? [] : [say('x', 'text', named(step.from))]
      const plain = {
        anchor: null,
        status: 'open',
        priority: null,
        assignedTo: null,
        suggestion: null,
      } as const
      const annotation = {
        annotationId,
        ...plain,
        location: locationOf(step.locationId) ?? null,
        comments: said,
      }
      await annotations.add({ ...acting, actionUser: named(step.by) }, [annotation])
      if (found !== undefined) return
      const { documentId, by: createdBy } = step
      const threadOf = new Map(
        said.map(({ from }) => ['x', { from: from.userId, reactions: new Set<string>() }]),
      )
      model.set(annotationId, {
        documentId,
        createdBy,
        locationId: step.locationId,
        assignee: null,
        comments: threadOf,
      })
      return
    }
    case 'update': {
      const assignedTo = step.assignee === null ? null : named(step.assignee)
      await annotations.update(acting, [{ annotationId, location: locationOf(step.locationId), assignedTo }])
      if (known === undefined) return
      known.locationId = step.locationId ?? known.locationId
      known.assignee = step.assignee
      return
    }
    case 'say':
      await tried(commentService.add(on, [say(step.commentId, 'text', named(step.from))]))
      if (known?.comments.has(step.commentId) === false)
        known.comments.set(step.commentId, { from: step.from, reactions: new Set() })
      return
    case 'unsay':
      await tried(commentService.delete(on, [step.commentId]))
      known?.comments.delete(step.commentId)
      return
    case 'react': {
      const reaction = { reactionId: step.user, reaction: '!', user: named(step.user) }
      await tried(reactions.add({ ...on, commentId: step.commentId }, [reaction]))
      known?.comments.get(step.commentId)?.reactions.add(step.user)
      return
    }
    case 'unreact':
      await tried(reactions.delete({ ...on, commentId: step.commentId }, [step.user]))
      known?.comments.get(step.commentId)?.reactions.delete(step.user)
      return
    default:
      await annotations.delete(acting, [annotationId])
      if (known !== undefined) model.delete(annotationId)
  }
}

interface Filter {
  readonly userId?: string
  readonly locationIds?: readonly [string]
}

const filters: readonly Filter[] = [
  {},
  ...users.map((id): Filter => ({ userId: id })),
  ...locationIds.map((id): Filter => ({ locationIds: [id] })),
]

/** Checks that every list, page by page, equals the model. */
async function compare({ annotations }: CommentModule, model: Model): Promise<void> {
  for (const documentId of documents)
    for (const filter of filters) {
      const seen: unknown[] = []
      for (let after: string | null | undefined; after !== null; ) {
        const page = await annotations.list(scope, { documentId, ...filter, order: 'asc', limit: 2, after })
        seen.push(
          ...page.items.map(({ record, comments }) => [
            record.annotationId,
            comments.map((each) => [each.commentId, each.reactions.map(({ user }) => user.userId)]),
          ]),
        )
        after = page.next
      }
      const expected = [...model]
        .filter(([, known]) => known.documentId === documentId)
        .filter(([, known]) => filter.userId === undefined || sees(known, filter.userId))
        .filter(
          ([, { locationId }]) => filter.locationIds === undefined || locationId === filter.locationIds[0],
        )
        .map(([id, { comments }]) => [
          id,
          [...comments].map(([comment, { reactions }]) => [comment, [...reactions]]),
        ])
      expect(seen).toEqual(expected)
    }
}

function commentsOn({ engine, store, clock, organizations, memory }: OpenDirectory): CommentModule {
  const parts = { store, organizations, memory, engine, clock }
  return createCommentModule({
    ...parts,
    events: new EventRecorder(clock, () => false),
    log: createLog('silent'),
  })
}

async function open(): Promise<{ directory: OpenDirectory; comments: CommentModule }> {
  const directory = await openDirectory()
  directory.removals.start()
  await directory.organizations.ensure(scope)
  await directory.documents.add(
    scope,
    documents.map((documentId) => ({ documentId })),
    { createFolder: false },
  )
  return { directory, comments: commentsOn(directory) }
}

/** Keys of comments and of activities of the documents that remain after their deletion. */
async function leftOf(directory: OpenDirectory): Promise<readonly unknown[]> {
  await directory.documents.delete(scope, documents)
  const left = await directory.engine.kv.scan(organizationPart(scope), { limit: 10_000 })
  await directory.removals.stop()
  await directory.close()
  return left.map(({ key }) => key).filter(([kind = '']) => /annotation/i.test(kind))
}

it(
  '[COMM-20] after any calls, lists the same comments as a simple model, and stores nothing after all deletions',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }), async (steps) => {
        const { directory, comments } = await open()
        const model: Model = new Map()
        for (const each of steps) {
          directory.clock.advance(1)
          await carryOut(comments, model, each)
        }
        await compare(comments, model)
        expect(await straysIn(directory, scope.organizationId)).toEqual({ missing: [], stray: [] })
        expect(await leftOf(directory)).toEqual([])
      }),
      { numRuns: times(70, 200) },
    )
  },
  times(60_000, 300_000),
)

it(
  '[COMM-20] after concurrent calls, lists the same comments as a simple model',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60, size: 'max' }), async (steps) => {
        const { directory, comments } = await open()
        for (let at = 0; at < steps.length; at += 15)
          await Promise.all(
            steps.slice(at, at + 15).map((each) => tried(carryOut(comments, new Map(), each))),
          )
        expect(await straysIn(directory, scope.organizationId)).toEqual({ missing: [], stray: [] })
        for (const locationId of locationIds)
          for (const documentId of documents) {
            await comments.locations.clear(scope, { documentId, locationId })
            const listing = {
              documentId,
              locationIds: [locationId],
              order: 'asc',
              limit: 9,
              after: undefined,
            } as const
            expect((await comments.annotations.list(scope, listing)).items).toEqual([])
          }
        for (const documentId of documents) {
          const { items } = await comments.annotations.list(scope, {
            documentId,
            order: 'asc',
            limit: 9,
            after: undefined,
          })
          for (const { record, comments: said, commentCount } of items)
            expect([record.annotationId, said.length]).toEqual([record.annotationId, commentCount])
          const ids = items.map(({ record }) => record.annotationId)
          await comments.annotations.delete({ scope, documentId, actionUser: named('ann') }, ids)
        }
        const left = await directory.engine.kv.scan(organizationPart(scope), { limit: 10_000 })
        expect(left.map(({ key }) => key).filter(([kind = '']) => kind.startsWith('annotation'))).toEqual([])
        expect(await leftOf(directory)).toEqual([])
      }),
      { numRuns: 100 },
    )
  },
  times(60_000, 300_000),
)
