import { messageYjsSyncStep1, messageYjsSyncStep2, messageYjsUpdate } from 'y-protocols/sync'
import { MalformedMessageError, MalformedUpdateError } from '../../update/malformed.ts'
import { readBody } from './frame.ts'
import type { Message } from './message.ts'

/**
 * Message types of y-websocket and of the protocols that are based on it. `y-protocols` does not define them.
 */
export const types = { sync: 0, awareness: 1, auth: 2, queryAwareness: 3 } as const
/** Values of the second byte of a message of type `sync`. */
export const syncTypes = {
  step1: messageYjsSyncStep1,
  step2: messageYjsSyncStep2,
  update: messageYjsUpdate,
} as const

/** Maximum bytes of a token in a message. */
export const tokenBytesMax = 16_384

/** Decodes a message of type `sync`. @param bytes the whole message, with its type */
export function decodeSync(bytes: Uint8Array): Message {
  switch (bytes[1]) {
    case syncTypes.step1:
      return { kind: 'vector', vector: readBody(bytes, 2) }
    case syncTypes.step2:
      return { kind: 'offer', update: readBody(bytes, 2) }
    case syncTypes.update:
      return { kind: 'update', update: readBody(bytes, 2) }
    default:
      throw new MalformedMessageError(`unknown sync message ${bytes[1]}`)
  }
}

/** Returns the error for a message with an unknown type. */
export const unknownMessageType = (bytes: Uint8Array): MalformedMessageError =>
  new MalformedMessageError(bytes.length === 0 ? 'empty message' : `unknown message type ${bytes[0]}`)

/** Runs `read`. Converts a MalformedUpdateError to a MalformedMessageError. */
export function asMessageError<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw error instanceof MalformedUpdateError ? new MalformedMessageError(error.message) : error
  }
}
