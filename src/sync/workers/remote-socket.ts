import type { ClientSocket, SocketListener } from '../socket/client-socket.ts'
import { type SocketHolders, SocketMemory, type SocketOwner } from '../socket/socket-memory.ts'
import { type LargeFrameTracker, UnreadFrames } from '../socket/unread-frames.ts'
import { codeBody, mainRecords, numberBody, unreadBytesMax, workerRecords } from './ipc-records.ts'
import type { RecordTarget, RecordWriter } from './record-writer.ts'

export interface RemoteSocketDependencies {
  readonly outbox: RecordWriter
  readonly sendBufferBytesMax: number
  readonly memory: SocketHolders
  readonly largeFrames: LargeFrameTracker
}

/** The worker reports less than this later: fewer unread bytes are not counted. */
const countedFrom = 131_072

/** A websocket that a worker serves, as the main process sees it. */
export class RemoteSocket implements ClientSocket, RecordTarget {
  readonly id: number
  /** Of the outbox. */
  lastEntry = 0
  readonly #outbox: RecordWriter
  readonly #tools: RemoteSocketDependencies
  readonly #memory: SocketMemory
  /** Null before the client falls behind for the first time. */
  #unread: UnreadFrames | null = null
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

  constructor(id: number, owner: SocketOwner, tools: RemoteSocketDependencies) {
    this.id = id
    this.#outbox = tools.outbox
    this.#tools = tools
    this.#memory = new SocketMemory(tools.memory, owner, () => this.terminate())
    if (owner.workspaceId !== null) this.#tell(workerRecords.admit)
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  get isFull(): boolean {
    return this.#unreadBytes > this.#tools.sendBufferBytesMax
  }

  get isCrowded(): boolean {
    return this.#memory.isCrowded
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
    if (this.#unreadBytes > countedFrom) this.#behind(frames)
  }

  whenDrained(fn: () => void): void {
    if (this.#state === 'closed') return
    this.#waiting.push({ atBytes: this.#writtenBytes, fn })
    this.#tell(workerRecords.drain)
  }

  ping(): void {
    if (this.#state === 'open') this.#tell(workerRecords.ping)
  }

  pause(): void {
    this.#tell(workerRecords.pause)
  }

  resume(): void {
    this.#tell(workerRecords.resume)
  }

  admit(workspaceId: string): void {
    this.#memory.admit(workspaceId)
    this.#unread?.update(0)
    this.#unread = null
    this.#tell(workerRecords.admit)
  }

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#tell(workerRecords.close, codeBody(code, reason))
  }

  terminate(): void {
    if (this.#state === 'open') this.#state = 'closing'
    this.#tell(workerRecords.terminate)
  }

  /** What the worker says of it. */
  receive(kind: number, body: Buffer): void {
    switch (kind) {
      case mainRecords.binary:
      case mainRecords.text:
        this.#listener?.message(body, kind === mainRecords.binary)
        return this.#took(body.length + unreadBytesMax.messageBytes)
      case mainRecords.ping:
        return this.#listener?.ping(body.readUInt32LE())
      case mainRecords.pong:
        return this.#listener?.pong(body.readUInt32LE())
      case mainRecords.sent:
        return this.#sent(body.readUInt32LE())
      case mainRecords.incomplete:
        return this.#setIncomplete(body.readUInt32LE(), body.readUInt32LE(4))
    }
  }

  /** The connection is gone. */
  closed(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#waiting = []
    this.#memory.release()
    this.#unread?.update(0)
    for (const fn of this.#onClosed) fn()
  }

  #setIncomplete(messageBytes: number, keptBytes: number): void {
    this.#listener?.incomplete(messageBytes)
    this.#memory.setIncomplete(keptBytes)
  }

  get #unreadBytes(): number {
    return this.#writtenBytes - this.#sentBytes
  }

  #behind(frames: Uint8Array): void {
    const { memory, largeFrames } = this.#tools
    const reader = { owner: this.#memory.owner, end: () => this.terminate() }
    this.#unread ??= new UnreadFrames(memory.unreadSockets, largeFrames, reader)
    this.#unread.add(frames)
    this.#unread.update(this.#unreadBytes)
  }

  #took(bytes: number): void {
    this.#takenBytes += bytes
    if (this.#takenBytes < unreadBytesMax.toldBytes) return
    this.#tell(workerRecords.taken, numberBody(this.#takenBytes))
    this.#takenBytes = 0
  }

  #sent(bytes: number): void {
    this.#sentBytes += bytes
    this.#unread?.update(this.#unreadBytes > countedFrom ? this.#unreadBytes : 0)
    while (this.#waiting[0] !== undefined && this.#waiting[0].atBytes <= this.#sentBytes)
      this.#waiting.shift()?.fn()
  }

  #tell(kind: number, body?: Uint8Array): void {
    if (this.#state !== 'closed') this.#outbox.addTo(this, kind, body)
  }
}
