import { messageYjsSyncStep1, messageYjsSyncStep2, messageYjsUpdate } from 'y-protocols/sync'
import type { AccessRole } from '../../directory/store/records.ts'
import type { LiveEncoder } from '../../rooms/room/live-messages.ts'
import type { FrameEncoder } from '../../rooms/updates/change.ts'
import { MalformedMessageError, MalformedUpdateError } from '../../update/malformed.ts'
import { readBody } from './frame.ts'

/** A message of a client, in any protocol. Its bytes are views into the frame and are not vetted. */
export type Message =
  /** State vector of the client. The server replies with an offer. */
  | { readonly kind: 'vector'; readonly vector: Uint8Array }
  /** Reply to a state vector of the server. It contains all updates that the server may lack. */
  | { readonly kind: 'offer'; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly message: Uint8Array }
  | { readonly kind: 'queryAwareness' }
  /** A request to send the same message back when all earlier updates of the client are durable. */
  | { readonly kind: 'echo'; readonly body: Uint8Array }
  /** A message for the other clients. It is not part of the document. */
  | { readonly kind: 'live'; readonly text: string }
  /** A newer token of the same user. */
  | { readonly kind: 'token'; readonly token: string }

/**
 * Order of the handshake. `serverFirst`: the server sends its state vector immediately. `clientFirst`: the
 * server sends a state vector after each state vector of the client.
 */
type HandshakeOrder = 'serverFirst' | 'clientFirst'

/**
 * The frames with which a protocol acknowledges durable updates. A protocol sends either one message that
 * contains their number, or one message for each update, in order. Stock y-websocket clients get no
 * acknowledgments.
 */
interface SaveAckFormat {
  /**
   * Returns a frame that acknowledges `count` more updates.
   * @param total number of durable updates since the client connected
   */
  saved(count: number, total: number): Uint8Array
  /** Frame for a dropped update of a client that may not write; null if the protocol has no such frame. */
  readonly rejected: Uint8Array | null
}

/**
 * A wire protocol: it decodes the messages of a client to a `Message`, and encodes the messages of the server
 * as frames. All sessions of a protocol use one object, or one object for each document.
 */
export interface Protocol extends FrameEncoder, LiveEncoder {
  /** Name of the protocol, as a label in metrics. */
  readonly name: string
  readonly handshake: HandshakeOrder
  /** The format of acknowledgments; null if the protocol sends acknowledgments only on request (`echo`). */
  readonly saves: SaveAckFormat | null
  /** Decodes a message of a client. @throws MalformedMessageError */
  decode(bytes: Uint8Array): Message
  /** Returns a frame with the state vector of the server. */
  vector(vector: Uint8Array): Uint8Array
  /**
   * Returns the frame with the reply to a state vector, in one or two buffers that must be sent directly
   * after each other.
   */
  offer(update: Uint8Array): readonly Uint8Array[]
  /** Encodes the frame that answers an echo request; null if the protocol has no echoes. */
  readonly echo: ((body: Uint8Array) => Uint8Array) | null
  /**
   * Encodes the frame with the role of the client, whether it may write, and whether its schema is older than that of the
   * editor. It is sent when the client connects and when its role changes; null if the protocol has no such frame.
   */
  readonly right: ((mayWrite: boolean, role: AccessRole, isOutdated: boolean) => Uint8Array) | null
  /**
   * Encodes the frame that notifies a client without the right to write that its edits are dropped. Stock
   * clients show or ignore it.
   */
  readonly readOnly: (reason: string) => Uint8Array
  /**
   * Frame that requests a newer token before the current token expires; null if clients must reconnect with a
   * newer token.
   */
  readonly renew: Uint8Array | null
}

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
