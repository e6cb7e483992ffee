import { createServer, type Server, type Socket } from 'node:net'

/** Function that determines what a receiver does with a connection. */
export type Behavior = (socket: Socket) => void

/** A TCP server on loopback. A test determines byte by byte what it does with each connection. */
export class Receiver {
  /** Number of connections that were accepted so far. */
  connections = 0
  readonly #received: Buffer[] = []
  readonly #open = new Set<Socket>()
  readonly #server: Server

  constructor(behavior: Behavior) {
    this.#server = createServer((socket) => {
      this.connections += 1
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#open.delete(socket))
      socket.on('data', (chunk) => {
        this.#received.push(chunk)
      })
      behavior(socket)
    })
  }

  /** All bytes that were received on all connections. Each byte is one character. */
  get received(): string {
    return Buffer.concat(this.#received).toString('latin1')
  }

  /** Number of connections that neither side has closed. */
  get open(): number {
    return this.#open.size
  }

  get port(): number {
    const address = this.#server.address()
    return address !== null && typeof address === 'object' ? address.port : 0
  }

  async start(host = '127.0.0.1'): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, host, resolve)
    })
    return this
  }

  /** Resumes paused connections, so that they receive the close of the other side. */
  resume(): void {
    for (const socket of this.#open) socket.resume()
  }

  stop(): void {
    for (const socket of this.#open) socket.destroy()
    this.#server.close()
  }
}

/** Calls `then` once, when the body of a request is complete according to its `content-length`. */
export function onRequest(socket: Socket, then: () => void): void {
  let head = ''
  let missing = Number.POSITIVE_INFINITY
  const read = (chunk: Buffer): void => {
    if (missing === Number.POSITIVE_INFINITY) {
      head += chunk.toString('latin1')
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0) - (head.length - end - 4)
    } else missing -= chunk.byteLength
    if (missing > 0) return
    socket.off('data', read)
    then()
  }
  socket.on('data', read)
}
