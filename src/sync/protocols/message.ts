import type { LiveEncoder } from '../../rooms/live.ts'
import type { FrameEncoder } from '../../rooms/member.ts'

/** What a client can say, whatever it speaks. Bytes are views on the frame, not yet vetted. */
export type Message =
  /** "This is what I have": answered by an offer. */
  | { readonly kind: 'vector'; readonly vector: Uint8Array }
  /** Answer to our vector: everything we might lack. */
  | { readonly kind: 'offer'; readonly update: Uint8Array }
  | { readonly kind: 'update'; readonly update: Uint8Array }
  | { readonly kind: 'awareness'; readonly message: Uint8Array }
  | { readonly kind: 'queryAwareness' }

/** A wire protocol: bytes of one websocket message ↔ `Message`. One object for all sessions that speak it. */
export interface Protocol extends FrameEncoder, LiveEncoder {
  /** Label in metrics. */
  readonly name: string
  /** @throws MalformedMessage */
  decode(bytes: Uint8Array): Message
  /** Frame that asks for what we lack. */
  vector(vector: Uint8Array): Uint8Array
  /** Frame that answers a vector. */
  offer(update: Uint8Array): Uint8Array
}
