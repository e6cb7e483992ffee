import { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** What a worker is started with. */
export interface WorkerSettings {
  readonly messageBytesMax: number
  /** What has been sent is told when it is so much, or when it is asked for. */
  readonly toldBytes: number
  /** Time to finish a message, and to read what was sent. */
  readonly transferTimeoutMs: number
}

/** The request that asks for a websocket, as the worker needs it. */
interface Opening {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
}

const lengthBytes = 4

/** @param head what has been read after the request */
export function encodeOpenRecord({ method, url, headers }: IncomingMessage, head: Buffer): Buffer {
  const opening: Opening = { method, url, headers }
  const text = Buffer.from(JSON.stringify(opening))
  const length = Buffer.allocUnsafe(lengthBytes)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text, head])
}

export function decodeOpenRecord(
  body: Buffer,
  connection: Socket,
): { request: IncomingMessage; head: Buffer } {
  const end = lengthBytes + body.readUInt32LE()
  const opening = JSON.parse(body.toString('utf8', lengthBytes, end)) as Opening
  const request = Object.assign(new IncomingMessage(connection), opening)
  return { request, head: Buffer.from(body.subarray(end)) }
}
