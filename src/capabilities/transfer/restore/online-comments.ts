import * as s from '../../../core/base/schema.ts'
import { StorageError } from '../../backups/storage/storage-error.ts'
import type { AnnotationRecord, CommentRecord } from '../../comments/comment-records.ts'
import { callOnline, listOnline, type OnlineServer } from '../documents/rest-client.ts'
import type { StoredThread } from './backup-documents.ts'
import { batchResultsSchema } from './online-records.ts'

/** Comments of one call; at their maximum size they fit into a request. */
const commentsAtOnce = 50

const foundSchema = s.array(s.object({ annotationId: s.string, commentCount: s.number }))
const commentsSchema = s.array(s.object({ commentId: s.string }))

/** Number of records that a thread got. */
interface ThreadAdditions {
  /** 1 if the thread did not exist. */
  readonly threads: number
  readonly comments: number
}

/** Adds comment threads to documents of a running server. */
export class OnlineComments {
  readonly #server: OnlineServer
  readonly #organizationId: string
  readonly #isDryRun: boolean

  constructor(server: OnlineServer, organizationId: string, isDryRun: boolean) {
    this.#server = server
    this.#organizationId = organizationId
    this.#isDryRun = isDryRun
  }

  /**
   * Adds a thread, or the comments that the server does not have. Changes no existing thread and no existing comment.
   * @param isNew true if the document did not exist
   * @throws StorageError
   */
  async restore({ annotation, comments }: StoredThread, isNew: boolean): Promise<ThreadAdditions> {
    const { annotationId } = annotation
    const isPresent = !isNew && (await this.#hasThread(annotation))
    const present = isPresent ? await this.#commentIds(annotation) : new Set<string>()
    const missing = comments.filter(({ commentId }) => !present.has(commentId))
    const added = { threads: isPresent ? 0 : 1, comments: missing.length }
    if (this.#isDryRun) return added
    if (!isPresent) await this.#addThread(annotation)
    for (let at = 0; at < missing.length; at += commentsAtOnce) {
      const slice = missing.slice(at, at + commentsAtOnce)
      const given = slice.map(({ commentId, from, text }) => ({ commentId, from, text }))
      await this.#call(annotation, 'comments/add', { annotationId, comments: given })
    }
    for (const comment of missing) await this.#addReactions(annotation, comment)
    return added
  }

  async #hasThread({ documentId, annotationId }: AnnotationRecord): Promise<boolean> {
    const query = { organizationId: this.#organizationId, documentId, annotationIds: [annotationId] }
    return (await callOnline(this.#server, '/v2/commentannotations/get', query, foundSchema)).data.length > 0
  }

  async #commentIds({ documentId, annotationId }: AnnotationRecord): Promise<ReadonlySet<string>> {
    const query = { organizationId: this.#organizationId, documentId, annotationId }
    const path = '/v2/commentannotations/comments/get'
    const ids = new Set<string>()
    for await (const { commentId } of listOnline(this.#server, path, query, commentsSchema))
      ids.add(commentId)
    return ids
  }

  async #addThread(annotation: AnnotationRecord): Promise<void> {
    const { annotationId, location, anchor, status, priority, assignedTo, suggestion } = annotation
    const given = {
      annotationId,
      status,
      priority,
      assignedTo,
      ...(location !== null && { location }),
      ...(anchor !== null && { anchor }),
      // A decided suggestion could be decided again, so it is left out.
      ...(suggestion?.status === 'pending' && { suggestion: { content: suggestion.content } }),
    }
    await this.#call(annotation, 'add', { annotations: [given] })
  }

  async #addReactions(annotation: AnnotationRecord, { commentId, reactions }: CommentRecord): Promise<void> {
    const [first] = reactions
    if (first === undefined) return
    const { annotationId } = annotation
    const given = reactions.map(({ reactionId, reaction, user }) => ({ reactionId, reaction, user }))
    const query = { annotationId, commentId, actionUser: first.user, reactions: given }
    await this.#call(annotation, 'comments/reactions/add', query)
  }

  /** Calls an operation for items of a thread. @throws StorageError also if an item was rejected */
  async #call(
    { annotationId, documentId, createdBy }: AnnotationRecord,
    operation: string,
    query: object,
  ): Promise<void> {
    const path = `/v2/commentannotations/${operation}`
    const data = { organizationId: this.#organizationId, documentId, actionUser: createdBy, ...query }
    const results = Object.entries((await callOnline(this.#server, path, data, batchResultsSchema)).data)
    const rejected = results.find(([, { success }]) => !success)
    if (rejected === undefined) return
    const [id, { message }] = rejected
    throw new StorageError(`the comment thread ${annotationId} could not be restored: ${id}: ${message}`)
  }
}
