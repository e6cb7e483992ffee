import { messagePermissionDenied } from 'y-protocols/auth'
import { ByteReader } from '../../update/byte-reader.ts'
import { MalformedMessageError } from '../../update/malformed.ts'
import { framePartsWithBody, frameRaw, frameWithBody, readBody, varUintBytes } from './frame.ts'
import {
  asMessageError,
  decodeSync,
  type Protocol,
  syncTypes,
  tokenBytesMax,
  types,
  unknownMessageType,
} from './message.ts'

/**
 * Message type of an echo. A client of Y-Sweet sends an echo, and the server sends the same message back when
 * all earlier updates of the client are durable.
 */
const messageEcho = 102
/**
 * Message types that only Weft uses. The server sends messages of these types only to clients that request
 * them. The body of a live message is JSON in UTF-8, in the form that `readVarString` of lib0 reads.
 */
const messageLive = 110
const messageSaved = 111
/** The role of the client: 1 if it may write, 2 if its schema is too old for that, otherwise 0, and the name of the role. */
const messageRole = 112
/** A newer token of the same user, which the client sends before its token expires. */
const messageToken = 113

/** Maximum bytes of the body of an echo. Clients of Y-Sweet send one number. */
const echoBytesMax = 16

const prefixes = {
  vector: Uint8Array.of(types.sync, syncTypes.step1),
  offer: Uint8Array.of(types.sync, syncTypes.step2),
  update: Uint8Array.of(types.sync, syncTypes.update),
  awareness: Uint8Array.of(types.awareness),
  echo: Uint8Array.of(messageEcho),
  live: Uint8Array.of(messageLive),
  saved: Uint8Array.of(messageSaved),
  denied: Uint8Array.of(types.auth, messagePermissionDenied),
}

function echoBody(bytes: Uint8Array): Uint8Array {
  const echo = readBody(bytes, 1)
  if (echo.length > echoBytesMax)
    throw new MalformedMessageError(`an echo has more than ${echoBytesMax} bytes`)
  return echo
}

const tokenOf = (bytes: Uint8Array): string =>
  asMessageError(() => {
    const reader = new ByteReader(bytes)
    reader.varUint()
    return reader.string(tokenBytesMax)
  })

/**
 * The protocol of the WebsocketProvider of y-websocket (versions 1 to 3) and of the client of Y-Sweet. A
 * socket carries one document.
 */
export const yWebsocket: Protocol = {
  name: 'y-websocket',
  handshake: 'serverFirst',
  saves: null,
  decode(bytes) {
    switch (bytes[0]) {
      case types.sync:
        return decodeSync(bytes)
      case types.awareness:
        return { kind: 'awareness', message: readBody(bytes, 1) }
      case types.queryAwareness:
        return { kind: 'queryAwareness' }
      case messageEcho:
        return { kind: 'echo', body: echoBody(bytes) }
      case messageToken:
        return { kind: 'token', token: tokenOf(bytes) }
      default:
        throw unknownMessageType(bytes)
    }
  },
  vector: (vector) => frameWithBody(prefixes.vector, vector),
  offer: (update) => framePartsWithBody(prefixes.offer, update),
  update: (update) => frameWithBody(prefixes.update, update),
  awareness: (message) => frameWithBody(prefixes.awareness, message),
  awarenessQuery: frameRaw(Uint8Array.of(types.queryAwareness)),
  answersRemoval: true,
  echo: (echo) => frameWithBody(prefixes.echo, echo),
  live: (text) => frameWithBody(prefixes.live, Buffer.from(text)),
  right: null,
  readOnly: (reason) => frameWithBody(prefixes.denied, Buffer.from(reason)),
  renew: null,
}

/** An acknowledgment contains the number of updates and offers of the client that are durable. */
const saves: Protocol['saves'] = {
  saved: (_, total) => frameRaw(prefixes.saved, varUintBytes(total)),
  rejected: null,
}
const right: Protocol['right'] = (mayWrite, role, isOutdated) =>
  frameWithBody(Uint8Array.of(messageRole, isOutdated ? 2 : Number(mayWrite)), Buffer.from(role))

const withSaves: Protocol = { ...yWebsocket, saves }
const withRole: Protocol = { ...yWebsocket, right }
const withBoth: Protocol = { ...yWebsocket, saves, right }

/** Returns the protocol with the messages that a client has requested. */
export const yWebsocketFor = (requested: {
  readonly wantsSaveAcks: boolean
  readonly wantsRole: boolean
}): Protocol =>
  requested.wantsSaveAcks
    ? requested.wantsRole
      ? withBoth
      : withSaves
    : requested.wantsRole
      ? withRole
      : yWebsocket
