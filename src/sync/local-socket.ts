import type { Duplex } from 'node:stream'
import type { ClientSocket, Gate, SocketListener } from './client-socket.ts'
import type { EndingsParts } from './endings.ts'
import type { Knock } from './knock.ts'
import { Flushes, Outlet } from './outlet.ts'
import { ReceiveBound } from './receive-bound.ts'
import type { SyncSocket } from './socket.ts'
import { Upgrades } from './upgrades.ts'

/** A websocket that this process serves itself. */
class LocalSocket implements ClientSocket {
  readonly #socket: SyncSocket
  readonly #outlet: Outlet
  readonly #bufferBytesMax: number
  #bound: ReceiveBound | null = null

  constructor(socket: SyncSocket, outlet: Outlet, bufferBytesMax: number) {
    this.#socket = socket
    this.#outlet = outlet
    this.#bufferBytesMax = bufferBytesMax
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  get isFull(): boolean {
    return this.#outlet.waitingBytes > this.#bufferBytesMax
  }

  listen(listener: SocketListener): void {
    this.#socket.listen(listener)
  }

  onClosed(fn: () => void): void {
    // It is told once as it is: what `once` keeps for that is more than the rest of a listener.
    this.#socket.on('close', fn)
  }

  write(frames: Uint8Array): void {
    this.#outlet.write(frames)
  }

  whenDrained(fn: () => void): void {
    this.#outlet.whenDrained(fn)
  }

  ping(): void {
    this.#outlet.flush()
    if (this.isOpen) this.#socket.ping()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  bound(bytesMax: number | null): void {
    this.#bound?.lift()
    this.#bound = bytesMax === null ? null : new ReceiveBound(this.#socket, this.#outlet.connection, bytesMax)
  }

  close(code: number, reason: string): void {
    this.#outlet.flush()
    this.#socket.close(code, reason)
  }

  terminate(): void {
    this.#socket.terminate()
  }
}

export interface LocalGateOptions {
  readonly messageBytesMax: number
  readonly sendBufferBytesMax: number
}

/** Has this process serve all websockets itself. */
export class LocalGate implements Gate {
  readonly isOpen = true
  readonly #upgrades: Upgrades
  readonly #flushes = new Flushes()
  readonly #sendBufferBytesMax: number

  constructor({ messageBytesMax, sendBufferBytesMax }: LocalGateOptions, parts: EndingsParts) {
    this.#upgrades = new Upgrades(messageBytesMax, 'maxMessageBytes', parts)
    this.#sendBufferBytesMax = sendBufferBytesMax
  }

  async start(): Promise<void> {}

  accept(knock: Knock, who: string, then: (socket: ClientSocket) => void): void {
    const { connection } = knock
    this.#upgrades.accept(knock, who, (socket) => then(this.#serve(socket, connection)))
  }

  async end(): Promise<void> {}

  #serve(socket: SyncSocket, connection: Duplex): ClientSocket {
    return new LocalSocket(socket, new Outlet(socket, connection, this.#flushes), this.#sendBufferBytesMax)
  }
}
