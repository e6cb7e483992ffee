import { isDeepStrictEqual } from 'node:util'
import { requireResource } from '../../core/directory/documents/resource-lookup.ts'
import type { OrganizationScope } from '../../core/directory/organizations/organization-keys.ts'
import {
  type BatchResults,
  forEachItem,
  forEachItemConcurrently,
  ItemRejectedError,
} from '../../core/directory/store/batch.ts'
import type { ListPage } from '../../core/directory/store/list-page.ts'
import type { Transaction } from '../../core/directory/store/transaction.ts'
import type { ActionUser } from '../../core/events/activity.ts'
import type { DocumentAddress } from '../../core/model/address.ts'
import { namedInCallMax, namedUsersMax } from '../../core/model/named-users.ts'
import type { RoomRegistry } from '../../core/rooms/registry/room-registry.ts'
import type { MigratedContent } from '../../core/rooms/room/room-generations.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { type Decision, judgmentIdOf } from '../decisions/judgment-keys.ts'
import {
  type AnnotationChange,
  annotationActions,
  changedAnnotation,
  decisionFromChange,
} from './annotation-changes.ts'
import { type AnnotationAction, annotationEvent, outboundOnlyEvent } from './comment-events.ts'
import { annotationOrder, commentKeys as keys } from './comment-keys.ts'
import { markJudged, quotingActivityId } from './comment-quotes.ts'
import {
  type AnnotationRecord,
  annotationRecordType,
  appendComments,
  type CommentRecord,
  commentRecordType,
  type NewComment,
  putAnnotation,
  usersNamedInContent,
} from './comment-records.ts'
import { removeSlice } from './comment-removal.ts'
import { annotationOf } from './find-comments.ts'
import { type CommentDependencies, type JudgmentRecorder, judgmentJob } from './judgment-recorder.ts'
import {
  type AnnotationFilter,
  type AnnotationListing,
  type AnnotationView,
  findAnnotations,
  listAnnotations,
} from './list-annotations.ts'

/** Number of annotations whose anchors are moved together. */
const anchorsAtOnce = 100

type StoredField = 'documentId' | 'order' | 'createdBy' | 'createdAt' | 'lastUpdated'

/** An annotation to add, with its comments. The other members are the same as in `AnnotationRecord`. */
interface NewAnnotation extends Omit<AnnotationRecord, StoredField> {
  readonly comments: readonly NewComment[]
  /** The reason why the annotation cannot have its anchor. It is then not added. */
  readonly anchorError?: ItemRejectedError | undefined
}

/** The document in which annotations are changed, and the user who changes them. */
export interface ActionScope {
  readonly scope: OrganizationScope
  readonly documentId: string
  readonly actionUser: ActionUser
}

/** An annotation, with the decision that was made on its suggestion. */
interface Decided {
  readonly annotation: AnnotationRecord
  readonly decision: Decision
}

/**
 * Manages the annotations of documents. An annotation is a thread of comments on a location, with a status
 * and a suggestion. Every method throws ApiError NOT_FOUND if the organization or the document does not
 * exist.
 */
export class AnnotationService {
  readonly #dependencies: CommentDependencies
  readonly #judging: JudgmentRecorder

  constructor(dependencies: CommentDependencies, judging: JudgmentRecorder) {
    this.#dependencies = dependencies
    this.#judging = judging
  }

