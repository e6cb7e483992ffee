import { encodeEventBytes } from '../../event-stream.ts'

/** A message as the end of an event. All clients that receive the message share this object. */
export class EncodedMessage {
  readonly text: string

  constructor(payload: Buffer) {
    this.text = encodeEventBytes(payload)
  }

  /** Number of bytes that the text takes. It contains ASCII only. */
  get length(): number {
    return this.text.length
  }
}

/** The encoded messages of frames that many clients receive, by the buffer of the frames. */
const wholeFrames = new WeakMap<Uint8Array, readonly EncodedMessage[]>()
/** The encoded messages of large frames in two buffers, by the second buffer. */
const splitFrames = new WeakMap<Uint8Array, { readonly start: Buffer; readonly message: EncodedMessage }>()

/**
 * Reads the messages from the websocket frames that the server writes for one client (`protocols/frame.ts`): whole,
 * binary and without a mask. The encoded messages are cached by the identity of the buffers, so that a broadcast is
 * encoded only once.
 */
export class FrameMessages {
  /** The start of the incomplete frame without its header; null if no frame is incomplete. */
  #start: Buffer | null = null
  /** Number of bytes of the incomplete frame that are missing. */
  #missingBytes = 0

  /** Returns the messages that are complete after these bytes. */
  read(frames: Uint8Array): readonly EncodedMessage[] {
    if (this.#start === null) return wholeFrames.get(frames) ?? this.#readWhole(frames)
    if (frames.length < this.#missingBytes) {
      this.#start = Buffer.concat([this.#start, frames])
      this.#missingBytes -= frames.length
      return []
    }
    const rest = frames.subarray(0, this.#missingBytes)
    const message = rest.length === frames.length ? readSplit(this.#start, frames) : joined(this.#start, rest)
    this.#start = null
    return [message, ...this.#readFrames(frames, rest.length)]
  }

  #readWhole(frames: Uint8Array): readonly EncodedMessage[] {
    const messages = this.#readFrames(frames, 0)
    if (this.#start === null) wholeFrames.set(frames, messages)
    return messages
  }

  #readFrames(frames: Uint8Array, from: number): readonly EncodedMessage[] {
    const buffer = Buffer.from(frames.buffer, frames.byteOffset, frames.byteLength)
    const messages: EncodedMessage[] = []
    for (let at = from; at < buffer.length; ) {
      const { bytes, headerBytes } = readHeader(buffer, at)
      const begin = at + headerBytes
      at = begin + bytes
      if (at <= buffer.length) messages.push(new EncodedMessage(buffer.subarray(begin, at)))
      else {
        this.#start = Buffer.from(buffer.subarray(begin))
        this.#missingBytes = at - buffer.length
      }
    }
    return messages
  }
}

/** Reads the header of a frame (RFC 6455 5.2). The server never writes a part of a header. */
function readHeader(buffer: Buffer, at: number): { bytes: number; headerBytes: number } {
  const short = buffer.readUInt8(at + 1)
  if (short < 126) return { bytes: short, headerBytes: 2 }
  if (short === 126) return { bytes: buffer.readUInt16BE(at + 2), headerBytes: 4 }
  return { bytes: buffer.readUInt32BE(at + 2) * 2 ** 32 + buffer.readUInt32BE(at + 6), headerBytes: 10 }
}

function readSplit(start: Buffer, rest: Uint8Array): EncodedMessage {
  const known = splitFrames.get(rest)
  if (known?.start.equals(start)) return known.message
  const message = joined(start, rest)
  splitFrames.set(rest, { start, message })
  return message
}

const joined = (start: Buffer, rest: Uint8Array): EncodedMessage =>
  new EncodedMessage(Buffer.concat([start, rest]))
