import type { ClientSocket, SocketListener } from '../client-socket.ts'
import type { Addressee, Outbox } from './outbox.ts'
import { codeBody, numberBody, toMain, toWorker, untaken } from './records.ts'

/** A websocket that a worker serves, as the main process sees it. */
export class RemoteSocket implements ClientSocket, Addressee {
  readonly id: number
  /** Of the outbox. */
  lastEntry = 0
  readonly #outbox: Outbox
  readonly #bufferBytesMax: number
  #state: 'open' | 'closing' | 'closed' = 'open'
  #listener: SocketListener | null = null
  readonly #onClosed: (() => void)[] = []
  /** Since the start. */
  #writtenBytes = 0
  #sentBytes = 0
  /** Those who want to know when so much has been sent, in order. */
  #waiting: { readonly atBytes: number; readonly fn: () => void }[] = []
  /** Looked at, and not told to the worker yet. */
  #takenBytes = 0

  constructor(id: number, outbox: Outbox, bufferBytesMax: number) {
    this.id = id
    this.#outbox = outbox
    this.#bufferBytesMax = bufferBytesMax
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isFull(): boolean {
    return this.#writtenBytes - this.#sentBytes > this.#bufferBytesMax
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
  }

  onClosed(fn: () => void): void {
    this.#onClosed.push(fn)
  }

  write(frames: Uint8Array): void {
    if (this.#state !== 'open') return
    this.#writtenBytes += frames.length
    this.#outbox.share(this, frames)
  }

  whenDrained(fn: () => void): void {
    if (this.#state === 'closed') return
    this.#waiting.push({ atBytes: this.#writtenBytes, fn })
    this.#tell(toWorker.drain)
  }

  ping(): void {
    if (this.#state === 'open') this.#tell(toWorker.ping)
  }

  pause(): void {
    this.#tell(toWorker.pause)
  }

  resume(): void {
    this.#tell(toWorker.resume)
  }

  bound(bytesMax: number | null): void {
    this.#tell(toWorker.bound, numberBody(bytesMax ?? 0))
  }

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#tell(toWorker.close, codeBody(code, reason))
  }

  terminate(): void {
    if (this.#state === 'open') this.#state = 'closing'
    this.#tell(toWorker.terminate)
  }

  /** What the worker says of it. */
  receive(kind: number, body: Buffer): void {
    switch (kind) {
      case toMain.binary:
      case toMain.text:
        this.#listener?.message(body, kind === toMain.binary)
        return this.#took(body.length + untaken.messageBytes)
      case toMain.ping:
        return this.#listener?.ping(body.readUInt32LE())
      case toMain.pong:
        return this.#listener?.pong(body.readUInt32LE())
      case toMain.sent:
        return this.#sent(body.readUInt32LE())
    }
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#waiting = []
    for (const fn of this.#onClosed) fn()
  }

  #took(bytes: number): void {
    this.#takenBytes += bytes
    if (this.#takenBytes < untaken.toldBytes) return
    this.#tell(toWorker.taken, numberBody(this.#takenBytes))
    this.#takenBytes = 0
  }

  #sent(bytes: number): void {
    this.#sentBytes += bytes
    while (this.#waiting[0] !== undefined && this.#waiting[0].atBytes <= this.#sentBytes)
      this.#waiting.shift()?.fn()
  }

  #tell(kind: number, body?: Uint8Array): void {
    if (this.#state !== 'closed') this.#outbox.addTo(this, kind, body)
  }
}
