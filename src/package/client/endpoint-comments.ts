import type {
  CommentannotationsGetData,
  DocumentComment,
  ItemResult,
  NamedUser,
  WeftApi,
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
} from './endpoint-body.ts'
import { RejectedRequest, rejected, resultForUser } from './endpoint-rejection.ts'
import type { CheckedUser, EndpointDocument } from './endpoint-user.ts'

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

/** Maximum milliseconds of a call with its retries. */
const callOptions = { timeoutMs: 20_000 }
/** Maximum milliseconds of the live message. If it is lost, pages only show the change later. */
const messageOptions = { timeoutMs: 5_000 }

/** Limits of REST: bytes of a comment, threads of a page, and characters of other members. */
const limits = { textBytes: 16_384, pageSize: 100, pageToken: 32_768, contentKey: 10_000, position: 1_368 }

/** Codes of a document that does not exist before its first edit. */
const noDocument: readonly string[] = ['organization/not-found', 'document/not-found']

/** A request about comments, whose user is authorized. */
export interface CommentCall {
  readonly api: WeftApi
  readonly document: EndpointDocument
  readonly user: CheckedUser
  readonly onError: (error: unknown) => void
}

/** Members of a successful response. */
interface CommentResult {
  readonly message: string
  readonly data: object | null
  readonly pageToken?: string | undefined
}

/** A path of the endpoint below `comments/`. */
export interface CommentOperation {
  /** Readers of its members in addition to those of the document. */
  readonly readers: ReadersByName
  readonly isChange: boolean
  /** @throws RejectedRequest, or WeftError for a fault */
  run(call: CommentCall, members: object): Promise<CommentResult>
}

const operation = <Readers extends ReadersByName>(
  isChange: boolean,
  readers: Readers,
  run: (call: CommentCall, members: MembersOf<Readers>) => Promise<CommentResult>,
): CommentOperation => ({
  readers,
  isChange,
  run: (call, members) => run(call, members as MembersOf<Readers>),
})

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
export function createCommentOperations(): ReadonlyMap<string, CommentOperation> {
  const readers = createReaders()
  return new Map([
    ['comments/get', operation(false, readers.get, getThreads)],
    ['comments/thread', operation(false, readers.thread, getThread)],
    ['comments/add', operation(true, readers.add, addThread)],
    ['comments/reply', operation(true, readers.reply, reply)],
    ['comments/update', operation(true, readers.update, updateComment)],
    ['comments/delete', operation(true, readers.delete, deleteComment)],
    ['comments/resolve', operation(true, readers.resolve, setStatus)],
  ])
}

async function getThreads(
  { api, document, user }: CommentCall,
  { status, pageToken }: RequestMembers<'get'>,
): Promise<CommentResult> {
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
  { api, document }: CommentCall,
  { annotationId, pageToken }: RequestMembers<'thread'>,
): Promise<CommentResult> {
  const request = { ...scopeOf(document), annotationId, pageToken }
  const { message, data, nextPage } = resultForUser(
    await api.commentannotations.comments.get(request, callOptions),
  )
  return { message, data: data.map(viewComment), pageToken: nextPage }
}

async function addThread(call: CommentCall, { text, anchor }: RequestMembers<'add'>): Promise<CommentResult> {
  const { api, document, user } = call
  const [annotationId, comment] = [crypto.randomUUID(), newComment(user, text)]
  const annotation = {
    annotationId,
    comments: [comment],
    ...(anchor !== undefined && { anchor: { editorId: document.editorId, ...anchor } }),
  }
  const request = { ...actingOn(call), annotations: [annotation] }
  return afterChange(call, await api.commentannotations.add(request, callOptions), {
    annotationId,
    commentId: comment.commentId,
  })
}

async function reply(
  call: CommentCall,
  { annotationId, text }: RequestMembers<'reply'>,
): Promise<CommentResult> {
  const comment = newComment(call.user, text)
  const request = { ...actingOn(call), annotationId, comments: [comment] }
  return afterChange(call, await call.api.commentannotations.comments.add(request, callOptions), {
    annotationId,
    commentId: comment.commentId,
  })
}

async function updateComment(
  call: CommentCall,
  { annotationId, commentId, text }: RequestMembers<'update'>,
): Promise<CommentResult> {
  await requireOwn(call, annotationId, commentId)
  const request = { ...actingOn(call), annotationId, comments: [{ commentId, text }] }
  return afterChange(call, await call.api.commentannotations.comments.update(request, callOptions))
}

/** Deletes a comment, but not its thread: another user can be replying at this moment. */
async function deleteComment(
  call: CommentCall,
  { annotationId, commentId }: RequestMembers<'delete'>,
): Promise<CommentResult> {
  await requireOwn(call, annotationId, commentId)
  const request = { ...actingOn(call), annotationId, commentIds: [commentId] }
  return afterChange(call, await call.api.commentannotations.comments.delete(request, callOptions))
}

async function setStatus(
  call: CommentCall,
  { annotationId, status }: RequestMembers<'resolve'>,
): Promise<CommentResult> {
  const request = { ...actingOn(call), annotations: [{ annotationId, status }] }
  return afterChange(call, await call.api.commentannotations.update(request, callOptions))
}

/**
 * Checks that a comment is of the user. Its author never changes, and a deleted comment cannot return, because the
 * endpoint chooses the ids. So the check also holds for the change that follows.
 * @throws RejectedRequest if it is not
 */
async function requireOwn(
  { api, document, user }: CommentCall,
  annotationId: string,
  commentId: string,
): Promise<void> {
  const request = { ...scopeOf(document), annotationId, commentIds: [commentId] }
  const [comment] = resultForUser(await api.commentannotations.comments.get(request, callOptions)).data
  if (comment === undefined) throw itemRejection('comment/not-found', 'there is no such comment')
  if (comment.from.userId !== user.userId)
    throw rejected('endpoint/not-author', 'only the author can change or delete a comment')
}

/**
 * Returns the result of a change, which has one item, after a live message to the clients on the document.
 * @throws RejectedRequest if the change was rejected
 */
async function afterChange(
  { api, document, onError }: CommentCall,
  result: Result<{ readonly [id: string]: ItemResult }>,
  data: object | null = null,
): Promise<CommentResult> {
  const [item] = Object.values(resultForUser(result).data)
  if (item?.success !== true)
    throw itemRejection(item?.details?.code ?? 'comment/not-found', item?.message ?? 'nothing was changed')
  const event = { ...scopeOf(document), event: changedEvent }
  try {
    resultForUser(await api.livestate.broadcast(event, messageOptions))
  } catch (error) {
    // The change is stored, so that a repeated request would be a second one.
    onError(error)
  }
  return { message: item.message, data }
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

const actingOn = ({ document, user }: CommentCall) => ({ ...scopeOf(document), actionUser: authorOf(user) })

const newComment = (user: CheckedUser, text: string) => ({
  commentId: crypto.randomUUID(),
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
