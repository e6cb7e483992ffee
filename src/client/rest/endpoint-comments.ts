import type { CallOptions } from '../api/methods.ts'
import type {
  CommentannotationsGetData,
  DocumentComment,
  ItemResult,
  NamedUser,
} from '../api/operation-types.ts'
import type { Result } from '../api/result.ts'
import {
  boundedText,
  choiceOf,
  type MembersOf,
  optionalMember,
  type ReadersByName,
  readMembers,
  validId,
  validKey,
} from './endpoint-body.ts'
import {
  callOptions,
  digestOf,
  type EndpointAnswer,
  type EndpointCall,
  type EndpointOperation,
  openOperation,
} from './endpoint-operation.ts'
import { RejectedRequest, rejected, resultForUser } from './endpoint-rejection.ts'
import type { EndpointDocument } from './endpoint-user.ts'

/** Author of a comment or a thread. */
export interface CommentAuthor {
  readonly userId: string
  readonly name?: string | undefined
}

/** A comment, as the endpoint returns it. */
export interface ThreadComment {
  readonly commentId: string
  readonly from: CommentAuthor
  readonly text: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Epoch milliseconds of the last change. */
  readonly lastUpdated: number
}

/** A thread of comments, as the endpoint returns it. */
export interface CommentThread {
  readonly annotationId: string
  readonly status: 'open' | 'resolved'
  /** Place in the content of the editor: Yjs relative positions in base64. Null: the whole document. */
  readonly anchor: {
    readonly contentKey: string
    readonly position: string
    /** End of a range. */
    readonly positionEnd?: string | undefined
  } | null
  /** The text at which the anchor is now; null: it was deleted. Absent if the server does not know it. */
  readonly quote?: string | null
  /** The oldest comments: 50 at most. `comments/thread` returns all. */
  readonly comments: readonly ThreadComment[]
  /** Total number of comments. */
  readonly commentCount: number
  readonly createdBy: CommentAuthor
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** Data of a response of `comments/get`. */
export interface CommentThreadPage {
  /** The threads of the document and of its editor, the newest first. */
  readonly threads: readonly CommentThread[]
  /** Whether the user may write comments. */
  readonly canComment: boolean
}

/** Name of the live message to the clients on a document after each change of its comments. */
const changedEvent = 'comments.changed'

/** Maximum milliseconds of the live message. If it is lost, pages only show the change later. */
const messageOptions = { timeoutMs: 5_000 }

/** Limits of REST: bytes of a comment, threads of a page, and characters of other members. */
const limits = { textBytes: 16_384, pageSize: 100, pageToken: 32_768, contentKey: 10_000, position: 1_368 }

/** Codes of a request that was sent again after its first call had stored the item. */
const storedCodes: readonly string[] = ['comment/annotation-id-taken', 'comment/id-taken']

/** Codes of a document that does not exist before its first edit. */
const noDocument: readonly string[] = ['organization/not-found', 'document/not-found']

/** A request that changes comments. */
interface ChangeCall extends EndpointCall {
  /** Options of the call that changes something. They have the key of a request that can be sent again. */
  readonly options: CallOptions
  /** Ids of a new thread and of a new comment. A request that is sent again gets the same ones. */
  readonly newIds: { readonly annotationId: string; readonly commentId: string }
}

const changeOperation = <Readers extends ReadersByName>(
  readers: Readers,
  run: (call: ChangeCall, members: MembersOf<Readers>) => Promise<EndpointAnswer>,
): EndpointOperation => ({
  readers: { ...readers, idempotencyKey: optionalMember(validKey) },
  writesComments: true,
  async run(call, { idempotencyKey, ...members }: { readonly idempotencyKey?: string | undefined }) {
    return run(await changeCallOf(call, idempotencyKey), members as MembersOf<Readers>)
  },
})

/** @param key key of the page; undefined if the page does not send the request again */
async function changeCallOf(call: EndpointCall, key: string | undefined): Promise<ChangeCall> {
  if (key === undefined) {
    const newIds = { annotationId: crypto.randomUUID(), commentId: crypto.randomUUID() }
    return { ...call, options: callOptions, newIds }
  }
  const { organizationId, documentId } = call.document
  // A page cannot choose a key of another user or of the application.
  const origin = [call.user.userId, organizationId, documentId, key]
  const [idempotencyKey, ids] = await Promise.all([
    digestOf(['key', ...origin]),
    digestOf(['ids', ...origin]),
  ])
  return {
    ...call,
    options: { ...callOptions, idempotencyKey },
    newIds: { annotationId: ids.slice(0, 32), commentId: ids.slice(32) },
  }
}

/**
 * Returns the readers of the members of each operation. It is a function, so that programs without the endpoint need
 * not contain them.
 */
function createReaders() {
  const text = boundedText(limits.textBytes)
  const status = choiceOf(['open', 'resolved'])
  const pageToken = optionalMember(boundedText(limits.pageToken))
  const anchorReaders = {
    contentKey: optionalMember(boundedText(limits.contentKey)),
    position: boundedText(limits.position),
    positionEnd: optionalMember(boundedText(limits.position)),
  }
  const anchor = optionalMember((value, path) => readMembers(value, anchorReaders, path))
  return {
    get: { status: optionalMember(status), pageToken },
    thread: { annotationId: validId, pageToken },
    add: { text, anchor },
    reply: { annotationId: validId, text },
    update: { annotationId: validId, commentId: validId, text },
    delete: { annotationId: validId, commentId: validId },
    resolve: { annotationId: validId, status },
  }
}

/** The members of the request of an operation. */
type RequestMembers<Name extends keyof ReturnType<typeof createReaders>> = MembersOf<
  ReturnType<typeof createReaders>[Name]
>

/** Returns the operations by their paths below the endpoint. */
export function createCommentOperations(): ReadonlyMap<string, EndpointOperation> {
  const readers = createReaders()
  return new Map([
    ['comments/get', openOperation(readers.get, getThreads)],
    ['comments/thread', openOperation(readers.thread, getThread)],
    ['comments/add', changeOperation(readers.add, addThread)],
    ['comments/reply', changeOperation(readers.reply, reply)],
    ['comments/update', changeOperation(readers.update, updateComment)],
    ['comments/delete', changeOperation(readers.delete, deleteComment)],
    ['comments/resolve', changeOperation(readers.resolve, setStatus)],
  ])
}

async function getThreads(
  { api, document, user }: EndpointCall,
  { status, pageToken }: RequestMembers<'get'>,
): Promise<EndpointAnswer> {
  const result = await api.commentannotations.get(
    {
      ...scopeOf(document),
      // A new thread is on the first page, however many threads there are.
      order: 'desc',
      pageSize: limits.pageSize,
      pageToken,
      statuses: status && [status],
    },
    callOptions,
  )
  const { canComment } = user
  if (!result.ok && noDocument.includes(result.error.code))
    return { message: 'The document has no comments.', data: { threads: [], canComment } }
  const { message, data, nextPage } = resultForUser(result)
  const threads = data
    .filter(
      ({ anchor, commentCount }) =>
        commentCount > 0 && (anchor?.editorId ?? document.editorId) === document.editorId,
    )
    .map(viewThread)
  return { message, data: { threads, canComment } satisfies CommentThreadPage, pageToken: nextPage }
}

async function getThread(
  { api, document }: EndpointCall,
  { annotationId, pageToken }: RequestMembers<'thread'>,
): Promise<EndpointAnswer> {
  const request = { ...scopeOf(document), annotationId, pageToken }
  const { message, data, nextPage } = resultForUser(
    await api.commentannotations.comments.get(request, callOptions),
  )
  return { message, data: data.map(viewComment), pageToken: nextPage }
}

async function addThread(call: ChangeCall, { text, anchor }: RequestMembers<'add'>): Promise<EndpointAnswer> {
  const { api, document, newIds, options } = call
  const annotation = {
    annotationId: newIds.annotationId,
    comments: [newComment(call, text)],
    ...(anchor !== undefined && { anchor: { editorId: document.editorId, ...anchor } }),
  }
  const request = { ...actingOn(call), annotations: [annotation] }
  return afterChange(call, await api.commentannotations.add(request, options), newIds)
}

async function reply(
  call: ChangeCall,
  { annotationId, text }: RequestMembers<'reply'>,
): Promise<EndpointAnswer> {
  const { api, newIds, options } = call
  const request = { ...actingOn(call), annotationId, comments: [newComment(call, text)] }
  return afterChange(call, await api.commentannotations.comments.add(request, options), {
    annotationId,
    commentId: newIds.commentId,
  })
}

async function updateComment(
  call: ChangeCall,
  { annotationId, commentId, text }: RequestMembers<'update'>,
): Promise<EndpointAnswer> {
  await requireOwn(call, annotationId, commentId)
  const request = { ...actingOn(call), annotationId, comments: [{ commentId, text }] }
  return afterChange(call, await call.api.commentannotations.comments.update(request, call.options))
}

/** Deletes a comment, but not its thread: another user can be replying at this moment. */
async function deleteComment(
  call: ChangeCall,
  { annotationId, commentId }: RequestMembers<'delete'>,
): Promise<EndpointAnswer> {
  await requireOwn(call, annotationId, commentId)
  const request = { ...actingOn(call), annotationId, commentIds: [commentId] }
  return afterChange(call, await call.api.commentannotations.comments.delete(request, call.options))
}

async function setStatus(
  call: ChangeCall,
  { annotationId, status }: RequestMembers<'resolve'>,
): Promise<EndpointAnswer> {
  const request = { ...actingOn(call), annotations: [{ annotationId, status }] }
  return afterChange(call, await call.api.commentannotations.update(request, call.options))
}

/**
 * Checks that a comment is of the user. Its author never changes, and a deleted comment cannot return, because the
 * endpoint chooses the ids. So the check also holds for the change that follows. A request with a key may have deleted
 * the comment when it was sent before; REST then returns the first response.
 * @throws RejectedRequest if it is not
 */
async function requireOwn(
  { api, document, user, options }: ChangeCall,
  annotationId: string,
  commentId: string,
): Promise<void> {
  const request = { ...scopeOf(document), annotationId, commentIds: [commentId] }
  const [comment] = resultForUser(await api.commentannotations.comments.get(request, callOptions)).data
  if (comment === undefined) {
    if (options.idempotencyKey !== undefined) return
    throw itemRejection('comment/not-found', 'there is no such comment')
  }
  if (comment.from.userId !== user.userId)
    throw rejected('endpoint/not-author', 'only the author can change or delete a comment')
}

/**
 * Returns the result of a change, which has one item, after a live message to the clients on the document.
 * @throws RejectedRequest if the change was rejected
 */
async function afterChange(
  { api, document, onError, options }: ChangeCall,
  result: Result<{ readonly [id: string]: ItemResult }>,
  data: object | null = null,
): Promise<EndpointAnswer> {
  const [item] = Object.values(resultForUser(result).data)
  const code = item?.details?.code
  // The ids are derived from the key, so that the stored item is the one of this request.
  const wasStored = options.idempotencyKey !== undefined && storedCodes.includes(code ?? '')
  if (item === undefined || !(item.success || wasStored))
    throw itemRejection(code ?? 'comment/not-found', item?.message ?? 'nothing was changed')
  const event = { ...scopeOf(document), event: changedEvent }
  try {
    resultForUser(await api.livestate.broadcast(event, messageOptions))
  } catch (error) {
    // The change is stored, so the request must not fail.
    onError(error)
  }
  return { message: wasStored ? 'added' : item.message, data }
}

const itemRejection = (code: string, message: string): RejectedRequest =>
  new RejectedRequest({
    status: code.endsWith('/not-found') || code.endsWith('-not-found') ? 'NOT_FOUND' : 'FAILED_PRECONDITION',
    code,
    message,
  })

const scopeOf = ({ organizationId, documentId }: EndpointDocument) => ({ organizationId, documentId })

/** The email address is left out, because all users of the document can read it. */
const authorOf = ({ userId, name }: NamedUser): CommentAuthor => ({
  userId,
  ...(name !== undefined && { name }),
})

const actingOn = ({ document, user }: ChangeCall) => ({ ...scopeOf(document), actionUser: authorOf(user) })

const newComment = ({ user, newIds }: ChangeCall, text: string) => ({
  commentId: newIds.commentId,
  from: authorOf(user),
  text,
})

/** Returns the members of a thread that pages need. Others, such as the location, are for the application only. */
function viewThread({
  annotationId,
  status,
  anchor,
  anchorPlace,
  comments,
  commentCount,
  createdBy,
  createdAt,
}: CommentannotationsGetData[number]): CommentThread {
  const quote = anchorPlace === undefined ? {} : { quote: anchorPlace?.quote ?? null }
  return {
    annotationId,
    status,
    anchor: anchor === null ? null : viewAnchor(anchor),
    ...quote,
    comments: comments.map(viewComment),
    commentCount,
    createdBy: authorOf(createdBy),
    createdAt,
  }
}

const viewAnchor = ({
  contentKey,
  position,
  positionEnd,
}: NonNullable<CommentannotationsGetData[number]['anchor']>): NonNullable<CommentThread['anchor']> => ({
  contentKey,
  position,
  ...(positionEnd !== undefined && { positionEnd }),
})

const viewComment = ({ commentId, from, text, createdAt, lastUpdated }: DocumentComment): ThreadComment => ({
  commentId,
  from: authorOf(from),
  text,
  createdAt,
  lastUpdated,
})
