import type { Clock } from '../clock.ts'
import { annotationOrder, commentKeys as keys } from '../directory/comment-keys.ts'
import {
  type AnnotationRecord,
  type CommentRecord,
  putAnnotation,
  usersNamedInContent,
} from '../directory/comment-records.ts'
import { removeSlice } from '../directory/comment-removal.ts'
import { markGone } from '../directory/gone-annotations.ts'
import { eachItem, eachItemApart, ItemRefused, type Results, repeatedIds } from '../directory/items.ts'
import type { OrganizationScope } from '../directory/organization-keys.ts'
import type { OrganizationStore } from '../directory/organization-store.ts'
import type { Page } from '../directory/page.ts'
import { checkResource } from '../directory/places.ts'
import { decodeRecord } from '../directory/records.ts'
import type { Transaction } from '../directory/transaction.ts'
import type { ActionUser } from '../events/activity.ts'
import type { Events } from '../events/events.ts'
import type { Decision } from '../memory/judgment-keys.ts'
import { namedInCallMax, namedUsersMax } from '../model/named-users.ts'
import { appendComments, type NewComment } from './adding.ts'
import { type Judging, judgmentJob } from './judging.ts'
import { type AnnotationFilter, type AnnotationListing, findAnnotations, listAnnotations } from './listing.ts'
import { type Happening, occurrenceOf, toldOnly } from './occurrences.ts'
import { annotationOf } from './reading.ts'
import { type AnnotationChange, actionsOf, changedAnnotation, decisionOf } from './updating.ts'
import type { AnnotationView } from './views.ts'

type Stored = 'documentId' | 'order' | 'createdBy' | 'createdAt' | 'lastUpdated'

/** An annotation that is to be added: its record says what the members are. */
export interface NewAnnotation extends Omit<AnnotationRecord, Stored> {
  readonly comments: readonly NewComment[]
}

/** Where something is done, and who does it. */
export interface Acting {
  readonly scope: OrganizationScope
  readonly documentId: string
  readonly actionUser: ActionUser
}

/** A suggestion that is decided by a change. */
interface Decided {
  readonly annotation: AnnotationRecord
  readonly decision: Decision
}

export interface CommentParts {
  readonly store: OrganizationStore
  readonly events: Events
  readonly clock: Clock
}

/** Why an annotation is not added. */
export const annotationIdUsed = 'the annotation id is used already'

/**
 * Annotations of documents: threads of comments on a place, with a state of their own. Every call throws ApiError
 * NOT_FOUND when the organization or the document does not exist.
 */
export class Annotations {
  readonly #parts: CommentParts
  readonly #judging: Judging

  constructor(parts: CommentParts, judging: Judging) {
    this.#parts = parts
    this.#judging = judging
  }

