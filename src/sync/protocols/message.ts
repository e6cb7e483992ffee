import type { Role } from '../../access/roles/roles.ts'
import type { LiveEncoder } from '../../rooms/room/live-messages.ts'
import type { FrameEncoder } from '../../rooms/room/member.ts'

/** What a client can say, whatever it speaks. Bytes are views on the frame, not yet vetted. */
export type Message =
  /** "This is what I have": answered by an offer. */
  | { readonly kind: 'vector'; readonly vector: Uint8Array }
  /** Answer to our vector: everything we might lack. */
  | { readonly kind: 'offer'; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly message: Uint8Array }
  | { readonly kind: 'queryAwareness' }
  /** "Say this again when all that I have sent is saved." */
  | { readonly kind: 'echo'; readonly body: Uint8Array }
  /** Something for those who listen, that is no part of the document. */
  | { readonly kind: 'live'; readonly text: string }
  /** A newer token of the same user. */
  | { readonly kind: 'token'; readonly token: string }

/** Who asks for what is missing when a client comes: we at once, or in answer to each vector of the client's. */
export type HandshakeOrder = 'serverFirst' | 'clientFirst'

/**
 * How clients are told that what they have sent is on the disk: of every update with its number, of every single one
 * in the order in which they came, or when they ask. Stock y-websocket clients know of nothing like it.
 */
export interface SaveAckFormat {
  /** Frame for `count` updates that are saved now, `total` since the client came. */
  saved(count: number, total: number): Uint8Array
  /** Frame for an update that was not taken, from one who may only look; null where it is told by silence. */
  readonly rejected: Uint8Array | null
}

/** A wire protocol: bytes of one websocket message ↔ `Message`. One object for all sessions that speak it. */
export interface Protocol extends FrameEncoder, LiveEncoder {
  /** Label in metrics. */
  readonly name: string
  readonly handshake: HandshakeOrder
  /** Null: clients are not told of their own accord. */
  readonly saves: SaveAckFormat | null
  /** @throws MalformedMessageError */
  decode(bytes: Uint8Array): Message
  /** Frame that asks for what we lack. */
  vector(vector: Uint8Array): Uint8Array
  /** Frame that answers a vector. */
  offer(update: Uint8Array): Uint8Array
  /** Frame that answers an echo; null: this protocol has none. */
  readonly echo: ((body: Uint8Array) => Uint8Array) | null
  /** Frame that says what somebody may do, when they come and when it changes; null: nobody is told. */
  readonly role: ((role: Role) => Uint8Array) | null
  /** Frame that notifies a viewer that its edits are dropped. Stock clients show it, or ignore it. */
  readonly readOnly: Uint8Array
  /** Frame that asks for a newer token before the one known ends; null: clients come back with it. */
  readonly renew: Uint8Array | null
}
