import { MalformedMessageError } from '../../update/malformed.ts'

/** First byte of a frame with a whole binary message: FIN bit and opcode 2 (RFC 6455 5.2). */
const wholeBinary = 0x82
/** First byte of a close frame. */
const closeFrame = 0x88

/**
 * Allocates a buffer for the start of an unmasked binary websocket frame, and writes the header. Returns the
 * buffer and the offset of the payload.
 * @param startBytes bytes of the payload for which the buffer has space. Default: the whole payload
 */
function allocateFrame(
  payloadBytes: number,
  startBytes: number = payloadBytes,
): { frame: Buffer; offset: number } {
  if (payloadBytes < 126) {
    const frame = Buffer.allocUnsafe(startBytes + 2)
    frame[0] = wholeBinary
    frame[1] = payloadBytes
    return { frame, offset: 2 }
  }
  if (payloadBytes < 65_536) {
    const frame = Buffer.allocUnsafe(startBytes + 4)
    frame[0] = wholeBinary
    frame[1] = 126
    frame.writeUInt16BE(payloadBytes, 2)
    return { frame, offset: 4 }
  }
  const frame = Buffer.allocUnsafe(startBytes + 10)
  frame[0] = wholeBinary
  frame[1] = 127
  frame.writeUInt32BE(Math.floor(payloadBytes / 2 ** 32), 2)
  frame.writeUInt32BE(payloadBytes % 2 ** 32, 6)
  return { frame, offset: 10 }
}

/**
 * Returns the number of bytes of `value` as a variable-length unsigned integer (lib0: seven bits per byte,
 * lowest first).
 */
function varUintLength(value: number): number {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length += 1
  return length
}

function writeVarUint(target: Uint8Array, at: number, value: number): number {
  let offset = at
  let rest = value
  while (rest > 127) {
    target[offset++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  target[offset++] = rest
  return offset
}

const nothing = new Uint8Array(0)

/** Returns a whole websocket frame. Its payload is `head`, the length of `bytes`, and `bytes`. */
export function frameWithBody(head: Uint8Array, bytes: Uint8Array): Uint8Array {
  const before = head.length + varUintLength(bytes.length)
  const { frame, offset } = allocateFrame(before + bytes.length)
  frame.set(head, offset)
  const at = writeVarUint(frame, offset + head.length, bytes.length)
  frame.set(bytes, at)
  return frame
}

/** Minimum bytes of a body that is sent without copying it into its frame. */
const bodyBytesMin = 65_536

/**
 * Returns the same websocket frame as `frameWithBody`, in one or two buffers. They must be sent directly
 * after each other. If `bytes` is large, it is itself the second buffer.
 */
export function framePartsWithBody(head: Uint8Array, bytes: Uint8Array): readonly Uint8Array[] {
  if (bytes.length < bodyBytesMin) return [frameWithBody(head, bytes)]
  const before = head.length + varUintLength(bytes.length)
  const { frame, offset } = allocateFrame(before + bytes.length, before)
  frame.set(head, offset)
  writeVarUint(frame, offset + head.length, bytes.length)
  return [frame, bytes]
}

/** Returns a whole websocket frame. Its payload is `head` and `rest`. */
export function frameRaw(head: Uint8Array, rest: Uint8Array = nothing): Uint8Array {
  const { frame, offset } = allocateFrame(head.length + rest.length)
  frame.set(head, offset)
  frame.set(rest, offset + head.length)
  return frame
}

/** Returns a close frame. @param reason at most 123 bytes of UTF-8 */
export function frameClose(code: number, reason: string): Uint8Array {
  const text = Buffer.from(reason)
  return Buffer.concat([Buffer.from([closeFrame, text.length + 2, code >> 8, code & 0xff]), text])
}

/** Returns the length of a frame header. @param second the second byte of the header */
export function frameHeaderBytes(second: number): number {
  const short = second & 0x7f
  const more = short === 126 ? 2 : short === 127 ? 8 : 0
  return 2 + more + (second & 0x80 ? 4 : 0)
}

/** Returns the length of the payload of a frame. @param header bytes with a whole frame header at offset `at` */
export function framePayloadBytes(header: ArrayLike<number>, at: number): number {
  const short = (header[at + 1] as number) & 0x7f
  if (short < 126) return short
  const lengthBytes = short === 126 ? 2 : 8
  let length = 0
  for (let index = at + 2; index < at + 2 + lengthBytes; index++)
    length = length * 256 + (header[index] as number)
  return length
}

/** Encodes a number as a variable-length unsigned integer of lib0. */
export function varUintBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(varUintLength(value))
  writeVarUint(bytes, 0, value)
  return bytes
}

/**
 * Returns the body of a message: the bytes after the length prefix at offset `at`. The body must extend to
 * the end of `bytes`.
 * @throws MalformedMessageError
 */
export function readBody(bytes: Uint8Array, at: number): Uint8Array {
  let length = 0
  let scale = 1
  for (let offset = at; offset < bytes.length && offset < at + 5; offset++) {
    const byte = bytes[offset] as number
    length += (byte & 127) * scale
    if (byte > 127) scale *= 128
    else if (length === bytes.length - offset - 1) return bytes.subarray(offset + 1)
    else break
  }
  throw new MalformedMessageError('the length of the message does not fit')
}
