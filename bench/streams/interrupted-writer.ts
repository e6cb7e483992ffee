import { setTimeout as pause } from 'node:timers/promises'
import { ContentStream, type StreamAnswer } from '../../test/support/clients/content-stream.ts'
import type { Reachable } from '../../test/support/servers/server.ts'
import type { Random } from '../support/random.ts'
import { machineMs } from './machine-time.ts'

/** Time from the opening of a connection until it is cut, in ms. */
const cutAfterMs = { least: 200, range: 2_600 } as const
/** Maximum units that a writer sends again although the server has them. */
const repeatedUnitsMax = 5

/** A piece of the content of a stream. */
interface Piece {
  /** UTF-16 units of the content before the piece. */
  readonly start: number
  /** The same with the piece. */
  readonly end: number
  /** Time at which the piece is sent, in ms after the start of the stream. */
  readonly dueMs: number
  /** Time on the clock of the machine in ms at which the piece was sent the last time. */
  sentAt: number
}

export interface WriterOptions {
  readonly server: Reachable
  readonly opening: object
  readonly content: string
  readonly seconds: number
  readonly piecesPerSecond: number
  /** True if the connection is cut at random times. */
  readonly isCut: boolean
  /** Time in ms within which all writers start. */
  readonly startsWithinMs: number
  readonly random: Random
}

/**
 * A program that sends a content in pieces. Its connections are cut at random times, sometimes in the middle of a
 * line. It then opens the stream again, and sometimes its previous connection is still open.
 */
export class InterruptedWriter {
  readonly pieces: readonly Piece[]
  /** Number of connections that were cut, and of those that the next connection took over. */
  cuts = 0
  takeovers = 0
  /** Times in ms from a cut until the server has accepted the next connection. */
  readonly resumed: number[] = []
  readonly content: string
  readonly #options: WriterOptions

  constructor(options: WriterOptions) {
    this.#options = options
    this.content = options.content
    this.pieces = piecesOf(options)
  }

  /** Sends the whole content. @returns the result of the stream @throws Error if the server rejects the stream */
  async write(): Promise<NonNullable<StreamAnswer['done']>> {
    const { server, opening, content, isCut, startsWithinMs, random } = this.#options
    await pause(random(startsWithinMs))
    const start = performance.now()
    let previous: ContentStream | null = null
    let cutAt: number | null = null
    for (;;) {
      const connection: ContentStream = await ContentStream.open(server, opening)
      if (cutAt !== null) this.resumed.push(performance.now() - cutAt)
      previous?.destroy()
      cutAt = isCut
        ? performance.now() + cutAfterMs.least + random(cutAfterMs.range)
        : Number.POSITIVE_INFINITY
      if (await this.#send(connection, start, cutAt)) {
        // Sometimes the connection breaks after the last piece.
        if (!isCut || random(3) > 0) return await connection.end()
      }
      cutAt = performance.now()
      if (random(3) === 0) this.takeovers += 1
      else {
        if (random(2) === 0) connection.raw(JSON.stringify({ text: content }).slice(0, 9))
        connection.destroy()
        this.cuts += 1
      }
      previous = connection
    }
  }

  /** Sends the pieces that the server does not have. Returns whether all were sent before the cut. */
  async #send(connection: ContentStream, start: number, cutAt: number): Promise<boolean> {
    const { content, random } = this.#options
    const { received } = connection.opened
    let isFirst = true
    for (const piece of this.pieces) {
      if (piece.end <= received) continue
      const waitMs = start + piece.dueMs - performance.now()
      if (waitMs > 0) await pause(waitMs)
      if (performance.now() >= cutAt) return false
      const at = isFirst ? Math.max(0, received - random(repeatedUnitsMax)) : piece.start
      piece.sentAt = machineMs()
      connection.text(content.slice(at, piece.end), at)
      isFirst = false
    }
    return true
  }
}

/** Divides the content into pieces of random lengths. The first one has the mark. */
function piecesOf({ content, seconds, piecesPerSecond, random }: WriterOptions): Piece[] {
  const count = Math.max(1, Math.round(seconds * piecesPerSecond))
  const lengthMax = (2 * content.length) / count
  const pieces: Piece[] = []
  for (let start = 0; start < content.length; ) {
    const length = start === 0 ? 8 : 1 + random(lengthMax)
    const end = Math.min(content.length, start + length)
    const dueMs = (end / content.length) * seconds * 1000
    pieces.push({ start, end, dueMs, sentAt: Number.NaN })
    start = end
  }
  return pieces
}
