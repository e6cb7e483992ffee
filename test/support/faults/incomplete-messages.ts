import type { RawClient } from '../clients/clients.ts'
import { connectionOf } from '../clients/hocuspocus-frames.ts'

const [binary, continuation] = [0x02, 0x00]

/**
 * Returns the start of a masked frame. It consists of the header, which announces `announcedBytes`, and the
 * given bytes of the payload.
 */
export function frameBegin(announcedBytes: number, payload: Uint8Array, opcode = 0x80 | binary): Buffer {
  const header = Buffer.alloc(14)
  header[0] = opcode
  header[1] = 0xff
  header.writeBigUInt64BE(BigInt(announcedBytes), 2)
  return Buffer.concat([header, payload])
}

/**
 * Returns the first fragment of a message. `nextFragment` returns a later fragment that is not the last one.
 */
export const firstFragment = (payload: Uint8Array): Buffer => frameBegin(payload.length, payload, binary)
export const nextFragment = (payload: Uint8Array): Buffer => frameBegin(payload.length, payload, continuation)

/** A pong without payload. */
export const pongFrame = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

/**
 * Sends only the first `sentBytes` bytes of a message that announces `announcedBytes` bytes. Writes them
 * directly to the TCP connection, because the websocket of the client sends only whole frames.
 */
export function beginMessage(client: RawClient, announcedBytes: number, sentBytes: number): void {
  connectionOf(client).write(frameBegin(announcedBytes, Buffer.alloc(sentBytes)))
}

/** Sends bytes directly on the TCP connection of a client, without a websocket frame. */
export const sendBytes = (client: RawClient, bytes: Uint8Array): void =>
  void connectionOf(client).write(bytes)
