import { type Duplex, pipeline, Transform, type TransformCallback } from 'node:stream'
import type { Close } from '../../model/close.ts'
import { FrameBoundaries } from './frame-boundaries.ts'

/** How long a client may take to end a connection that is at its end, and a frame to come to its end, in ms. */
const endMs = 5_000

const listenersMax = 20

/**
 * A client's connection that another node serves: bytes go through, both ways, no faster than they are taken, and end
 * when either side does.
 */
export class SocketProxy {
  readonly #client: Duplex
  readonly #node: Duplex
  readonly #frames = new FrameForwarder()
  #late: NodeJS.Timeout | null = null

  /** Both have just become websockets. @param ended is called once, when the client's connection is gone */
  constructor(client: Duplex, node: Duplex, ended: () => void) {
    this.#client = client
    this.#node = node
    // Two ways each, and what an HTTP server and client listen for: more than what looks like a leak.
    for (const each of [client, node]) each.setMaxListeners(listenersMax)
    pipeline(node, this.#frames, client, (error) => (error ? this.#cut() : this.#expire()))
    pipeline(client, node, (error) => error && this.#cut())
    client.once('close', () => {
      if (this.#late !== null) clearTimeout(this.#late)
      node.destroy()
      ended()
    })
  }

  /** The client is told to go, after the frame that it is getting. */
  leave(reason: Close): void {
    this.#frames.leave(closeFrame(reason))
    this.#expire()
  }

  #cut(): void {
    this.#client.destroy()
    this.#node.destroy()
  }

  /** Clients that are half open would stay for ever. */
  #expire(): void {
    if (!this.#client.destroyed) this.#late ??= setTimeout(() => this.#cut(), endMs).unref()
  }
}

/** What a node says to a client, until something else is to be said last. */
class FrameForwarder extends Transform {
  readonly #ends = new FrameBoundaries()
  #last: Buffer | null = null
  #isOver = false

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#isOver) return done()
    if (this.#last === null) {
      this.#ends.pass(chunk)
      return done(null, chunk)
    }
    this.push(chunk.subarray(0, this.#ends.passOne(chunk)))
    this.#endBetween()
    done()
  }

  leave(last: Buffer): void {
    if (this.#last !== null) return
    this.#last = last
    this.#endBetween()
  }

  #endBetween(): void {
    if (!this.#ends.isBetween || this.#isOver || this.readableEnded) return
    this.#isOver = true
    this.push(this.#last)
    this.push(null)
  }
}

/** As a server sends it (RFC 6455 5.5.1): the reason is short, and nothing is masked. */
function closeFrame({ code, reason }: Close): Buffer {
  const text = Buffer.from(reason)
  const start = Buffer.from([0x88, 2 + text.length, code >> 8, code & 0xff])
  return Buffer.concat([start, text])
}
