/** FIN and opcode 2: a whole binary message (RFC 6455 5.2). */
const wholeBinary = 0x82

/** Allocates a buffer with the header of an unmasked binary websocket frame and room for `payloadBytes`. */
export function allocateFrame(payloadBytes: number): { frame: Buffer; offset: number } {
  if (payloadBytes < 126) {
    const frame = Buffer.allocUnsafe(payloadBytes + 2)
    frame[0] = wholeBinary
    frame[1] = payloadBytes
    return { frame, offset: 2 }
  }
  if (payloadBytes < 65_536) {
    const frame = Buffer.allocUnsafe(payloadBytes + 4)
    frame[0] = wholeBinary
    frame[1] = 126
    frame.writeUInt16BE(payloadBytes, 2)
    return { frame, offset: 4 }
  }
  const frame = Buffer.allocUnsafe(payloadBytes + 10)
  frame[0] = wholeBinary
  frame[1] = 127
  frame.writeUInt32BE(Math.floor(payloadBytes / 2 ** 32), 2)
  frame.writeUInt32BE(payloadBytes % 2 ** 32, 6)
  return { frame, offset: 10 }
}

/** Returns the length of `value` as a variable-length unsigned integer (lib0: seven bits per byte, lowest first). */
export function varUintLength(value: number): number {
  let length = 1
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length += 1
  return length
}

export function writeVarUint(target: Uint8Array, at: number, value: number): number {
  let offset = at
  let rest = value
  while (rest > 127) {
    target[offset++] = (rest % 128) | 128
    rest = Math.floor(rest / 128)
  }
  target[offset++] = rest
  return offset
}
