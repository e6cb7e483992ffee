import type { ServerResponse } from 'node:http'

/** One event of a stream of server-sent events (WHATWG HTML, 9.2). */
export interface ServerSentEvent {
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
