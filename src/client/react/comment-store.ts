import { pauseAfter } from '../../core/base/backoff.ts'
import { EndpointReads, retryPauses } from '../endpoint/endpoint-reads.ts'
import { EndpointError, type EndpointRequest } from '../endpoint/endpoint-request.ts'
import type { DocumentProvider, RealtimeMessage } from '../provider/index.ts'
import type { CommentThread, CommentThreadPage, ThreadComment } from '../rest/endpoint-comments.ts'
import { LiveValue } from './live-value.ts'

/** Place of a new thread in the content, as `encodeAnchor` returns it. */
export interface CommentAnchor {
  /** Name of the shared type of the content. Default: the one of the editor. */
  readonly contentKey?: string | undefined
  /** Yjs relative position in base64. */
  readonly position: string
  /** End of a range. */
  readonly positionEnd?: string | undefined
}

/** Ids of a comment that was added. */
export interface AddedComment {
  readonly annotationId: string
  readonly commentId: string
}

/**
 * Comments of a document, as `useComments` returns them. The functions resolve when the server has stored the change;
 * `threads` follows soon. They never change, and reject with a `EndpointError`.
 */
export interface RoomComments {
  /** The threads of the document and of this editor, the oldest first. */
  readonly threads: readonly CommentThread[]
  /** Why the last read has failed; null if it has not. After a temporary error, it is repeated. */
  readonly error: EndpointError | null
  /** True until the first read has ended. */
  readonly isLoading: boolean
  /** Whether the user may write comments. False until the first read has ended. */
  readonly canComment: boolean
  /** Whether the document has older threads that are not in `threads`. */
  readonly hasMore: boolean
  /** Adds the next page of older threads: at most 100. */
  readonly loadMore: () => void
  /** Adds the comments of a thread that has more than its first 50. */
  readonly loadComments: (annotationId: string) => void
  /** Adds a thread. Without an anchor, it is about the whole document. */
  readonly add: (text: string, anchor?: CommentAnchor) => Promise<AddedComment>
  /** Adds a comment to a thread. */
  readonly reply: (annotationId: string, text: string) => Promise<AddedComment>
  /** Replaces the text of an own comment. */
  readonly update: (annotationId: string, commentId: string, text: string) => Promise<void>
  /** Deletes an own comment. A thread without comments is not shown. */
  readonly remove: (annotationId: string, commentId: string) => Promise<void>
  /** Sets the status of a thread: `resolved` by default. */
  readonly resolve: (annotationId: string, status?: CommentThread['status']) => Promise<void>
}

/** Maximum milliseconds that the first read waits for the connection, so that it is the only one. */
const connectMs = 500
/** Maximum number of times that a change is sent again. */
const repeatsMax = 3
/** Maximum number of keys of changes without a response that are kept. */
const unansweredMax = 100
/** Codes of a read whose thread was deleted, alone or with its document. */
const deletedCodes: readonly string[] = [
  'comment/annotation-not-found',
  'document/not-found',
  'organization/not-found',
]

/** The comments of a room, which all its components share. It reads them while a component uses them. */
export class CommentStore {
  readonly #send: EndpointRequest
  readonly #provider: DocumentProvider
  readonly #live: LiveValue<RoomComments>
  #value: RoomComments
  /** Number of components. */
  #users = 0
  /** Number of pages to read, and of those that were read last. */
  #pages = 1
  #pagesRead = 0
  /** Ids of the threads whose comments are all read. */
  readonly #whole = new Set<string>()
  readonly #reads = new EndpointReads((signal) => this.#read(signal))
  /** Number of changes. */
  #changes = 0
  /** Keys of added comments that may be stored although there was no response, by the JSON of the request. */
  readonly #unanswered = new Map<string, string>()

