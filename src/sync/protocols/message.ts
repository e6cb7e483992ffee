import type { Role } from '../../access/roles/roles.ts'
import type { LiveEncoder } from '../../rooms/room/live-messages.ts'
import type { FrameEncoder } from '../../rooms/room/member.ts'

/** A message of a client in any protocol. Bytes are views on the frame and not vetted. */
export type Message =
  /** State vector of the client. The reply is an offer. */
  | { readonly kind: 'vector'; readonly vector: Uint8Array }
  /** Reply to the vector of the server: all updates that it may lack. */
  | { readonly kind: 'offer'; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly message: Uint8Array }
  | { readonly kind: 'queryAwareness' }
  /** The client requests this message back when all its updates are durable. */
  | { readonly kind: 'echo'; readonly body: Uint8Array }
  /** A message to the other clients, which is not part of the document. */
  | { readonly kind: 'live'; readonly text: string }
  /** A newer token of the same user. */
  | { readonly kind: 'token'; readonly token: string }

/**
 * Order of the handshake. `serverFirst`: the server sends its state vector immediately. `clientFirst`: it sends one
 * after each vector of the client.
 */
export type HandshakeOrder = 'serverFirst' | 'clientFirst'

/**
 * Form in which a protocol acknowledges durable updates: one message with their number, one message for each update
 * in order, or a message that the client requests. Stock y-websocket clients have no acknowledgments.
 */
export interface SaveAckFormat {
  /** Returns a frame for `count` updates that are durable now, and `total` since the client connected. */
  saved(count: number, total: number): Uint8Array
  /** Frame for a dropped update of a viewer; null: the protocol has none. */
  readonly rejected: Uint8Array | null
}

/** A wire protocol: bytes of one websocket message ↔ `Message`. All its sessions share one object. */
export interface Protocol extends FrameEncoder, LiveEncoder {
  /** Label in metrics. */
  readonly name: string
  readonly handshake: HandshakeOrder
  /** Null: the protocol has no acknowledgments without a request. */
  readonly saves: SaveAckFormat | null
  /** @throws MalformedMessageError */
  decode(bytes: Uint8Array): Message
  /** Returns a frame with the state vector of the server. */
  vector(vector: Uint8Array): Uint8Array
  /** Returns a frame with the reply to a vector. */
  offer(update: Uint8Array): Uint8Array
  /** Returns a frame that answers an echo; null: the protocol has none. */
  readonly echo: ((body: Uint8Array) => Uint8Array) | null
  /** Frame with the role of the client, when it connects and when the role changes; null: the protocol has none. */
  readonly role: ((role: Role) => Uint8Array) | null
  /** Frame that notifies a viewer that its edits are dropped. Stock clients show it, or ignore it. */
  readonly readOnly: Uint8Array
  /** Frame that requests a newer token before the current one expires; null: clients reconnect with it. */
  readonly renew: Uint8Array | null
}
