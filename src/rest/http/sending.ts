import type { ServerResponse } from 'node:http'
import { setImmediate as nextTick } from 'node:timers/promises'
import { jsonPieces, StreamedArray, smallJsonText } from '../../core/model/json-pieces.ts'
import { ClientDisconnectedError } from './request-body.ts'

/** Maximum bytes of a response that is sent in one piece, with its length. */
const bufferedBytesMax = 262_144
/** Maximum length of a string that is sent without being converted to bytes first. */
const shortLength = 16_384
/** Approximate number of characters of a streamed array's elements that are sent together. */
const batchLength = 65_536

const contentType = 'application/json; charset=utf-8'

/**
 * Sends a JSON body. The event loop encodes a piece of limited size at a time, and waits until the client has
 * read enough of the previous pieces. Only a small body is sent with its length; a larger body is sent in
 * chunks.
 * @param behind called when the client has not read enough, possibly several times
 * @throws ClientDisconnectedError if the client disconnects first; the errors of a streamed array, before or
 * after the headers are sent
 */
export async function sendBody(
  response: ServerResponse,
  httpCode: number,
  body: unknown,
  behind: () => void,
): Promise<void> {
  const text = smallJsonText(body)
  if (text !== null) return sendSmall(response, httpCode, text)
  const first: Uint8Array[] = []
  let length = 0
  for await (const bytes of bytesOf(body)) {
    if (response.headersSent) await writePiece(response, bytes, behind)
    else {
      first.push(bytes)
      length += bytes.length
      if (length > bufferedBytesMax) {
        response.writeHead(httpCode, { 'content-type': contentType })
        for (const part of first.splice(0)) await writePiece(response, part, behind)
      }
    }
  }
  if (response.headersSent) response.end()
  else sendSmall(response, httpCode, Buffer.concat(first, length))
}

/**
 * Sends a small body. A short string takes less time than bytes, because Node joins it with the headers. A
 * longer one is sent as bytes: Node counts the characters of unread strings, not their bytes.
 * @param json JSON as a string or as bytes
 */
export function sendSmall(response: ServerResponse, httpCode: number, json: string | Uint8Array): void {
  const length = typeof json === 'string' ? Buffer.byteLength(json) : json.length
  response.writeHead(httpCode, { 'content-type': contentType, 'content-length': length })
  response.end(typeof json === 'string' && json.length > shortLength ? Buffer.from(json) : json)
}

async function* bytesOf(body: unknown): AsyncGenerator<Uint8Array, void, undefined> {
  for (const piece of jsonPieces(body)) {
    if (piece instanceof StreamedArray) yield* bytesOfElements(piece)
    else yield typeof piece === 'string' ? Buffer.from(piece) : piece
  }
}

async function* bytesOfElements({ pages }: StreamedArray): AsyncGenerator<Uint8Array, void, undefined> {
  let [text, separator] = ['', '']
  for await (const page of pages()) {
    for (const element of page) {
      text += separator
      separator = ','
      for (const piece of jsonPieces(element)) {
        if (typeof piece !== 'string')
          throw new TypeError('an element of a streamed array must be plain JSON')
        text += piece
        if (text.length < batchLength) continue
        yield Buffer.from(text)
        text = ''
      }
    }
  }
  yield Buffer.from(text)
}

/**
 * Writes a piece. Resolves when the client can accept more, but not before other work of the process has run.
 * @param behind called when the client has not read enough
 * @throws ClientDisconnectedError
 */
export async function writePiece(
  response: ServerResponse,
  bytes: Uint8Array,
  behind: () => void,
): Promise<void> {
  if (response.destroyed) throw new ClientDisconnectedError('the client disconnected')
  if (response.write(bytes)) await nextTick()
  else {
    behind()
    await drained(response)
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (): void => void response.off('drain', drain).off('close', gone)
    const drain = (): void => {
      settle()
      resolve()
    }
    const gone = (): void => {
      settle()
      reject(new ClientDisconnectedError('the client disconnected'))
    }
    response.on('drain', drain).on('close', gone)
  })
}
