import { MalformedMessage } from '../../update/malformed.ts'
import { allocateFrame, varUintLength, writeVarUint } from './frame.ts'
import type { Message, Protocol } from './message.ts'

/** Message types of y-websocket and y-protocols/sync. */
const messageSync = 0
const messageAwareness = 1
const messageQueryAwareness = 3
/** Ours: stock clients don't know it, and never get it unless they ask. Its body is JSON in UTF-8, as `readVarString` of lib0 reads it. */
const messageLive = 110
const syncStep1 = 0
const syncStep2 = 1
const syncUpdate = 2

/** `bytes` as the length-prefixed body of a message that starts with the given types. */
function framed(types: readonly number[], bytes: Uint8Array): Uint8Array {
  const head = types.length + varUintLength(bytes.length)
  const { frame, offset } = allocateFrame(head + bytes.length)
  frame.set(types, offset)
  const body = writeVarUint(frame, offset + types.length, bytes.length)
  frame.set(bytes, body)
  return frame
}

/** The length-prefixed rest of `bytes` from `at`: all of it, no more. */
function body(bytes: Uint8Array, at: number): Uint8Array {
  let length = 0
  let scale = 1
  for (let offset = at; offset < bytes.length && offset < at + 5; offset++) {
    const byte = bytes[offset] as number
    length += (byte & 127) * scale
    if (byte > 127) scale *= 128
    else if (length === bytes.length - offset - 1) return bytes.subarray(offset + 1)
    else break
  }
  throw new MalformedMessage('the length of the message does not fit')
}

function decodeSync(bytes: Uint8Array): Message {
  switch (bytes[1]) {
    case syncStep1:
      return { kind: 'vector', vector: body(bytes, 2) }
    case syncStep2:
      return { kind: 'offer', update: body(bytes, 2) }
    case syncUpdate:
      return { kind: 'update', update: body(bytes, 2) }
    default:
      throw new MalformedMessage(`unknown sync message ${bytes[1]}`)
  }
}

/** The protocol of y-websocket's WebsocketProvider, versions 1 to 3: one document a socket. */
export const yWebsocket: Protocol = {
  name: 'y-websocket',
  decode(bytes) {
    switch (bytes[0]) {
      case messageSync:
        return decodeSync(bytes)
      case messageAwareness:
        return { kind: 'awareness', message: body(bytes, 1) }
      case messageQueryAwareness:
        return { kind: 'queryAwareness' }
      default:
        throw new MalformedMessage(bytes.length === 0 ? 'empty message' : `unknown message type ${bytes[0]}`)
    }
  },
  vector: (vector) => framed([messageSync, syncStep1], vector),
  offer: (update) => framed([messageSync, syncStep2], update),
  update: (update) => framed([messageSync, syncUpdate], update),
  awareness: (message) => framed([messageAwareness], message),
  live: (text) => framed([messageLive], Buffer.from(text)),
}
