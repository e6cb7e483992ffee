/** Position of a frame and of its payload in the received bytes. The frames of a server have no mask. */
interface FrameAt {
  readonly opcode: number
  readonly start: number
  /** Offset at which the payload ends and the next frame starts. */
  readonly end: number
}

/** Returns the frame that starts at an offset; null if the frame is incomplete. */
export function frameAt(bytes: Buffer, at: number): FrameAt | null {
  if (bytes.length < at + 2) return null
  const short = bytes[at + 1] as number
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
  const start = at + 2 + lengthBytes
  if (bytes.length < start) return null
  const length =
    lengthBytes === 0 ? short : lengthBytes === 2 ? bytes.readUInt16BE(at + 2) : bytes.readUIntBE(at + 4, 6)
  return bytes.length < start + length
    ? null
    : { opcode: (bytes[at] as number) & 15, start, end: start + length }
}

/** Encodes a frame that a client sends. The mask is zero, so the payload does not change. */
export function clientFrame(opcode: number, payload: Uint8Array): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const frame = Buffer.alloc(6 + lengthBytes + length)
  frame[0] = 0x80 | opcode
  frame[1] = 0x80 | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2)
  if (lengthBytes === 8) frame.writeUIntBE(length, 4, 6)
  frame.set(payload, 6 + lengthBytes)
  return frame
}

export const opcodes = { binary: 2, close: 8, ping: 9, pong: 10 } as const

/** Encodes a number in the variable-length format of lib0. */
export function encodeVarUint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return Buffer.from([...bytes, rest])
}

/** Decodes a number in the variable-length format of lib0. */
export function readVarUint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let [value, scale, end] = [0, 1, at]
  for (;;) {
    const byte = bytes[end++] as number
    value += (byte & 127) * scale
    if (byte < 128) return { value, end }
    scale *= 128
  }
}

/** Returns the bytes with their length in front of them. */
export const prefixed = (bytes: Uint8Array): Buffer => Buffer.concat([encodeVarUint(bytes.length), bytes])
