import { messagePermissionDenied } from 'y-protocols/auth'
import { MalformedMessageError } from '../../update/malformed.ts'
import { frameRaw, frameWithBody, readBody, varUintBytes } from './frame.ts'
import type { Protocol } from './message.ts'
import { decodeSync, readOnlyReason, syncTypes, types, unknownMessageType } from './sync-message.ts'

/** Y-Sweet requests this message back when all updates before it are durable. */
const messageEcho = 102
/**
 * Weft's own types: clients get them only on request. The body of a live message is JSON in UTF-8, as
 * `readVarString` of lib0 reads it.
 */
const messageLive = 110
const messageSaved = 111

/** Y-Sweet sends one number. */
const echoBytesMax = 16

const prefixes = {
  vector: Uint8Array.of(types.sync, syncTypes.step1),
  offer: Uint8Array.of(types.sync, syncTypes.step2),
  update: Uint8Array.of(types.sync, syncTypes.update),
  awareness: Uint8Array.of(types.awareness),
  echo: Uint8Array.of(messageEcho),
  live: Uint8Array.of(messageLive),
  saved: Uint8Array.of(messageSaved),
}

function echoBody(bytes: Uint8Array): Uint8Array {
  const echo = readBody(bytes, 1)
  if (echo.length > echoBytesMax)
    throw new MalformedMessageError(`an echo has more than ${echoBytesMax} bytes`)
  return echo
}

/**
 * The protocol of y-websocket's WebsocketProvider, versions 1 to 3, and of Y-Sweet's client: one document per
 * socket.
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
      default:
        throw unknownMessageType(bytes)
    }
  },
  vector: (vector) => frameWithBody(prefixes.vector, vector),
  offer: (update) => frameWithBody(prefixes.offer, update),
  update: (update) => frameWithBody(prefixes.update, update),
  awareness: (message) => frameWithBody(prefixes.awareness, message),
  awarenessQuery: frameRaw(Uint8Array.of(types.queryAwareness)),
  answersRemoval: true,
  echo: (echo) => frameWithBody(prefixes.echo, echo),
  live: (text) => frameWithBody(prefixes.live, Buffer.from(text)),
  role: null,
  readOnly: frameWithBody(Uint8Array.of(types.auth, messagePermissionDenied), Buffer.from(readOnlyReason)),
  renew: null,
}

/** The same protocol with acknowledgments: the number of durable updates and offers of the client. */
export const yWebsocketSaved: Protocol = {
  ...yWebsocket,
  saves: { saved: (_, total) => frameRaw(prefixes.saved, varUintBytes(total)), rejected: null },
}
