import { memoized } from '../../base/maps.ts'
import { ByteReader } from '../../update/byte-reader.ts'
import { MalformedMessageError } from '../../update/malformed.ts'
import { framePartsWithBody, frameRaw, frameWithBody, readBody, varUintBytes } from './frame.ts'
import {
  asMessageError,
  decodeSync,
  type Message,
  type Protocol,
  syncTypes,
  tokenBytesMax,
  types,
  unknownMessageType,
} from './message.ts'

/** Message types that only Hocuspocus uses (`MessageType` of @hocuspocus/provider 4.8, 2026). */
const ownTypes = { syncReply: 4, stateless: 5, close: 7, syncStatus: 8, ping: 9, pong: 10 } as const
/** Values of the second byte of messages of type `auth`. */
const auth = { token: 0, denied: 1, authenticated: 2 } as const

/** Maximum bytes of a document name, and of a live message (`stateless`). */
const nameBytesMax = 8_192
const statelessBytesMax = 65_536

/**
 * The frame of a pong, which belongs to the socket and not to a document. The message is one byte, without a
 * document name.
 */
export const pong = frameRaw(Uint8Array.of(ownTypes.pong))

/**
 * The frame of a message with an empty document name. Clients notice that a message has arrived, and ignore
 * its content.
 */
export const emptyNameMessage = frameRaw(varUintBytes(0))

/**
 * A message of a multiplexed socket. A `document` message belongs to one document; pings and pongs belong to
 * the socket.
 */
type RoutedMessage =
  | { readonly kind: 'ping' | 'pong' }
  /**
   * `name` is the document name as the client sent it. `message` is the rest of the message, as a view into
   * the frame.
   */
  | { readonly kind: 'document'; readonly name: string; readonly message: Buffer }

/** Splits a message into the document name at its start and the rest. @throws MalformedMessageError */
export function readRoutedMessage(bytes: Buffer): RoutedMessage {
  if (bytes.length === 1 && bytes[0] === ownTypes.ping) return { kind: 'ping' }
  if (bytes.length === 1 && bytes[0] === ownTypes.pong) return { kind: 'pong' }
  return asMessageError(() => {
    const reader = new ByteReader(bytes)
    const name = reader.string(nameBytesMax)
    return { kind: 'document', name, message: bytes.subarray(reader.at) }
  })
}

/** The message with which a client closes a document, without the document name. */
export const closeMessage = Uint8Array.of(ownTypes.close)

/** Returns the document that a message of the server rejects; null if it rejects none. */
export function readDenied(bytes: Buffer): string | null {
  const routed = readRoutedMessage(bytes)
  if (routed.kind !== 'document' || routed.message[0] !== types.auth) return null
  return routed.message[1] === auth.denied ? routed.name : null
}

/** Returns the start of all messages of a document: its name. */
export const encodeName = (name: string): Uint8Array => prefixOf(name)

/** Returns whether the message closes its document. */
export const isCloseMessage = (message: Uint8Array): boolean => message[0] === ownTypes.close

/** A client's request to open a document. */
interface AuthRequest {
  readonly token: string
  /**
   * True if the client accepts a close message, as clients of version 4 and later do. These clients send
   * their version. Older clients throw when they receive a close message.
   */
  readonly understandsClose: boolean
}

/** Parses a request to open a document. Returns null for any other message. @throws MalformedMessageError */
export function readAuthRequest(message: Uint8Array): AuthRequest | null {
  if (message[0] !== types.auth) return null
  return asMessageError(() => {
    const reader = tokenReader(message)
    return { token: reader.string(tokenBytesMax), understandsClose: reader.left > 0 }
  })
}

function tokenReader(message: Uint8Array): ByteReader {
  const reader = new ByteReader(message)
  reader.at = 1
  if (reader.varUint() !== auth.token) throw new MalformedMessageError('unknown authentication message')
  return reader
}

/** Returns the frame with which the server rejects the document `name`. */
export const encodeDenied = (name: string, reason: string): Uint8Array =>
  frameWithBody(prefixOf(name, types.auth, auth.denied), Buffer.from(reason))

export const encodeClosed = (name: string, reason: string): Uint8Array =>
  frameWithBody(prefixOf(name, ownTypes.close), Buffer.from(reason))

