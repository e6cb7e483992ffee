/**
 * Follows the frames of a websocket (RFC 6455 5.2) through bytes as they come, to know where one ends: something else may
 * be said between two frames only. What they hold is not looked at, and nothing is kept but the start of one.
 */
export class FrameEnds {
  /** The first bytes of a frame, up to what tells its length; at most 14. */
  #start: number[] = []
  /** Bytes of this frame that are still to come; not known while its start is not complete. */
  #left = 0

  /** Is the next byte the first of a frame? */
  get isBetween(): boolean {
    return this.#left === 0 && this.#start.length === 0
  }

  /** Follows the bytes of a chunk, to its end. */
  pass(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) at = this.#step(chunk, at)
  }

  /** The same, but only up to the end of the first frame. Returns how many bytes that are. */
  passOne(chunk: Uint8Array): number {
    let at = 0
    while (at < chunk.length && !this.isBetween) at = this.#step(chunk, at)
    return at
  }

  #step(chunk: Uint8Array, at: number): number {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, chunk.length - at)
      this.#left -= taken
      return at + taken
    }
    this.#start.push(chunk[at] as number)
    const length = payloadLength(this.#start)
    if (length !== null) {
      this.#left = length
      this.#start = []
    }
    return at + 1
  }
}

/** Bytes after the start of a frame; null while more of it must come to tell. */
function payloadLength(start: readonly number[]): number | null {
  const [, second] = start
  if (second === undefined) return null
  const short = second & 0x7f
  const more = short === 126 ? 2 : short === 127 ? 8 : 0
  const maskBytes = second & 0x80 ? 4 : 0
  if (start.length < 2 + more + maskBytes) return null
  if (more === 0) return short
  return start.slice(2, 2 + more).reduce((length, byte) => length * 256 + byte, 0)
}
