import type { ServerResponse } from 'node:http'
import {
  beginEventStream,
  type EventOutput,
  encodeEventId,
  encodeServerSentEvent,
  eventBytesStart,
  StreamResponse,
  streamComment,
  streamCommentMs,
} from '../../base/event-stream.ts'
import type { UnreadFrames } from '../socket/socket-memory.ts'
import type { EncodedMessage } from './encoded-messages.ts'

/**
 * Number of bytes of one write, approximately. Small messages are joined, and large ones are split, so that the copy
 * of unread bytes in the connection is small.
 */
const writeBytes = 32_768
/** Milliseconds for which a long poll waits for more messages after the first one. */
const gatherMs = 10

/** First event of each response. Until a client has received it, a proxy may hold the stream back. */
const openEvent = encodeServerSentEvent({ event: 'open', data: '{}' })

/** Returns the last event of a session. */
const encodeCloseEvent = (code: number, reason: string): string =>
  encodeServerSentEvent({ event: 'close', data: JSON.stringify({ code, reason }) })

/** Sends a whole response with the reason for which there is no session. */
export function sendClosed(response: ServerResponse, code: number, reason: string): void {
  beginEventStream(response)
  response.end(encodeCloseEvent(code, reason))
}

/**
 * The response to one GET: a stream of events, or a long poll, which ends soon after its first message. It takes
 * messages from the queue only while the client reads, so unread messages stay in the queue.
 */
export class EventResponse {
  readonly #output: EventOutput
  readonly #queue: EventQueue
  /** Number of the last written message. */
  #written: number
  /** `ending`: the response ends when the client has read the messages up to `#endAt`. */
  #state: 'open' | 'ending' | 'ended' = 'open'
  #endAt = 0
  /** The large message that is being written, and the number of its next part; null if there is none. */
  #rest: { readonly message: EncodedMessage; part: number } | null = null
  /** Event after the last message; '' if the session continues. */
  #lastEvent = ''
  #isBlocked = false
  /** Time of the last write, on the clock of `sendComment`. */
  #wroteAt: number
  #pollTimer: NodeJS.Timeout | null = null
  #isGathering = false
  readonly #isPoll: boolean

