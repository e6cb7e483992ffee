/**
 * What main process and socket worker say to each other: records, one after the other. A record is the length of its
 * body (4 bytes, little-endian like all numbers here), its kind (1), the id of a socket (4), and the body. Both ends are
 * of one version, always: nothing here has to be compatible with anything.
 */
export const headerBytes = 9

/** From the main process; what has a body says so. */
export const workerRecords = {
  /** The connection that was handed over is to be a websocket: `opening.ts`. */
  open: 1,
  /** Whole websocket frames. */
  write: 2,
  /** The same frames for many; instead of an id their number, and their ids before the frames. */
  share: 3,
  /** Code (2 bytes) and reason. */
  close: 4,
  terminate: 5,
  ping: 6,
  pause: 7,
  resume: 8,
  /** Tell what has been sent when nothing waits any more. */
  drain: 9,
  /** So many bytes (4) of messages have been looked at. */
  taken: 10,
  /** To be answered. */
  beat: 11,
  /** The client is authenticated: its messages may be larger. */
  admit: 12,
} as const

/** From a worker. */
export const mainRecords = {
  ready: 1,
  opened: 2,
  /** A message: bytes. */
  binary: 3,
  /** A message: text. */
  text: 4,
  /** Length (4 bytes) of what came with it, as below. */
  ping: 5,
  pong: 6,
  /** So many bytes (4) more have been handed to the operating system. */
  sent: 7,
  /** Code and message as JSON: `Failure`. */
  failed: 8,
  /** The connection is gone. Code (2 bytes), 0 if it was no websocket yet. */
  closed: 9,
  beat: 10,
  /** Bytes (4) of an incomplete message, and those (4) that are in memory. */
  incomplete: 11,
} as const

/**
 * Messages of one socket that the main process has not looked at yet. Beyond the most the worker does not read it; by and
 * by it is told what has been taken. Each message counts as so much more than its bytes: many small ones are more work.
 */
export const unreadBytesMax = { bytesMax: 131_072, toldBytes: 32_768, messageBytes: 64 } as const

/** What a websocket ended of. */
export interface Failure {
  readonly code: string
  readonly message: string
}

export type TakeRecord = (kind: number, id: number, body: Buffer) => void

/** Makes records again of a stream that has been cut anywhere. Bodies are views on what was read. */
export class RecordReader {
  readonly #take: TakeRecord
  /** What has come of a record that is not complete. */
  #parts: Buffer[] = []
  #partsBytes = 0
  /** Bytes without which nothing can be made of them. */
  #neededBytes = headerBytes

  constructor(take: TakeRecord) {
    this.#take = take
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk)
    this.#partsBytes += chunk.length
    if (this.#partsBytes < this.#neededBytes) return
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts)
    const rest = bytes.subarray(this.#takeAll(bytes))
    this.#parts = rest.length === 0 ? [] : [rest]
    this.#partsBytes = rest.length
  }

  /** Returns where the first record begins that is not complete. */
  #takeAll(bytes: Buffer): number {
    let at = 0
    for (;;) {
      this.#neededBytes = headerBytes
      if (bytes.length - at < headerBytes) return at
      const end = at + headerBytes + bytes.readUInt32LE(at)
      if (bytes.length < end) {
        this.#neededBytes = end - at
        return at
      }
      this.#take(bytes[at + 4] as number, bytes.readUInt32LE(at + 5), bytes.subarray(at + headerBytes, end))
      at = end
    }
  }
}

export function numberBody(value: number): Buffer {
  const body = Buffer.allocUnsafe(4)
  body.writeUInt32LE(value)
  return body
}

export function numbersBody(first: number, second: number): Buffer {
  const body = Buffer.allocUnsafe(8)
  body.writeUInt32LE(first)
  body.writeUInt32LE(second, 4)
  return body
}

export function codeBody(code: number, reason = ''): Buffer {
  const body = Buffer.allocUnsafe(2 + Buffer.byteLength(reason))
  body.writeUInt16LE(code)
  body.write(reason, 2)
  return body
}
