import type { Socket } from 'node:net'
import * as encoding from 'lib0/encoding'
import type { RawClient } from './clients.ts'

/** A name or token as lib0 writes it. */
export function varString(text: string): Uint8Array {
  const encoder = encoding.createEncoder()
  encoding.writeVarString(encoder, text)
  return encoding.toUint8Array(encoder)
}

/** A message about a document. */
export const frame = (name: string, ...rest: readonly number[]): Uint8Array =>
  Buffer.concat([varString(name), Uint8Array.from(rest)])

/** Asks for a document, or for going on with it. */
export const tokenFrame = (name: string, token: string): Uint8Array =>
  Buffer.concat([frame(name, 2, 0), varString(token)])

/** Says something about the socket itself, and what the answer is. */
export const ping = Uint8Array.of(9)
export const pong = Uint8Array.of(10)

/** Does the server say this of a document? A refusal is `2, 1`. */
export const isAbout = (bytes: Uint8Array, name: string, ...types: readonly number[]): boolean =>
  Buffer.from(bytes)
    .subarray(0, varString(name).length + types.length)
    .equals(frame(name, ...types))

/** The connection under a client of `ws`. */
export const connectionOf = ({ socket }: RawClient): Socket => Reflect.get(socket, '_socket') as Socket
