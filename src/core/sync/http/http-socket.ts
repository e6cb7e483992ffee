import type { IncomingMessage, ServerResponse } from 'node:http'
import { closeCodes } from '../../model/close.ts'
import { unauthenticatedMessageBytesMax } from '../../quota/memory-bounds.ts'
import { bytesPerSecondMin } from '../../quota/slow-transfers.ts'
import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'
import { deadAfterMs } from '../socket/heartbeat.ts'
import type { SocketAcceptor } from '../socket/local-socket.ts'
import { headBytes } from '../socket/message-cutter.ts'
import { SocketMemory, type SocketOwner, UnreadFrames } from '../socket/socket-memory.ts'
import { FrameMessages } from './encoded-messages.ts'
import { EventQueue, EventResponse, sendClosed } from './event-response.ts'
import {
  type BodyLimits,
  type BodyProblem,
  type BodyReader,
  MessageBody,
  type PostedMessages,
} from './message-body.ts'

/** The messages that one GET requests. */
interface EventRange {
  /** Number of the last message that the client has received. */
  readonly position: number
  /** Maximum milliseconds of a long poll; null for a stream. */
  readonly waitMs: number | null
}

/** The parameters of one POST. */
interface PostHeader {
  /** Number of the first message in the body; null if the body has no messages. */
  readonly number: number | null
  readonly position: number | null
  /** Close code, if the client ends the session after the messages; otherwise null. */
  readonly close: number | null
}

export type PostOutcome =
  | { readonly kind: 'received' | 'gap' | 'tooLarge' | 'malformed'; readonly received: number }
  /** No response is possible or useful: the connection ended, or a newer POST has replaced this one. */
  | { readonly kind: 'dropped' }

type SocketState =
  | { readonly kind: 'open' }
  /** The server has closed the session. The client has not received the reason yet. */
  | { readonly kind: 'closing'; readonly code: number; readonly reason: string; readonly sinceMs: number }
  | { readonly kind: 'closed' }

/** A POST whose messages are being read or used. */
interface Post {
  readonly body: MessageBody
  readonly request: PostHeader
  messages: PostedMessages | null
  /** Number of the next message in `messages`. */
  number: number
  readonly finish: (outcome: PostOutcome) => void
}

/** Minimum of the limit for one body, because clients send many messages together. */
const bodyBytesMin = 262_144
/** Bytes of the length before a message. */
const lengthBytes = 8
/** Maximum bytes of a body before authentication. */
const unauthenticatedBodyBytesMax = unauthenticatedMessageBytesMax * 4
/**
 * Milliseconds after the last request of a client at which its stream ends. The next GET proves that the client is
 * alive, because a proxy may keep a stream open whose client is gone. A client that posts more often keeps it.
 */
const streamSilenceMs = 20_000
/** Milliseconds for which the reason of a close waits for the next GET. */
const closeTimeoutMs = 5_000
/** Close code for a connection that ended without a close frame (RFC 6455 7.4.1). */
const abnormalClosure = 1006

/**
 * The session of a client over HTTP. GET requests carry the messages to the client, POST requests carry those of the
 * client. Messages have consecutive numbers in both directions, so the session survives the loss of any request or
 * response.
 */
export class HttpSocket implements ClientSocket, BodyReader {
  readonly transport = 'http'
  readonly #acceptor: SocketAcceptor
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly #time: () => number
  readonly #memory: SocketMemory
  readonly #onEnded: () => void
  readonly #isMultiplexed: boolean
  #unread: UnreadFrames
  readonly #queue = new EventQueue()
  readonly #frames = new FrameMessages()
  /** Frames of the current tick. */
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #response: EventResponse | null = null
  #listener: SocketListener | null = null
  #onClosed: ((code: number) => void)[] = []
  #onDrained: (() => void)[] = []
  #post: Post | null = null
  /** Number of the last message of the client that was used. */
  #received = 0
  #isPaused = false
  #state: SocketState = { kind: 'open' }
  /** Time of the last request of the client. */
  #seenAt: number
  /** Time since which the client has messages that it does not acknowledge. */
  #unreadSince: number

  /**
   * @param isMultiplexed whether the session carries several documents, so that a message that is too large ends only
   * its document
   * @param onEnded called when the session needs no further request
   */
  constructor(
    owner: SocketOwner,
    isMultiplexed: boolean,
    acceptor: SocketAcceptor,
    time: () => number,
    onEnded: () => void,
  ) {
    this.#isMultiplexed = isMultiplexed
    this.#onEnded = onEnded
    this.#acceptor = acceptor
    this.#time = time
    this.#memory = new SocketMemory(acceptor.options.memory, owner, () => this.terminate())
    this.#unread = this.#newUnread()
    this.#seenAt = time()
    this.#unreadSince = this.#seenAt
  }

  get isOpen(): boolean {
    return this.#state.kind === 'open'
  }

