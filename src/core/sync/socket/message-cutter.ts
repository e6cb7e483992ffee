import { frameHeaderBytes, framePayloadBytes } from '../protocols/frame.ts'

/** Maximum number of frames of a message that `ws` receives. `ws` itself accepts 1,024. */
const framesMax = 1_000
/** Bytes of the start of a cut message that are kept. They contain the name of the document. */
export const headBytes = 9_000
/** The last frame of a cut message: FIN bit, continuation, masked with zeros, no payload. */
const lastFrame = Buffer.from([0x80, 0x80, 0, 0, 0, 0])

/** A frame whose payload is being read. */
interface Frame {
  readonly isControl: boolean
  readonly isFinal: boolean
  /** Number of payload bytes that are passed on, and of those after them that are dropped. */
  passBytes: number
  dropBytes: number
}

/** The data message whose frames are being read. */
interface CurrentMessage {
  bytes: number
  frames: number
  isCut: boolean
}

/**
 * Cuts messages that are too large out of the bytes of a websocket, so that `ws` does not close a websocket
 * that carries several documents because of one of them. Of such a message, `ws` receives the frames up to the
 * one that exceeds the limit, at least `headBytes`, and then an empty last frame when the client has sent the
 * whole message. Follows the frames of RFC 6455 5.2.
 */
export class MessageCutter {
  readonly #messageBytesMax: number
  /** The start of a frame header that continues in the next chunk. */
  #held: Buffer | null = null
  #frame: Frame | null = null
  #message: CurrentMessage | null = null
  /** Number of messages that `ws` has received, and that it has emitted. */
  #passed = 0
  #emitted = 0
  /** Cut messages that `ws` has not emitted yet, by their numbers, with their lengths in bytes. */
  readonly #cut = new Map<number, number>()

  constructor(messageBytesMax: number) {
    this.#messageBytesMax = messageBytesMax
  }

  /** True while the rest of a message is dropped. */
  get isCutting(): boolean {
    return this.#message?.isCut === true
  }

  /**
   * Returns the length in bytes of the next message that `ws` emits if it is cut; otherwise null. Must be
   * called once for each message.
   */
  nextCutBytes(): number | null {
    this.#emitted += 1
    const bytes = this.#cut.get(this.#emitted) ?? null
    this.#cut.delete(this.#emitted)
    return bytes
  }

  /** Returns the bytes that `ws` must read instead of the next chunk of the connection. */
  pass(chunk: Buffer): readonly Buffer[] {
    const bytes = this.#held === null ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = null
    const passed = new PassedBytes(bytes)
    for (let at = 0; at < bytes.length; ) {
      if (this.#frame === null) {
        // Of an incomplete header, at least one byte more is needed.
        const headerBytes = at + 1 < bytes.length ? frameHeaderBytes(bytes.readUInt8(at + 1)) : 2
        if (at + headerBytes > bytes.length) {
          this.#held = Buffer.from(bytes.subarray(at))
          break
        }
        this.#frame = this.#begin(bytes.subarray(at, at + headerBytes), at, passed)
        at += headerBytes
      }
      at = readPayload(this.#frame, at, passed)
      if (this.#frame.passBytes + this.#frame.dropBytes === 0) this.#end(this.#frame, passed)
    }
    return passed.all()
  }

  /** Starts a frame, and passes its header on, unless the whole frame is dropped. */
  #begin(header: Buffer, at: number, passed: PassedBytes): Frame {
    const [first] = header as unknown as [number]
    const payloadBytes = framePayloadBytes(header, 0)
    const frame = { isControl: (first & 0x08) !== 0, isFinal: (first & 0x80) !== 0 }
    if (!frame.isControl) {
      this.#message ??= { bytes: 0, frames: 0, isCut: false }
      const message = this.#message
      const isFirst = message.frames === 0
      message.bytes += payloadBytes
      message.frames += 1
      message.isCut ||= message.bytes > this.#messageBytesMax || message.frames > framesMax
      if (message.isCut) {
        const passBytes = isFirst ? Math.min(headBytes, payloadBytes) : 0
        if (isFirst) passed.insert(shortened(header, passBytes))
        return { ...frame, passBytes, dropBytes: payloadBytes - passBytes }
      }
    }
    passed.add(at, at + header.length)
    return { ...frame, passBytes: payloadBytes, dropBytes: 0 }
  }

  #end({ isControl, isFinal }: Frame, passed: PassedBytes): void {
    this.#frame = null
    if (isControl || !isFinal) return
    this.#passed += 1
    if (this.#message?.isCut === true) {
      passed.insert(lastFrame)
      this.#cut.set(this.#passed, this.#message.bytes)
    }
    this.#message = null
  }
}

/** The parts of a chunk that are passed on, and bytes that are inserted between them. */
class PassedBytes {
  readonly #chunk: Buffer
  readonly #parts: Buffer[] = []
  /** Range of the chunk that is not in `#parts` yet. */
  #from = 0
  #to = 0

  constructor(chunk: Buffer) {
    this.#chunk = chunk
  }

  get length(): number {
    return this.#chunk.length
  }

  add(from: number, to: number): void {
    if (from !== this.#to) {
      this.#flush()
      this.#from = from
    }
    this.#to = to
  }

  insert(bytes: Buffer): void {
    this.#flush()
    this.#parts.push(bytes)
  }

  all(): readonly Buffer[] {
    this.#flush()
    return this.#parts
  }

  #flush(): void {
    if (this.#to > this.#from) this.#parts.push(this.#chunk.subarray(this.#from, this.#to))
    this.#from = this.#to
  }
}

/** Reads payload bytes of the frame from offset `at`. Returns the offset after them. */
function readPayload(frame: Frame, at: number, passed: PassedBytes): number {
  const passTo = at + Math.min(frame.passBytes, passed.length - at)
  if (passTo > at) passed.add(at, passTo)
  const end = passTo + Math.min(frame.dropBytes, passed.length - passTo)
  frame.passBytes -= passTo - at
  frame.dropBytes -= end - passTo
  return end
}

/** Returns the header of a frame with a shorter payload, which is not the last frame of its message. */
function shortened(header: Buffer, payloadBytes: number): Buffer {
  const masked = (header[1] as number) & 0x80
  const mask = masked === 0 ? header.subarray(header.length) : header.subarray(-4)
  const start = Buffer.from([
    (header[0] as number) & 0x7f,
    masked | 126,
    payloadBytes >> 8,
    payloadBytes & 0xff,
  ])
  return Buffer.concat([start, mask])
}
