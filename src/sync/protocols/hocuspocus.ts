import type { Role } from '../../access/roles/roles.ts'
import { ByteReader } from '../../update/byte-reader.ts'
import { MalformedMessageError, MalformedUpdateError } from '../../update/malformed.ts'
import { frameRaw, frameWithBody, readBody, varUintBytes } from './frame.ts'
import type { Message, Protocol } from './message.ts'
import { decodeSync, readOnlyReason, syncTypes, types, unknownMessageType } from './sync-message.ts'

/** Message types that only Hocuspocus has (`MessageType` of @hocuspocus/provider 4.8, 2026). */
const ownTypes = { syncReply: 4, stateless: 5, close: 7, syncStatus: 8, ping: 9, pong: 10 } as const
/** The second byte of messages of type `auth`. */
const auth = { token: 0, denied: 1, authenticated: 2 } as const

/** Maximum bytes of a document name, a token, and a live message. */
const nameBytesMax = 8_192
const tokenBytesMax = 16_384
const statelessBytesMax = 65_536

/** A message of the socket itself: one byte without a document name. */
export const pong = frameRaw(Uint8Array.of(ownTypes.pong))

/** A message with an empty document name. Clients count it as received and drop it. */
export const emptyNameMessage = frameRaw(varUintBytes(0))

/** One message: to the named document, or to the socket. */
export type RoutedMessage =
  | { readonly kind: 'ping' | 'pong' }
  /** The name as received. The message is a view on the frame. */
  | { readonly kind: 'document'; readonly name: string; readonly message: Buffer }

/** @throws MalformedMessageError */
export function readRoutedMessage(bytes: Buffer): RoutedMessage {
  if (bytes.length === 1 && bytes[0] === ownTypes.ping) return { kind: 'ping' }
  if (bytes.length === 1 && bytes[0] === ownTypes.pong) return { kind: 'pong' }
  return asMessageError(() => {
    const reader = new ByteReader(bytes)
    const name = reader.string(nameBytesMax)
    return { kind: 'document', name, message: bytes.subarray(reader.at) }
  })
}

/** Returns whether the client closes this document. */
export const isCloseMessage = (message: Uint8Array): boolean => message[0] === ownTypes.close

/** A client's request to open a document. */
export interface AuthRequest {
  readonly token: string
  /** Clients that send their version (4 and later) accept a close message; older ones throw. */
  readonly understandsClose: boolean
}

/** Returns null for any other message to a document. @throws MalformedMessageError */
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

/** Encodes a frame that starts with the name of its document. */
export const encodeDenied = (name: string, reason: string): Uint8Array =>
  frameWithBody(prefixOf(name, types.auth, auth.denied), Buffer.from(reason))

export const encodeClosed = (name: string, reason: string): Uint8Array =>
  frameWithBody(prefixOf(name, ownTypes.close), Buffer.from(reason))

/**
 * Returns the protocol of HocuspocusProvider, versions 2 to 4, for one document of a socket: each message starts
 * with the document name. Sessions with the same name share one object.
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
    offer: (update) => frameWithBody(prefixes.offer, update),
    update: (update) => frameWithBody(prefixes.update, update),
    awareness: (message) => frameWithBody(prefixes.awareness, message),
    awarenessQuery: frameRaw(prefixOf(name, types.queryAwareness)),
    // Versions 2 and 3 answer, version 4 does not.
    answersRemoval: false,
    echo: null,
    live: (text) => frameWithBody(prefixes.live, Buffer.from(text)),
    // With a message of type `auth`, the client would regard the whole document as rejected.
    readOnly: frameWithBody(prefixes.live, Buffer.from(readOnlyMessage)),
    role: (role) => frameWithBody(prefixOf(name, types.auth, auth.authenticated), scopes[role]),
    renew: frameRaw(prefixOf(name, types.auth, auth.token)),
  }
}

/** The notice has the form of a backend's message: JSON with an event. */
const readOnlyMessage = JSON.stringify({ event: 'weft.readOnly', data: { message: readOnlyReason } })

const scopes: Readonly<Record<Role, Uint8Array>> = {
  editor: Buffer.from('read-write'),
  viewer: Buffer.from('readonly'),
}

/** Decodes a message without its name. @throws MalformedMessageError */
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

/** Returns the prefix of the messages of a document: its name and their type. */
function prefixOf(name: string, ...type: readonly number[]): Uint8Array {
  const bytes = Buffer.from(name)
  return Buffer.concat([varUintBytes(bytes.length), bytes, Uint8Array.from(type)])
}

/** Runs `read`, and converts the error of a malformed update to the error of a malformed message. */
function asMessageError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof MalformedUpdateError ? new MalformedMessageError(error.message) : error
  }
}
