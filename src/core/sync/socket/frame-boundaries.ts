/** Length of the longest frame header in bytes. */
const headerBytesMax = 14

/**
 * Finds the ends of messages in the bytes of a websocket, by following its frames (RFC 6455 5.2). Keeps no
 * bytes except the start of an incomplete header.
 */
export class FrameBoundaries {
  /** The first bytes of a header that continues in the next chunk. */
  #header: number[] = []
  /**
   * Number of payload bytes of the current frame that have not arrived yet. Not valid while the header is
   * incomplete.
   */
  #remainingBytes = 0
  /** True if a message that consists of several frames is incomplete. */
  #isFragmented = false
  /** Number of frames that have begun. */
  frames = 0
  /** Number of these that are not the last frame of a message: control frames and earlier fragments. */
  extraFrames = 0

  /** True if the bytes so far end exactly at the end of a message. */
  get #isComplete(): boolean {
    return !this.#isFragmented && this.#remainingBytes === 0 && this.#header.length === 0
  }

  /**
   * Processes the next chunk of bytes. Returns the offset in the chunk after its last complete message; 0 if
   * the chunk starts a message that it does not complete; -1 if it continues a message without completing
   * any.
   */
  pass(chunk: Uint8Array): number {
    let completeTo = this.#isComplete ? 0 : -1
    for (let at = 0; at < chunk.length; ) {
      at = this.#step(chunk, at)
      if (this.#isComplete) completeTo = at
    }
    return completeTo
  }

  #step(chunk: Uint8Array, at: number): number {
    if (this.#remainingBytes > 0) {
      const passed = Math.min(this.#remainingBytes, chunk.length - at)
      this.#remainingBytes -= passed
      return at + passed
    }
    if (this.#header.length === 0 && chunk.length - at >= headerBytesMax) {
      const headerBytes = headerLength(chunk[at + 1] as number)
      this.#begin(chunk, at)
      return at + headerBytes
    }
    this.#header.push(chunk[at] as number)
    const [, second] = this.#header
    if (second !== undefined && this.#header.length === headerLength(second)) {
      this.#begin(this.#header, 0)
      this.#header = []
    }
    return at + 1
  }

  /** Starts a frame. @param header bytes that contain a whole frame header at offset `at` */
  #begin(header: ArrayLike<number>, at: number): void {
    const first = header[at] as number
    const isControl = (first & 0x08) !== 0
    if (!isControl) this.#isFragmented = (first & 0x80) === 0
    this.frames += 1
    if (isControl || this.#isFragmented) this.extraFrames += 1
    this.#remainingBytes = payloadLength(header, at)
  }
}

/** Returns the length of a frame header. @param second the second byte of the header */
function headerLength(second: number): number {
  const short = second & 0x7f
  const more = short === 126 ? 2 : short === 127 ? 8 : 0
  return 2 + more + (second & 0x80 ? 4 : 0)
}

function payloadLength(header: ArrayLike<number>, at: number): number {
  const short = (header[at + 1] as number) & 0x7f
  if (short < 126) return short
  const lengthBytes = short === 126 ? 2 : 8
  let length = 0
  for (let index = at + 2; index < at + 2 + lengthBytes; index++)
    length = length * 256 + (header[index] as number)
  return length
}