  /**
   * Adds annotations with their comments. An annotation whose id is already in use is rejected, and the
   * stored annotation stays unchanged.
   */
  add(acting: ActionScope, annotations: readonly NewAnnotation[]): Promise<BatchResults> {
    return this.#change(acting, (transaction, happened) =>
      this.#addAll(transaction, acting, annotations, happened),
    )
  }

  /** Returns the results that `add` would have now if the document existed. Writes nothing. */
  rehearseAdding(acting: ActionScope, annotations: readonly NewAnnotation[]): Promise<BatchResults> {
    return this.#dependencies.store.rehearse(acting.scope, (transaction) =>
      this.#addAll(transaction, acting, annotations, []),
    )
  }

  /**
   * Moves the anchors in an editor from content that prunes, and after them migrations, have replaced. If any moves, the
   * clients of the document get the message after which pages read comments again. It can be repeated.
   */
  async moveAnchors(
    address: DocumentAddress,
    rooms: RoomRegistry,
    migrated: readonly MigratedContent[] = [],
  ): Promise<void> {
    const { store } = this.#dependencies
    const { documentId, editorId, ...scope } = address
    let hasMoved = false
    for (let after: string | undefined; ; ) {
      const listing = { documentId, order: 'asc', limit: anchorsAtOnce, after } as const
      const { items, next } = await listAnnotations(() => store.read(scope), listing)
      const found = items.flatMap(({ record: { annotationId, anchor } }) =>
        anchor?.editorId === editorId ? [{ annotationId, anchor }] : [],
      )
      const positions = found.flatMap(({ anchor }) => [anchor.position, anchor.positionEnd ?? ''])
      const moved =
        found.length === 0
          ? []
          : await rooms.use(address, (room) => room.generations.movePositions(positions, migrated))
      await store.carryOut(scope, async (transaction) => {
        for (const [at, { annotationId, anchor }] of found.entries()) {
          const before = await transaction.get(keys.annotation(annotationId), annotationRecordType)
          const [position = '', positionEnd = ''] = moved.slice(2 * at, 2 * at + 2)
          if (before === null || !isDeepStrictEqual(before.anchor, anchor)) continue
          const end = anchor.positionEnd === undefined ? {} : { positionEnd }
          putAnnotation(transaction, before, { ...before, anchor: { ...anchor, position, ...end } })
        }
      })
      hasMoved ||= !isDeepStrictEqual(moved, positions)
      if (next === null) break
      after = next
    }
    if (hasMoved)
      rooms.live.broadcast(address, null, JSON.stringify({ event: 'comments.changed', data: null }))
  }

  /** Changes annotations. If a change decides a suggestion, the decision is also stored as a judgment. */
  update(acting: ActionScope, changes: readonly AnnotationChange[]): Promise<BatchResults> {
    const deciding = changes.filter(({ suggestion }) => suggestion !== undefined)
    return this.#judging.await(deciding.length, (jobIds) =>
      this.#change(acting, async (transaction, happened) => {
        const check = namesBounded()
        await transaction.getAll(changes.map(({ annotationId }) => keys.annotation(annotationId)))
        const decided: Decided[] = []
        const result = await forEachItem(changes, 'annotationId', async (change) => {
          const before = await annotationOf(transaction, { ...acting, ...change })
          if (change.anchorError !== undefined) throw change.anchorError
          const after = changedAnnotation(before, change, this.#dependencies.clock.now())
          if (after === before) return 'unchanged'
          if (change.location !== undefined || change.suggestion?.kind === 'replace') check(after)
          putAnnotation(transaction, before, after)
          const { actionUser } = acting
          for (const action of annotationActions(before, after))
            happened.push({ ...action, actionUser, annotation: after })
          const decision = decisionFromChange(before, after)
          if (decision !== null) decided.push({ annotation: after, decision })
          return 'updated'
        })
        return { result, jobIds: await this.#judge(transaction, acting, decided, jobIds) }
      }),
    )
  }

  /**
   * Deletes annotations with their comments. A long thread needs several commits. If the call is interrupted,
   * it can be repeated. For each deleted annotation, one activity is recorded, and webhooks receive one event
   * for each comment.
   */
  async delete(acting: ActionScope, annotationIds: readonly string[]): Promise<BatchResults> {
    await requireResource(this.#dependencies.store.read(acting.scope), {
      type: 'document',
      id: acting.documentId,
    })
    return forEachItemConcurrently(annotationIds, null, async (annotationId) => {
      for (let isGone = false; !isGone; ) isGone = await this.#deleteSlice(acting, annotationId)
      return 'deleted'
    })
  }

  /**
   * Returns the annotations that have one of the ids `annotationIds` and match the filter, in the order of
   * the ids.
   */
  find(
    scope: OrganizationScope,
    filter: AnnotationFilter,
    annotationIds: readonly string[],
  ): Promise<readonly AnnotationView[]> {
    return findAnnotations(this.#dependencies.store.read(scope), filter, annotationIds)
  }

  /**
   * Returns a page of annotations, sorted by the time at which they were added. A page that is not the last
   * one may also have fewer than `limit` items.
   */
  list(scope: OrganizationScope, listing: AnnotationListing): Promise<ListPage<AnnotationView>> {
    return listAnnotations(() => this.#dependencies.store.read(scope), listing)
  }

  async #addAll(
    transaction: Transaction,
    acting: ActionScope,
    annotations: readonly NewAnnotation[],
    happened: AnnotationAction[],
  ): Promise<BatchResults> {
    const check = namesBounded()
    await transaction.getAll(annotations.map(({ annotationId }) => keys.annotation(annotationId)))
    return forEachItem(annotations, 'annotationId', async (given) => {
      if ((await transaction.get(keys.annotation(given.annotationId))) !== null)
        throw new ItemRejectedError('comment/annotation-id-taken', 'the annotation id is used already')
      if (new Set(given.comments.map(({ commentId }) => commentId)).size < given.comments.length)
        throw new ItemRejectedError('request/repeated-item', 'a comment is listed more than once')
      if (given.anchorError !== undefined) throw given.anchorError
      check(given)
      happened.push(...this.#add(transaction, acting, given, happened.length))
      return 'added'
    })
  }

  #add(
    transaction: Transaction,
    { documentId, actionUser }: ActionScope,
    annotation: NewAnnotation,
    place: number,
  ): readonly AnnotationAction[] {
    const { comments: given, anchorError: _, ...content } = annotation
    const now = this.#dependencies.clock.now()
    const record: AnnotationRecord = {
      ...content,
      documentId,
      order: annotationOrder(now, place),
      createdBy: actionUser,
      createdAt: now,
      lastUpdated: now,
    }
    putAnnotation(transaction, null, record)
    const comments = appendComments(transaction, record.annotationId, { count: 0, next: 0 }, given, now)
    return [
      { action: 'comment_annotation.add', actionUser, annotation: record },
      ...comments.map((comment) => commentAdded(transaction, actionUser, record, comment)),
    ]
  }

  /**
   * Enqueues the jobs that store judgments, and returns the ids of these jobs. A suggestion without a comment
   * gets no judgment, because there is no text that can be compared with other texts.
   */
  async #judge(
    transaction: Transaction,
    { scope, actionUser }: ActionScope,
    decided: readonly Decided[],
    jobIds: readonly string[],
  ): Promise<readonly string[]> {
    const used: string[] = []
    for (const [index, { annotation, decision }] of decided.entries()) {
      const { annotationId, documentId } = annotation
      const [first] = await transaction.scan({ prefix: keys.comments(annotationId), limit: 1 })
      const jobId = jobIds[index]
      if (first === undefined || jobId === undefined) continue
      const { text, commentId, order, createdAt } = readRecord(commentRecordType, first)
      if (text.trim() === '') continue
      const comment = { annotationId, commentId, order, createdAt }
      const [reviewerId, judgedAt] = [actionUser.userId, this.#dependencies.clock.now()]
      markJudged(transaction, comment, judgmentIdOf(judgedAt, jobId))
      const decided = { jobId, scope, documentId, comment, text, decision, reviewerId, judgedAt }
      transaction.enqueue(judgmentJob(decided))
      used.push(jobId)
    }
    return used
  }

  #deleteSlice(acting: ActionScope, annotationId: string): Promise<boolean> {
    return this.#change(acting, async (transaction, happened, outbound) => {
      const annotation = await annotationOf(transaction, { ...acting, annotationId })
      const { actionUser } = acting
      const { comments, isGone } = await removeSlice(transaction, annotation, {
        forget: (judgmentIds) => this.#dependencies.memory.delete(acting.scope, judgmentIds),
      })
      for (const comment of comments)
        outbound.push({ action: 'comment.delete', actionUser, annotation, comment })
      if (!isGone) return false
      happened.push({ action: 'comment_annotation.delete', actionUser, annotation })
      return true
    })
  }

  #change<T>(
    { scope, documentId }: ActionScope,
    work: (
      transaction: Transaction,
      happened: AnnotationAction[],
      outbound: AnnotationAction[],
    ) => Promise<T>,
  ): Promise<T> {
    const { store, events } = this.#dependencies
    return store.change(scope, async (transaction) => {
      await requireResource(transaction, { type: 'document', id: documentId })
      const [happened, outbound]: [AnnotationAction[], AnnotationAction[]] = [[], []]
      const result = await work(transaction, happened, outbound)
      events.recordNew(transaction, scope, [
        ...outbound.map(outboundOnlyEvent),
        ...happened.map(annotationEvent),
      ])
      return result
    })
  }
}

/**
 * Returns a function that must be called for each annotation of one call. The function throws
 * ItemRejectedError when the annotations together mention more users than can be indexed.
 */
function namesBounded(): (annotation: Pick<AnnotationRecord, 'location' | 'suggestion'>) => void {
  let named = 0
  return (annotation) => {
    const { size } = usersNamedInContent(annotation)
    if (size > namedUsersMax)
      throw new ItemRejectedError(
        'request/too-many-users',
        `location and suggestion name more than ${namedUsersMax} users; name fewer`,
      )
    if (named + size > namedInCallMax)
      throw new ItemRejectedError(
        'request/too-many-users',
        `the annotations of a call name more than ${namedInCallMax} users; send several calls`,
      )
    named += size
  }
}

/** Returns the action that records an added comment. */
export const commentAdded = (
  transaction: Transaction,
  actionUser: ActionUser,
  annotation: AnnotationRecord,
  comment: CommentRecord,
): AnnotationAction => ({
  action: 'comment.add',
  actionUser,
  annotation,
  comment,
  changes: { text: { from: null, to: comment.text } },
  quotedBy: quotingActivityId(transaction, annotation.annotationId, comment),
})
