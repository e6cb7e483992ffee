import { MalformedMessageError } from '../../update/malformed.ts'
import { allocateFrame, varUintLength, writeVarUint } from './frame.ts'

const nothing = new Uint8Array(0)

/** Returns a whole websocket frame: `head`, then `bytes` with their length. */
export function frameWithBody(head: Uint8Array, bytes: Uint8Array): Uint8Array {
  const before = head.length + varUintLength(bytes.length)
  const { frame, offset } = allocateFrame(before + bytes.length)
  frame.set(head, offset)
  const at = writeVarUint(frame, offset + head.length, bytes.length)
  frame.set(bytes, at)
  return frame
}

/** Returns a whole websocket frame: `head`, then `rest`. */
export function frameRaw(head: Uint8Array, rest: Uint8Array = nothing): Uint8Array {
  const { frame, offset } = allocateFrame(head.length + rest.length)
  frame.set(head, offset)
  frame.set(rest, offset + head.length)
  return frame
}

/** Encodes a number as lib0 does. */
export function varUintBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(varUintLength(value))
  writeVarUint(bytes, 0, value)
  return bytes
}

/** Returns the length-prefixed body from `at`, which must end with `bytes`. @throws MalformedMessageError */
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