  constructor(provider: DocumentProvider, send: EndpointRequest) {
    this.#provider = provider
    this.#send = send
    this.#value = {
      threads: [],
      error: null,
      isLoading: true,
      canComment: false,
      hasMore: false,
      loadMore: () => {
        this.#pages = this.#pagesRead + 1
        this.#reads.readIn(0)
      },
      loadComments: (annotationId) => {
        this.#whole.add(annotationId)
        this.#reads.readIn(0)
      },
      add: (text, anchor) => this.#add('add', { text, anchor }),
      reply: (annotationId, text) => {
        this.#whole.add(annotationId)
        return this.#add('reply', { annotationId, text })
      },
      update: (annotationId, commentId, text) => this.#change('update', { annotationId, commentId, text }),
      remove: (annotationId, commentId) => this.#change('delete', { annotationId, commentId }),
      resolve: (annotationId, status = 'resolved') => this.#change('resolve', { annotationId, status }),
    }
    this.#live = new LiveValue(() => this.#value, isSameContent)
  }

  readonly get = (): RoomComments => this.#live.get()

  readonly subscribe = (listener: () => void): (() => void) => {
    const unsubscribe = this.#live.subscribe(listener)
    this.#users += 1
    if (this.#users === 1) this.#start()
    return () => {
      unsubscribe()
      this.#users -= 1
      if (this.#users === 0) this.#stop()
    }
  }

  #start(): void {
    this.#provider.on('message', this.#messageReceived)
    this.#provider.on('synced', this.#connected)
    // StrictMode stops it at once.
    this.#reads.start(this.#provider.synced ? 0 : connectMs)
  }

  #stop(): void {
    this.#provider.off('message', this.#messageReceived)
    this.#provider.off('synced', this.#connected)
    this.#reads.stop()
  }

  readonly #messageReceived = ({ event }: RealtimeMessage): void => {
    if (event === 'comments.changed') this.#reads.changed()
  }

  /** The messages of the time without a connection are lost. */
  readonly #connected = (isSynced: boolean): void => {
    if (isSynced) this.#reads.readIn(0)
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    let found: Partial<RoomComments>
    try {
      found = { ...(await this.#readPages(signal)), error: null }
    } catch (error) {
      found = { error: error as EndpointError }
      if (found.error?.code === 'endpoint/denied') Object.assign(found, { threads: [], canComment: false })
    }
    // Not the read of a component that has ended meanwhile.
    if (signal.aborted) return true
    this.#value = { ...this.#value, ...found, isLoading: false }
    this.#live.refresh()
    return found.error?.isTemporary !== true
  }

  async #readPages(signal: AbortSignal): Promise<Partial<RoomComments>> {
    const threads = new Map<string, CommentThread>()
    let canComment = false
    let pageToken: string | undefined
    let pages = 0
    do {
      const result = await this.#send<CommentThreadPage>('comments/get', { pageToken }, signal)
      canComment = result.data.canComment
      pageToken = result.pageToken
      for (const thread of result.data.threads) threads.set(thread.annotationId, thread)
      pages += 1
    } while (pages < this.#pages && pageToken !== undefined)
    this.#pagesRead = pages
    for (const [id, thread] of threads) {
      if (!this.#whole.has(id) || thread.comments.length >= thread.commentCount) continue
      const comments = await this.#readThread(id, signal)
      if (comments === null) threads.delete(id)
      else threads.set(id, { ...thread, comments })
    }
    // The pages begin with the newest thread.
    return { threads: [...threads.values()].reverse(), canComment, hasMore: pageToken !== undefined }
  }

  /** Returns all comments of a thread; null if it was deleted after the page with it was read. */
  async #readThread(annotationId: string, signal: AbortSignal): Promise<readonly ThreadComment[] | null> {
    const comments: ThreadComment[] = []
    let pageToken: string | undefined
    try {
      do {
        const page = { annotationId, pageToken }
        const result = await this.#send<readonly ThreadComment[]>('comments/thread', page, signal)
        comments.push(...result.data)
        pageToken = result.pageToken
      } while (pageToken !== undefined)
    } catch (error) {
      if (error instanceof EndpointError && deletedCodes.includes(error.code)) return null
      throw error
    }
    return comments
  }

  /** Adds a comment. After a temporary error, the same comment gets the same key, so that it is stored once. */
  async #add(path: string, members: object): Promise<AddedComment> {
    const action = JSON.stringify([path, members])
    const key = this.#unanswered.get(action) ?? newKey()
    try {
      const added = await this.#change<AddedComment>(path, members, key)
      this.#unanswered.delete(action)
      return added
    } catch (error) {
      if (isTemporary(error) && this.#unanswered.size < unansweredMax) this.#unanswered.set(action, key)
      else this.#unanswered.delete(action)
      throw error
    }
  }

  /**
   * Sends a change, and sends it again after a temporary error. It is not aborted when its component ends. A change that
   * replaces a value is not sent again after a newer change, because it could replace the newer value.
   */
  async #change<Data>(path: string, members: object, idempotencyKey = newKey()): Promise<Data> {
    this.#changes += 1
    const number = this.#changes
    const isReplaced = (): boolean => number < this.#changes && !/add|reply/.test(path)
    for (let failures = 0; ; ) {
      try {
        const { data } = await this.#send<Data>(`comments/${path}`, { ...members, idempotencyKey })
        this.#reads.readIn(0)
        return data
      } catch (error) {
        if (!isTemporary(error) || isReplaced() || failures >= repeatsMax) throw error
        failures += 1
        await pause(pauseAfter(retryPauses, failures))
        // The newer change may have been made during the pause.
        if (isReplaced()) throw error
      }
    }
  }
}

const isTemporary = (error: unknown): boolean => error instanceof EndpointError && error.isTemporary

/** Returns an idempotency key. `crypto.randomUUID` does not exist on pages without TLS. */
const newKey = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-')

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const isSameContent = (one: RoomComments, other: RoomComments): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
