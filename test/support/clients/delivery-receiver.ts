import { createServer, type Server, type Socket } from 'node:net'

/** What a receiver does with a connection. */
export type Behaviour = (socket: Socket) => void

/** A real listener on loopback that does with every connection what a test says, byte by byte. */
export class Receiver {
  /** Connections that were made to it. */
  connections = 0
  readonly #received: Buffer[] = []
  readonly #open = new Set<Socket>()
  readonly #server: Server

  constructor(behaviour: Behaviour) {
    this.#server = createServer((socket) => {
      this.connections += 1
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#open.delete(socket))
      socket.on('data', (chunk) => {
        this.#received.push(chunk)
      })
      behaviour(socket)
    })
  }

  /** All bytes that came, of all connections, one character each. */
  get received(): string {
    return Buffer.concat(this.#received).toString('latin1')
  }

  /** Connections that have not been closed by either side. */
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

  /** Lets paused connections notice what has become of them. */
  resume(): void {
    for (const socket of this.#open) socket.resume()
  }

  stop(): void {
    for (const socket of this.#open) socket.destroy()
    this.#server.close()
  }
}

/** Calls back once a request's body, of `content-length`, has come. */
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
