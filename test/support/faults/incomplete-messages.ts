import type { RawClient } from '../clients/clients.ts'
import { connectionOf } from '../clients/hocuspocus-frames.ts'

const [binary, continuation] = [0x02, 0x00]

/** Returns the start of a masked frame: its header, and the given bytes of its payload. */
export function frameBegin(announcedBytes: number, payload: Uint8Array, opcode = 0x80 | binary): Buffer {
  const header = Buffer.alloc(14)
  header[0] = opcode
  header[1] = 0xff
  header.writeBigUInt64BE(BigInt(announcedBytes), 2)
  return Buffer.concat([header, payload])
}

/** The first fragment of a message, and a later one that is not the last. */
export const firstFragment = (payload: Uint8Array): Buffer => frameBegin(payload.length, payload, binary)
export const nextFragment = (payload: Uint8Array): Buffer => frameBegin(payload.length, payload, continuation)

/** A pong without payload. */
export const pongFrame = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/** Sends the start of a message of `announcedBytes` below the client's own framing. */
export function beginMessage(client: RawClient, announcedBytes: number, sentBytes: number): void {
  connectionOf(client).write(frameBegin(announcedBytes, Buffer.alloc(sentBytes)))
}

/** Sends bytes below the client's own framing. */
export const sendBytes = (client: RawClient, bytes: Uint8Array): void =>
  void connectionOf(client).write(bytes)
