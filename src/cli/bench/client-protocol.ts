import {
  messageYjsSyncStep2 as offer,
  messageYjsUpdate as update,
  messageYjsSyncStep1 as vector,
} from 'y-protocols/sync'
import { encodeVarUint, prefixed, readVarUint } from './load-socket.ts'

const [sync, awareness] = [0, 1]

/**
 * Encodes and decodes the messages of a client protocol. A message is the payload of a binary websocket
 * message.
 */
export interface ClientProtocol {
  /** Returns the messages that a client sends immediately after it has connected. */
  hello(document: string): readonly Buffer[]
  /** Encodes a request for the whole document. */
  ask(document: string): Buffer
  /** Encodes the answer to a request of the server for updates. The answer contains an empty update. */
  offerNothing(document: string): Buffer
  update(document: string, bytes: Uint8Array): Buffer
  awareness(document: string, bytes: Uint8Array): Buffer
  /** Decodes a message of the server. Returns null if the load test does not need the message. */
  read(payload: Buffer): ServerMessage | null
}

/** A message of the server. The kind `offer` is the answer to a request. */
interface ServerMessage {
  readonly kind: 'update' | 'offer' | 'awareness'
  readonly bytes: Buffer
}

const emptyVector = Buffer.of(0)

/** Decodes a message of the server. @param at offset of the message type in the payload */
function readFrom(payload: Buffer, at: number): ServerMessage | null {
  const type = payload[at]
  if (type === awareness) return { kind: 'awareness', bytes: bodyAt(payload, at + 1) }
  const kind = payload[at + 1]
  if ((type !== sync && type !== syncReply) || (kind !== update && kind !== offer)) return null
  return { kind: kind === offer ? 'offer' : 'update', bytes: bodyAt(payload, at + 2) }
}

function bodyAt(payload: Buffer, at: number): Buffer {
  const { value, end } = readVarUint(payload, at)
  return payload.subarray(end, end + value)
}

/** Message type for an answer, in contrast to `sync`: its sender does not expect an answer to it. */
const syncReply = 4

/** Encodes and decodes messages of y-websocket, which do not contain the name of the document. */
export const yWebsocketMessages: ClientProtocol = {
  hello: () => [],
  ask: () => Buffer.concat([Buffer.of(sync, vector), prefixed(emptyVector)]),
  offerNothing: () => Buffer.concat([Buffer.of(sync, offer), prefixed(Buffer.of(0, 0))]),
  update: (_document, bytes) => Buffer.concat([Buffer.of(sync, update), prefixed(bytes)]),
  awareness: (_document, bytes) => Buffer.concat([Buffer.of(awareness), prefixed(bytes)]),
  read: (payload) => readFrom(payload, 0),
}

/**
 * Encodes the update of one keystroke at the end of the client's text. The bytes are the same as those of a
 * Yjs `insert`.
 */
export function encodeKeystroke(client: number, clock: number, character = 97): Buffer {
  const id = encodeVarUint(client)
  const head = [Buffer.of(1, 1), id, encodeVarUint(clock)]
  const place =
    clock === 0
      ? [Buffer.of(4, 1), prefixed(Buffer.from('content'))]
      : [Buffer.of(0x84), id, encodeVarUint(clock - 1)]
  return Buffer.concat([...head, ...place, Buffer.of(1, character, 0)])
}

const auth = 2

/**
 * Returns the messages of Hocuspocus. Each message starts with the name of its document.
 * @param nameOf returns the name under which the server has a document
 */
const hocuspocusMessages = (
  nameOf: (document: string) => string,
  token: string | undefined,
): ClientProtocol => {
  const named = (document: string, message: Buffer): Buffer =>
    Buffer.concat([prefixed(Buffer.from(nameOf(document))), message])
  const login = Buffer.concat([Buffer.of(auth, 0), prefixed(Buffer.from(token ?? 'token'))])
  return {
    hello: (document) => [named(document, login)],
    ask: (document) => named(document, yWebsocketMessages.ask(document)),
    offerNothing: (document) => named(document, yWebsocketMessages.offerNothing(document)),
    update: (document, bytes) => named(document, yWebsocketMessages.update(document, bytes)),
    awareness: (document, bytes) => named(document, yWebsocketMessages.awareness(document, bytes)),
    read: (payload) => {
      const { value, end } = readVarUint(payload, 0)
      return readFrom(payload, end + value)
    },
  }
}

/** The protocols that the load generator speaks, by their names on the command line. */
export const protocols = {
  'y-websocket': () => yWebsocketMessages,
  hocuspocus: hocuspocusMessages,
} as const

export type ProtocolName = keyof typeof protocols