/**
 * Returns the protocol of HocuspocusProvider, versions 2 to 4, for one document on a socket. Each message
 * starts with the document name. Sessions with the same name use the same object.
 */
export function hocuspocus(name: string): Protocol {
  const prefixes = {
    vector: prefixOf(name, types.sync, syncTypes.step1),
    offer: prefixOf(name, types.sync, syncTypes.step2),
    update: prefixOf(name, types.sync, syncTypes.update),
    awareness: prefixOf(name, types.awareness),
    live: prefixOf(name, ownTypes.stateless),
  }
  const saved = frameRaw(prefixOf(name, ownTypes.syncStatus, 1))
  return {
    name: 'hocuspocus',
    handshake: 'clientFirst',
    saves: {
      saved: (count) => Buffer.concat(Array.from({ length: count }, () => saved)),
      rejected: frameRaw(prefixOf(name, ownTypes.syncStatus, 0)),
    },
    decode,
    vector: (vector) => frameWithBody(prefixes.vector, vector),
    offer: (update) => framePartsWithBody(prefixes.offer, update),
    update: (update) => frameWithBody(prefixes.update, update),
    awareness: (message) => frameWithBody(prefixes.awareness, message),
    awarenessQuery: frameRaw(prefixOf(name, types.queryAwareness)),
    // Clients of versions 2 and 3 reply to a removal, but clients of version 4 do not.
    answersRemoval: false,
    echo: null,
    live: (text) => frameWithBody(prefixes.live, Buffer.from(text)),
    // The notice has the form of a message from a backend. It is not a message of type `auth`, because a client would consider the whole document rejected
    // then.
    readOnly: (message) =>
      frameWithBody(
        prefixes.live,
        Buffer.from(JSON.stringify({ event: 'weft.readOnly', data: { message } })),
      ),
    right: (mayWrite) =>
      frameWithBody(prefixOf(name, types.auth, auth.authenticated), mayWrite ? scopes.write : scopes.read),
    renew: frameRaw(prefixOf(name, types.auth, auth.token)),
  }
}

const scopes = { write: Buffer.from('read-write'), read: Buffer.from('readonly') } as const

/** Decodes a message from which the document name has already been removed. @throws MalformedMessageError */
function decode(bytes: Uint8Array): Message {
  switch (bytes[0]) {
    case types.sync:
    case ownTypes.syncReply:
      return decodeSync(bytes)
    case types.awareness:
      return { kind: 'awareness', message: readBody(bytes, 1) }
    case types.auth:
      return { kind: 'token', token: asMessageError(() => tokenReader(bytes).string(tokenBytesMax)) }
    case types.queryAwareness:
      return { kind: 'queryAwareness' }
    case ownTypes.stateless:
      return { kind: 'live', text: textOf(readBody(bytes, 1)) }
    default:
      throw unknownMessageType(bytes)
  }
}

function textOf(bytes: Uint8Array): string {
  if (bytes.length > statelessBytesMax)
    throw new MalformedMessageError(`a stateless message has at most ${statelessBytesMax} bytes`)
  return Buffer.from(bytes).toString()
}

/** Returns the first bytes of all messages of one type for a document: the document name and the type. */
function prefixOf(name: string, ...type: readonly number[]): Uint8Array {
  const bytes = Buffer.from(name)
  return Buffer.concat([varUintBytes(bytes.length), bytes, Uint8Array.from(type)])
}

/** A channel that uses the protocol of one document. */
interface ProtocolUser {
  /** Document name as the client sends it. */
  readonly name: string
  onClosed(fn: () => void): void
}

interface SharedProtocol {
  readonly protocol: Protocol
  users: number
}

/**
 * The protocol objects of the open documents, for a protocol whose messages start with the document name.
 * Channels with the same document name use the same object, and therefore the same frames.
 */
export class PerDocumentProtocols {
  readonly #byName = new Map<string, SharedProtocol>()

  /**
   * Returns the protocol object for a channel. The object is released when the last of its channels closes.
   */
  acquire(user: ProtocolUser): Protocol {
    const { name } = user
    const shared = memoized(this.#byName, name, () => ({ protocol: hocuspocus(name), users: 0 }))
    shared.users += 1
    user.onClosed(() => {
      shared.users -= 1
      if (shared.users === 0) this.#byName.delete(name)
    })
    return shared.protocol
  }
}
