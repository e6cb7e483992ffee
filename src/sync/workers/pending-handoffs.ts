import type { Socket } from 'node:net'
import type { UpgradeRequest } from '../connect/upgrade-request.ts'
import type { ClientSocket } from '../socket/client-socket.ts'
import { encodeOpenRecord } from './open-record.ts'

/** Somebody whose connection is on its way to a worker. */
export interface Handoff {
  readonly knock: UpgradeRequest
  readonly connection: Socket
  /** Null before authentication. */
  readonly workspaceId: string | null
  readonly opened: (socket: ClientSocket) => void
}

/** Heartbeats after which an arrival is given up: a worker that is alive and has not got it never will. */
const beatsMax = 10

interface WaitingHandoff extends Handoff {
  beats: number
  readonly handle: unknown
}

/** Those who are on their way to one worker. */
export class PendingHandoffs {
  readonly #waiting = new Map<number, WaitingHandoff>()

  get size(): number {
    return this.#waiting.size
  }

  /** To be called before it is sent. */
  add(id: number, arrival: Handoff): void {
    this.#waiting.set(id, { ...arrival, beats: 0, handle: Reflect.get(arrival.connection, '_handle') })
    arrival.connection.once('close', () => this.#waiting.delete(id))
  }

  /** What the worker needs to answer the request of an arrival that it has got; null: it is gone. */
  opening(id: number): Buffer | null {
    const arrival = this.#waiting.get(id)
    if (arrival === undefined) return null
    const { request, head } = arrival.knock
    // Clients that wait for our answer have said nothing yet; of others this is what had been read.
    const more: unknown = arrival.connection.read()
    return encodeOpenRecord(request, Buffer.isBuffer(more) ? Buffer.concat([head, more]) : head)
  }

  take(id: number): Handoff | null {
    const arrival = this.#waiting.get(id) ?? null
    this.#waiting.delete(id)
    return arrival
  }

  beat(): void {
    for (const arrival of this.#waiting.values()) {
      arrival.beats += 1
      if (arrival.beats > beatsMax) cutOff(arrival)
    }
  }

  end(): void {
    for (const arrival of this.#waiting.values()) cutOff(arrival)
  }
}

/** Node takes the handle from a connection that it sends, and forgets it if nobody takes it there: it stayed open for ever. */
function cutOff({ connection, handle }: WaitingHandoff): void {
  connection.destroy()
  if (isClosable(handle)) handle.close()
}

const isClosable = (handle: unknown): handle is { close(): void } =>
  typeof handle === 'object' && handle !== null && 'close' in handle && typeof handle.close === 'function'