  /** Adds annotations with their comments. What has the id already stays as it is. */
  add(acting: Acting, annotations: readonly NewAnnotation[]): Promise<Results> {
    return this.#change(acting, async (transaction, happened) => {
      const check = namesBounded()
      await transaction.getAll(annotations.map(({ annotationId }) => keys.annotation(annotationId)))
      return eachItem(annotations, idOf, async (given) => {
        if ((await transaction.get(keys.annotation(given.annotationId))) !== null)
          throw new ItemRefused(annotationIdUsed)
        if (repeatedIds(given.comments.map(({ commentId }) => commentId)).size > 0)
          throw new ItemRefused('a comment is listed more than once')
        check(given)
        happened.push(...this.#add(transaction, acting, given, happened.length))
        return 'added'
      })
    })
  }

  /** Changes what is given; what decides a suggestion is kept as a judgment, too. */
  update(acting: Acting, changes: readonly AnnotationChange[]): Promise<Results> {
    const deciding = changes.filter(({ suggestion }) => suggestion !== undefined)
    return this.#judging.await(deciding.length, (jobIds) =>
      this.#change(acting, async (transaction, happened) => {
        const check = namesBounded()
        await transaction.getAll(changes.map(({ annotationId }) => keys.annotation(annotationId)))
        const decided: Decided[] = []
        const result = await eachItem(changes, idOf, async (change) => {
          const before = await annotationOf(transaction, { ...acting, ...change })
          const after = changedAnnotation(before, change, this.#parts.clock.now())
          if (after === before) return 'unchanged'
          if (change.location !== undefined || change.suggestion?.kind === 'replace') check(after)
          putAnnotation(transaction, before, after)
          const { actionUser } = acting
          for (const action of actionsOf(before, after))
            happened.push({ ...action, actionUser, annotation: after })
          const decision = decisionOf(before, after)
          if (decision !== null) decided.push({ annotation: after, decision })
          return 'updated'
        })
        return { result, jobIds: await this.#judge(transaction, acting, decided, jobIds) }
      }),
    )
  }

  /**
   * Deletes annotations with their comments, long threads in several commits: a call that was cut off can be made again.
   * There is one activity for an annotation; receivers outside are told of every comment.
   */
  async delete(acting: Acting, annotationIds: readonly string[]): Promise<Results> {
    await checkResource(this.#parts.store.read(acting.scope), { type: 'document', id: acting.documentId })
    return eachItemApart(
      annotationIds,
      (id) => id,
      async (annotationId) => {
        for (let isGone = false; !isGone; ) isGone = await this.#deleteSlice(acting, annotationId)
        return 'deleted'
      },
    )
  }

  /** Those of the named annotations that fit, in the order of the ids. */
  find(
    scope: OrganizationScope,
    filter: AnnotationFilter,
    annotationIds: readonly string[],
  ): Promise<readonly AnnotationView[]> {
    return findAnnotations(this.#parts.store.read(scope), filter, annotationIds)
  }

  /** A page by the times of adding. It may have fewer than `limit`, and yet not be the last. */
  list(scope: OrganizationScope, listing: AnnotationListing): Promise<Page<AnnotationView>> {
    return listAnnotations(() => this.#parts.store.read(scope), listing)
  }

  #add(
    transaction: Transaction,
    { documentId, actionUser }: Acting,
    { comments: given, ...content }: NewAnnotation,
    place: number,
  ): readonly Happening[] {
    const now = this.#parts.clock.now()
    const annotation: AnnotationRecord = {
      ...content,
      documentId,
      order: annotationOrder(now, place),
      createdBy: actionUser,
      createdAt: now,
      lastUpdated: now,
    }
    putAnnotation(transaction, null, annotation)
    const comments = appendComments(transaction, annotation.annotationId, { count: 0, next: 0 }, given, now)
    return [
      { action: 'comment_annotation.add', actionUser, annotation },
      ...comments.map((comment) => added(actionUser, annotation, comment)),
    ]
  }

  /** A suggestion without a comment says nothing that another one could be like. Answers the ids of the jobs. */
  async #judge(
    transaction: Transaction,
    { scope, actionUser }: Acting,
    decided: readonly Decided[],
    jobIds: readonly string[],
  ): Promise<readonly string[]> {
    const used: string[] = []
    for (const [index, { annotation, decision }] of decided.entries()) {
      const { annotationId, documentId } = annotation
      const [first] = await transaction.scan({ prefix: keys.comments(annotationId), limit: 1 })
      const text = first === undefined ? '' : (decodeRecord(first.value) as CommentRecord).text
      const jobId = jobIds[index]
      if (text.trim() === '' || jobId === undefined) continue
      const [reviewerId, judgedAt] = [actionUser.userId, this.#parts.clock.now()]
      transaction.enqueue(judgmentJob({ jobId, scope, documentId, text, decision, reviewerId, judgedAt }))
      used.push(jobId)
    }
    return used
  }

  #deleteSlice(acting: Acting, annotationId: string): Promise<boolean> {
    return this.#change(acting, async (transaction, happened, told) => {
      const annotation = await annotationOf(transaction, { ...acting, annotationId })
      const { actionUser } = acting
      const { comments, isGone } = await removeSlice(transaction, annotation)
      for (const comment of comments) told.push({ action: 'comment.delete', actionUser, annotation, comment })
      if (!isGone) return false
      markGone(transaction, annotation)
      happened.push({ action: 'comment_annotation.delete', actionUser, annotation })
      return true
    })
  }

  #change<T>(
    { scope, documentId }: Acting,
    work: (transaction: Transaction, happened: Happening[], told: Happening[]) => Promise<T>,
  ): Promise<T> {
    const { store, events } = this.#parts
    return store.change(scope, async (transaction) => {
      await checkResource(transaction, { type: 'document', id: documentId })
      const [happened, told]: [Happening[], Happening[]] = [[], []]
      const result = await work(transaction, happened, told)
      events.recordNew(transaction, scope, [...told.map(toldOnly), ...happened.map(occurrenceOf)])
      return result
    })
  }
}

/** For the annotations of one call. What it returns throws ItemRefused when more users are named than may be looked for by. */
function namesBounded(): (annotation: Pick<AnnotationRecord, 'location' | 'suggestion'>) => void {
  let named = 0
  return (annotation) => {
    const { size } = usersNamedInContent(annotation)
    if (size > namedUsersMax)
      throw new ItemRefused(`location and suggestion name more than ${namedUsersMax} users`)
    if (named + size > namedInCallMax)
      throw new ItemRefused(`the annotations of a call name more than ${namedInCallMax} users`)
    named += size
  }
}

const idOf = ({ annotationId }: { readonly annotationId: string }): string => annotationId

/** A comment that has been added. */
export const added = (
  actionUser: ActionUser,
  annotation: AnnotationRecord,
  comment: CommentRecord,
): Happening => ({
  action: 'comment.add',
  actionUser,
  annotation,
  comment,
  changes: { text: { from: null, to: comment.text } },
})