  get #isEnded(): boolean {
    return this.#state.kind === 'closed'
  }

  get isFull(): boolean {
    return this.#queue.bytes + this.#waitingBytes > this.#acceptor.options.sendBufferBytesMax
  }

  get isCrowded(): boolean {
    return this.#memory.isCrowded
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
  }

  onClosed(fn: (code: number) => void): void {
    this.#onClosed.push(fn)
  }

  write(frames: Uint8Array): void {
    if (!this.isOpen) return
    this.#waiting.push(frames)
    this.#waitingBytes += frames.length
    if (this.#waiting.length === 1) this.#acceptor.batch.add(this)
  }

  share(frames: Uint8Array): void {
    this.write(frames)
  }

  /** Moves the frames of this tick to the queue of messages, and sends them. */
  flush(): void {
    if (this.#waiting.length === 0) return
    const frames = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    if (this.#isEnded) return
    if (this.#queue.bytes === 0) this.#unreadSince = this.#time()
    const messages =
      frames.length === 1
        ? this.#frames.read(frames[0] as Uint8Array)
        : frames.flatMap((each) => this.#frames.read(each))
    this.#queue.add(messages, this.#unread)
    this.#response?.send()
  }

  /**
   * Calls `fn` once, when the client has acknowledged so much that at most half of the send buffer is in use. The
   * last messages may stay unacknowledged for a long time, because an idle client sends few requests.
   */
  whenDrained(fn: () => void): void {
    this.#onDrained.push(fn)
    process.nextTick(() => this.#checkDrained())
  }

  /** Reports at once that the client is alive, because `check` ends the session of a dead client. */
  ping(): void {
    this.#listener?.frames(0, 0)
  }

  pause(): void {
    this.#isPaused = true
    this.#post?.body.pause()
  }

  /** Continues after the callback of the caller, as the connection of a websocket does. */
  resume(): void {
    this.#isPaused = false
    if (this.#post !== null) process.nextTick(() => this.#continuePost())
  }

  admit(workspaceId: string): void {
    this.#memory.admit(workspaceId)
    const { bytes } = this.#queue
    this.#unread.update(0)
    this.#unread = this.#newUnread()
    this.#unread.update(bytes)
  }

  close(code: number, reason: string): void {
    if (!this.isOpen) return
    this.flush()
    this.#state = { kind: 'closing', code, reason, sinceMs: this.#time() }
    this.#notifyClosed(code)
    this.#endPost()
    this.#response?.close(code, reason)
  }

  terminate(): void {
    if (this.#isEnded) return
    const response = this.#response
    this.#end(abnormalClosure)
    response?.destroy()
  }

  /** Sends messages in the response from now on. The response to an earlier GET ends. */
  attach(response: ServerResponse, { position, waitMs }: EventRange): void {
    const time = this.#time()
    this.#seenAt = time
    this.flush()
    // The session may have ended while the token of this request was checked.
    if (this.#isEnded) return sendClosed(response, closeCodes.tryAgainLater, 'unknown session; connect again')
    // Only a delayed request has such a position. It must not replace a newer one.
    if (position < this.#queue.acknowledged || position > this.#queue.last)
      return sendClosed(response, closeCodes.tryAgainLater, 'unknown position; connect again')
    this.acknowledge(position)
    this.#response?.end()
    this.#response = new EventResponse(response, this.#queue, { position, waitMs, time }, (closed) =>
      this.#detach(closed),
    )
    if (this.#state.kind === 'closing') this.#response.close(this.#state.code, this.#state.reason)
  }

  /** Reads the messages of a POST. An earlier POST that is not complete ends, because its client has given it up. */
  receive(request: IncomingMessage, message: PostHeader): Promise<PostOutcome> {
    this.#seenAt = this.#time()
    if (message.position !== null) this.acknowledge(message.position)
    this.#endPost()
    const number = message.number ?? this.#received + 1
    const problem = number > this.#received + 1 ? 'gap' : this.isOpen ? null : 'received'
    if (problem !== null) {
      const outcome = this.#outcome(problem)
      if (message.close !== null) this.#closedByClient(message.close)
      return Promise.resolve(outcome)
    }
    return new Promise((finish) => {
      const body = new MessageBody(request, this.#bodyLimits, this.#acceptor.transfers, this)
      this.#post = { body, request: message, messages: null, number, finish }
      this.#continuePost()
    })
  }

  /** Removes messages that the client has received. */
  acknowledge(position: number): void {
    if (!this.#queue.acknowledge(position, this.#unread)) return
    this.#unreadSince = this.#time()
    this.#checkDrained()
  }

  /** Does the periodic work: ends a dead session, and keeps the stream of a living one open. */
  check(time: number): void {
    const { transferTimeoutMs } = this.#acceptor.options
    if (this.#state.kind === 'closing' && time - this.#state.sinceMs > closeTimeoutMs) return this.terminate()
    // While the server does not read, the client waits for the response to its POST.
    if (this.#isPaused && this.#post !== null) this.#seenAt = time
    const silentMs = time - this.#seenAt
    if (silentMs > deadAfterMs) return this.terminate()
    const allowedMs = transferTimeoutMs + (this.#queue.bytes / bytesPerSecondMin) * 1000
    if (this.#queue.bytes > 0 && time - this.#unreadSince > allowedMs) {
      const { workspaceId, address } = this.#memory.owner
      this.#acceptor.reports.exceeded('transferTimeoutSeconds', workspaceId ?? address)
      return this.terminate()
    }
    if (silentMs > streamSilenceMs && this.#response?.isStream === true) this.#response.end()
    else this.#response?.sendComment(time)
  }

  received(messageBytes: number, keptBytes: number): void {
    this.#seenAt = this.#time()
    this.#memory.setIncomplete(keptBytes)
    this.#listener?.incomplete(messageBytes)
  }

  complete(messages: PostedMessages): void {
    if (this.#post === null) return
    this.#post.messages = messages
    this.#continuePost()
  }

  failed(problem: BodyProblem): void {
    if (problem === 'disconnected') return this.#finishPost({ kind: 'dropped' })
    if (problem === 'malformed') return this.#failMalformed()
    this.#finishPost(this.#outcome('tooLarge'))
    this.close(closeCodes.tooLarge, `message larger than ${this.#acceptor.options.messageBytesMax} bytes`)
  }

  get #bodyLimits(): BodyLimits {
    if (this.#memory.owner.workspaceId === null)
      return { bytesMax: unauthenticatedBodyBytesMax, cutBytesMax: null }
    const { messageBytesMax } = this.#acceptor.options
    const bytesMax = Math.max(bodyBytesMin, messageBytesMax + lengthBytes)
    return { bytesMax, cutBytesMax: this.#isMultiplexed ? messageBytesMax : null }
  }

  #newUnread(): UnreadFrames {
    const { largeFrames, options } = this.#acceptor
    const reader = { owner: this.#memory.owner, end: () => this.terminate() }
    return new UnreadFrames(options.memory.unreadSockets, largeFrames, reader)
  }

  #checkDrained(): void {
    if (this.#isEnded || this.#onDrained.length === 0) return
    if (this.#queue.bytes + this.#waitingBytes > this.#acceptor.options.sendBufferBytesMax / 2) return
    const drained = this.#onDrained
    this.#onDrained = []
    for (const fn of drained) fn()
  }

  /** Continues to read the body of the current POST, or to use its messages, unless the server has paused it. */
  #continuePost(): void {
    const post = this.#post
    if (post === null || this.#isPaused) return
    if (post.messages === null) return post.body.resume()
    while (!post.messages.isEmpty) {
      if (this.#isPaused || this.#post !== post) return
      const next = post.messages.next()
      if (next === null) return this.#failMalformed()
      const { message, bytes } = next
      const isTooLarge = bytes > this.#acceptor.options.messageBytesMax
      if (isTooLarge && !this.#isMultiplexed) return this.failed('tooLarge')
      const number = post.number++
      if (number <= this.#received) {
        // A repeated message counts as other messages do, but is not used again.
        this.#listener?.frames(1, bytes)
        continue
      }
      this.#received = number
      if (isTooLarge) this.#listener?.messageTooLarge(message.subarray(0, headBytes), bytes)
      else this.#listener?.message(message, true)
    }
    if (this.#post !== post) return
    this.#finishPost(this.#outcome('received'))
    if (post.request.close !== null) this.#closedByClient(post.request.close)
  }

  #failMalformed(): void {
    this.#finishPost(this.#outcome('malformed'))
    this.close(closeCodes.badRequest, 'the body of the POST is not a sequence of messages')
  }

  #outcome(kind: Exclude<PostOutcome['kind'], 'dropped'>): PostOutcome {
    return { kind, received: this.#received }
  }

  #finishPost(outcome: PostOutcome): void {
    const post = this.#post
    if (post === null) return
    this.#post = null
    post.body.drop()
    this.#memory.setIncomplete(0)
    this.#listener?.incomplete(0)
    post.finish(outcome)
  }

  #endPost(): void {
    this.#finishPost(this.isOpen ? { kind: 'dropped' } : this.#outcome('received'))
  }

  #closedByClient(code: number): void {
    if (this.#isEnded) return
    this.#response?.end()
    this.#end(code)
  }

  #end(code: number): void {
    const wasOpen = this.isOpen
    this.#state = { kind: 'closed' }
    this.#response = null
    this.#queue.clear(this.#unread)
    this.#endPost()
    this.#memory.release()
    if (wasOpen) this.#notifyClosed(code)
    this.#onEnded()
  }

  /** Calls the listeners after the method that closes the session has returned, in the same way as those of sockets. */
  #notifyClosed(code: number): void {
    const listeners = this.#onClosed
    this.#onClosed = []
    queueMicrotask(() => {
      for (const fn of listeners) fn(code)
    })
  }

  #detach(response: EventResponse): void {
    if (this.#response !== response) return
    this.#response = null
    // The response has ended after the reason of the close, so the session can be removed.
    if (this.#state.kind === 'closing' && response.isCloseSent) this.#end(abnormalClosure)
  }
}
