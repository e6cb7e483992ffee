import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** One event of a stream of server-sent events (WHATWG HTML, 9.2). */
interface ServerSentEvent {
  /** Position that the client sends to resume; undefined: the event has no position. Has no line breaks. */
  readonly id?: string | number
  /** Name of the event; undefined: `message`. Has no line breaks. */
  readonly event?: string
  readonly data: string
}

/**
 * Milliseconds between two comments in a stream without events. Proxies close a connection on which they receive
 * nothing for 30 to 60 s.
 */
export const streamCommentMs = 15_000

/** A comment, which clients ignore. */
export const streamComment = ':\n\n'

/**
 * Headers of a stream. `no-transform` prevents proxies from compressing the stream, because compression delays
 * events. The last header prevents nginx from buffering it.
 */
const streamHeaders: Readonly<Record<string, string>> = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** Sends the status 200 and the headers of a stream at once, before the first event. */
export function beginEventStream(response: ServerResponse): void {
  response.writeHead(200, streamHeaders)
  response.flushHeaders()
}

/** The part of a response that carries events. */
export interface EventOutput {
  /** True if the operating system has accepted the whole response. */
  readonly writableFinished: boolean
  /** Sends ASCII text. Returns false if the client must read first; then `drain` follows. */
  write(text: string, encoding: 'latin1'): boolean
  end(text?: string): unknown
  destroy(): unknown
  on(event: 'drain' | 'close', listener: () => void): unknown
}

/** A response to the last request on its connection. */
export class StreamResponse extends ServerResponse {
  /**
   * Sends the rest of the response without this object and its request, so that an idle stream takes little memory.
   * Call it after the headers were sent. For all listeners, the response is closed.
   */
  detach(): EventOutput {
    const { socket } = this
    if (socket === null) return this
    this.detachSocket(socket)
    this.destroyed = true
    this.emit('close')
    // The owner of the stream decides how long a client may be silent.
    socket.setTimeout(0)
    return new DetachedStream(socket, this.chunkedEncoding)
  }
}

/** Milliseconds within which a client must read the end of a stream. */
const streamEndTimeoutMs = 60_000
/** End of a body in chunks (RFC 9112 7.1). */
const lastChunk = '0\r\n\r\n'

class DetachedStream implements EventOutput {
  readonly #socket: Socket
  /** False for clients with HTTP/1.0: the body ends with the connection. */
  readonly #isChunked: boolean

  constructor(socket: Socket, isChunked: boolean) {
    this.#socket = socket
    this.#isChunked = isChunked
  }

  get writableFinished(): boolean {
    return this.#socket.writableFinished
  }

  write(text: string): boolean {
    return this.#socket.write(this.#chunk(text), 'latin1')
  }

  end(text = ''): void {
    const socket = this.#socket
    socket.write(this.#chunk(text) + (this.#isChunked ? lastChunk : ''), 'latin1')
    socket.setTimeout(streamEndTimeoutMs)
    socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  on(event: 'drain' | 'close', listener: () => void): void {
    this.#socket.on(event, listener)
  }

  #chunk(text: string): string {
    // A chunk without content would end the body.
    return this.#isChunked && text !== '' ? `${text.length.toString(16)}\r\n${text}\r\n` : text
  }
}

/** Returns the text of an event. Each line of its data is one field. */
export function encodeServerSentEvent({ id, event, data }: ServerSentEvent): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return `${head}data: ${data.replaceAll(lineBreak, '\ndata: ')}\n\n`
}

const lineBreak = /\r\n|\n|\r/g

/** Returns the field that starts a numbered event. The rest of the event follows directly. */
export const encodeEventId = (id: number): string => `id: ${id}\n`

/** Returns the end of an event, which contains bytes in base64. Events with the same bytes can share this text. */
export const encodeEventBytes = (bytes: Buffer): string =>
  `${eventBytesStart}${bytes.toString('base64')}${eventBytesEnd}`

/** The texts before and after the base64 of an event, for bytes that are encoded in several parts. */
export const eventBytesStart = 'data: '
export const eventBytesEnd = '\n\n'
