import type { Socket } from 'node:net'
import * as encoding from 'lib0/encoding'
import type { RawClient } from './clients.ts'

/** Encodes a name or a token as a string of lib0. */
export function varString(text: string): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, text)
  return encoding.toUint8Array(encoder)
}

/** Encodes a message about the document `name`. */
export const frame = (name: string, ...rest: readonly number[]): Uint8Array =>
  Buffer.concat([varString(name), Uint8Array.from(rest)])

/** Encodes a message that requests a document. If the document is open, the message renews its token. */
export const tokenFrame = (name: string, token: string): Uint8Array =>
  Buffer.concat([frame(name, 2, 0), varString(token)])

/** A message that does not belong to a document, and the answer to it. */
export const ping = Uint8Array.of(9)
export const pong = Uint8Array.of(10)

/**
 * Returns whether a message is about the document and starts with the types. A rejection has the types
 * `2, 1`.
 */
export const isAbout = (bytes: Uint8Array, name: string, ...types: readonly number[]): boolean =>
  Buffer.from(bytes)
    .subarray(0, varString(name).length + types.length)
    .equals(frame(name, ...types))

/** Returns the TCP connection of a client that uses `ws`. */
export const connectionOf = ({ socket }: RawClient): Socket => Reflect.get(socket, '_socket') as Socket