  /**
   * @param position number of the last message that the client has received
   * @param waitMs maximum milliseconds of a long poll; null for a stream
   * @param onClosed called when the response has ended
   */
  constructor(
    response: ServerResponse,
    queue: EventQueue,
    { position, waitMs, time }: { position: number; waitMs: number | null; time: number },
    onClosed: (response: EventResponse) => void,
  ) {
    this.#queue = queue
    this.#written = position
    this.#wroteAt = time
    this.#isPoll = waitMs !== null
    beginEventStream(response)
    this.#output = response instanceof StreamResponse ? response.detach() : response
    this.#output.on('drain', () => {
      this.#isBlocked = false
      this.send()
    })
    this.#output.on('close', () => {
      this.#ended()
      onClosed(this)
    })
    this.#write(openEvent)
    if (waitMs !== null) this.#pollTimer = setTimeout(() => this.#endAfterMessages(''), waitMs)
    this.send()
  }

  get isStream(): boolean {
    return !this.#isPoll && this.#state === 'open'
  }

  /** True if the operating system has accepted the whole response, with the reason of a close. */
  get isCloseSent(): boolean {
    return this.#lastEvent !== '' && this.#output.writableFinished
  }

  /** Sends the messages in the queue that were not sent, if the client reads. */
  send(): void {
    if (this.#isPoll && this.#state === 'open') return this.#gather()
    const to = this.#state === 'open' ? this.#queue.last : this.#endAt
    while (!this.#isBlocked && this.#state !== 'ended' && (this.#rest !== null || this.#written < to))
      this.#writeNext(to)
    if (this.#state === 'ending' && this.#rest === null && this.#written >= to) this.#finish()
  }

  /** Sends a comment if nothing was sent for some time. @param time milliseconds of a monotonic clock */
  sendComment(time: number): void {
    if (!this.isStream || this.#isBlocked || this.#rest !== null || time - this.#wroteAt < streamCommentMs)
      return
    this.#wroteAt = time
    this.#write(streamComment)
  }

  /**
   * Ends the response at once, because the session continues with another GET. The client receives incomplete
   * messages again. Destroys a response that the client does not read, so that many of them keep no memory.
   */
  end(): void {
    if (this.#state === 'ended') return
    this.#ended()
    if (this.#isBlocked) this.#output.destroy()
    else this.#output.end()
  }

  /** Ends the response after the current messages and an event with the reason. */
  close(code: number, reason: string): void {
    this.#endAfterMessages(encodeCloseEvent(code, reason))
  }

  destroy(): void {
    this.#ended()
    this.#output.destroy()
  }

  #gather(): void {
    if (this.#isGathering || this.#written >= this.#queue.last) return
    this.#isGathering = true
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer)
    this.#pollTimer = setTimeout(() => this.#endAfterMessages(''), gatherMs)
  }

  #endAfterMessages(lastEvent: string): void {
    if (this.#state !== 'open') return
    this.#state = 'ending'
    this.#endAt = this.#queue.last
    this.#lastEvent = lastEvent
    this.send()
  }

  #writeNext(to: number): void {
    if (this.#rest !== null) return this.#writeRest(this.#rest)
    // Another request may have acknowledged messages that this response has not sent.
    this.#written = Math.max(this.#written, this.#queue.acknowledged)
    let text = ''
    while (this.#written < to && text.length < writeBytes) {
      const message = this.#queue.at(this.#written + 1)
      this.#written += 1
      text += encodeEventId(this.#written)
      if (message.text !== null) text += message.text
      else {
        text += eventBytesStart
        this.#rest = { message, part: 0 }
        break
      }
    }
    this.#write(text)
  }

  #writeRest(rest: { readonly message: EncodedMessage; part: number }): void {
    const { text, isLast } = rest.message.part(rest.part)
    rest.part += 1
    if (isLast) this.#rest = null
    this.#write(text)
  }

  #write(text: string): void {
    this.#isBlocked = !this.#output.write(text, 'latin1')
  }

  #finish(): void {
    this.#state = 'ended'
    this.#output.end(this.#lastEvent)
  }

  #ended(): void {
    this.#state = 'ended'
    if (this.#pollTimer !== null) clearTimeout(this.#pollTimer)
    this.#pollTimer = null
  }
}

/**
 * The messages to one client that the client has not acknowledged, in their order. The first message of a session
 * has the number 1.
 */
export class EventQueue {
  readonly #messages: EncodedMessage[] = []
  #acknowledged = 0
  #bytes = 0

  /** Number of the last message. */
  get last(): number {
    return this.#acknowledged + this.#messages.length
  }

  /** Number of the last message that the client has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Number of bytes that are not acknowledged. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds messages, and counts their memory. */
  add(messages: readonly EncodedMessage[], memory: UnreadFrames): void {
    for (const message of messages) {
      this.#messages.push(message)
      this.#bytes += message.length
      memory.add(message)
    }
    memory.update(this.#bytes)
  }

  /**
   * Returns a message that is not acknowledged.
   * @param number from `acknowledged + 1` to `last`
   */
  at(number: number): EncodedMessage {
    return this.#messages[number - this.#acknowledged - 1] as EncodedMessage
  }

  /** Removes the messages up to `position`. Returns false if there is nothing to remove. */
  acknowledge(position: number, memory: UnreadFrames): boolean {
    if (position <= this.#acknowledged || position > this.last) return false
    const removed = this.#messages.splice(0, position - this.#acknowledged)
    this.#acknowledged = position
    for (const { length } of removed) this.#bytes -= length
    memory.update(this.#bytes)
    return true
  }

  /** Removes all messages, and releases their memory. */
  clear(memory: UnreadFrames): void {
    this.acknowledge(this.last, memory)
  }
}
