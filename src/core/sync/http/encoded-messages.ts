import { encodeEventBytes, eventBytesEnd } from '../../base/event-stream.ts'
import { frameHeaderBytes, framePayloadBytes } from '../protocols/frame.ts'

/**
 * Number of bytes of a large message that are encoded together. It is a multiple of 3, so that the base64 of the
 * parts can be joined.
 */
const partBytes = 24_576

/** A message to clients. All clients that receive the message share this object. */
export class EncodedMessage {
  /** The end of the event with the message; null if the message is large. */
  readonly text: string | null
  /** Number of bytes that the message takes in memory. */
  readonly length: number
  readonly #payload: Buffer | null

  constructor(payload: Buffer) {
    const isLarge = payload.length > partBytes
    this.text = isLarge ? null : encodeEventBytes(payload)
    this.#payload = isLarge ? payload : null
    this.length = this.text?.length ?? payload.length
  }

  /**
   * Encodes a part of a large message. A client receives the parts one after the other, so that the text of the whole
   * message is never in memory.
   * @param index number of the part, from 0
   */
  part(index: number): { readonly text: string; readonly isLast: boolean } {
    const payload = this.#payload ?? Buffer.alloc(0)
    const end = (index + 1) * partBytes
    const isLast = end >= payload.length
    const text = payload.toString('base64', index * partBytes, Math.min(end, payload.length))
    return { text: isLast ? text + eventBytesEnd : text, isLast }
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
      // The server never writes a part of a header.
      const begin = at + frameHeaderBytes(buffer.readUInt8(at + 1))
      at = begin + framePayloadBytes(buffer, at)
      if (at <= buffer.length) messages.push(new EncodedMessage(buffer.subarray(begin, at)))
      else {
        this.#start = Buffer.from(buffer.subarray(begin))
        this.#missingBytes = at - buffer.length
      }
    }
    return messages
  }
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
