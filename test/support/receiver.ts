import { createServer, type Server, type Socket } from 'node:net'

/** What a receiver does with a connection. */
export type Behaviour = (socket: Socket) => void

/** A real listener on loopback that does with every connection what a test says, byte by byte. */
export class Receiver {
  /** Connections that were made to it. */
  connections = 0
  /** All bytes that came, of all connections. */
  received = ''
  readonly #open = new Set<Socket>()
  readonly #server: Server

  constructor(behaviour: Behaviour) {
    this.#server = createServer((socket) => {
      this.connections += 1
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => this.#open.delete(socket))
      socket.on('data', (chunk) => {
        this.received += chunk.toString('latin1')
      })
      behaviour(socket)
    })
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

  stop(): void {
    for (const socket of this.#open) socket.destroy()
    this.#server.close()
  }
}

/** Calls back once a request's body, of `content-length`, has come. */
export function onRequest(socket: Socket, then: () => void): void {
  let text = ''
  const read = (chunk: Buffer): void => {
    text += chunk.toString('latin1')
    const end = text.indexOf('\r\n\r\n')
    const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
    if (end === -1 || text.length < end + 4 + length) return
    socket.off('data', read)
    then()
  }
  socket.on('data', read)
}
