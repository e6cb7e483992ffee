import type { Socket } from 'node:net'
import * as encoding from 'lib0/encoding'
import type { RawClient } from './clients.ts'

/** Encodes a name or token as lib0 does. */
export function varString(text: string): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, text)
  return encoding.toUint8Array(encoder)
}

/** A message about a document. */
export const frame = (name: string, ...rest: readonly number[]): Uint8Array =>
  Buffer.concat([varString(name), Uint8Array.from(rest)])

/** Requests a document, or renews the token of an open one. */
export const tokenFrame = (name: string, token: string): Uint8Array =>
  Buffer.concat([frame(name, 2, 0), varString(token)])

/** A message about the socket itself, and its answer. */
export const ping = Uint8Array.of(9)
export const pong = Uint8Array.of(10)

/**
 * Returns whether the message is about this document and has these types. A rejection has the types `2, 1`.
 */
export const isAbout = (bytes: Uint8Array, name: string, ...types: readonly number[]): boolean =>
  Buffer.from(bytes)
    .subarray(0, varString(name).length + types.length)
    .equals(frame(name, ...types))

/** Returns the TCP connection of a client of `ws`. */
export const connectionOf = ({ socket }: RawClient): Socket => Reflect.get(socket, '_socket') as Socket
