import type { Socket } from 'node:net'
import { drained } from '../../core/forwarding/pass-bytes.ts'
import type { MemoryClaim } from '../../core/quota/memory-account.ts'
import type { Transfer } from '../../core/quota/slow-transfers.ts'
import { TakenBytes } from '../../core/quota/unread-bytes.ts'
import { memoryOwnerOf, type UnreadResponsesOptions } from './rate-limits.ts'
import type { ServedResponse } from './served-response.ts'

/**
 * Limits responses that are written completely, but that the operating system has not accepted yet. Responses
 * that it has accepted do not count.
 */
export function watchUnread(options: UnreadResponsesOptions, response: ServedResponse): void {
  // At this event, the whole response has been written to the connection.
  response.once('prefinish', () => {
    if ((response.socket?.writableLength ?? 0) > 0) countUnread(options, response, 0)
  })
}

/**
 * Counts a response of which the client has not read enough.
 * @param bytes bytes of the response in memory, including those that were read
 */
export function countUnread(options: UnreadResponsesOptions, response: ServedResponse, bytes: number): void {
  const { weftLocals, socket } = response
  if (weftLocals.unread instanceof UnreadResponse || socket === null) return
  const unread = new UnreadResponse(response, socket, options)
  weftLocals.unread = unread
  // The bytes of a cached page are shared by all of its readers.
  if (weftLocals.isCachedPage !== true) unread.count(Math.max(bytes, socket.writableLength))
}

/** Milliseconds for which a client that reads too slowly can still receive the reason. */
const reasonMs = 5_000

/**
 * Writes the parts of a response that has no end, one after the other. Counts each part that the operating system
 * has not accepted. Ends a client that does not read it in time.
 */
export class PartWriter implements Transfer {
  readonly isPaused = false
  readonly #response: ServedResponse
  readonly #options: UnreadResponsesOptions
  readonly #reason: () => string
  readonly #claim: MemoryClaim
  #taken: TakenBytes | null = null

  /** @param reason returns the last part for a client that does not read in time */
  constructor(response: ServedResponse, options: UnreadResponsesOptions, reason: () => string) {
    this.#response = response
    this.#options = options
    this.#reason = reason
    this.#claim = options.holder.open(memoryOwnerOf(response), () => response.destroy())
    response.once('close', () => {
      options.transfers.delete(this)
      this.#claim.release()
    })
  }

  get transferredBytes(): number {
    return this.#taken?.bytes ?? 0
  }

  /** Writes a part. Resolves when the client can accept more, or when the response is closed or ended. */
  async write(part: Uint8Array): Promise<void> {
    const { socket, destroyed, writableEnded } = this.#response
    if (socket === null || destroyed || writableEnded || this.#response.write(part)) return
    this.#taken = new TakenBytes(socket)
    this.#options.transfers.add(this)
    const accepted = drained(this.#response)
    this.#claim.set(part.length)
    await accepted
    this.#options.transfers.delete(this)
    this.#claim.release()
  }

  tooSlow(): void {
    const { workspaceId, address } = this.#claim.owner
    this.#options.transfers.delete(this)
    this.#options.tooSlow(workspaceId ?? address ?? '')
    this.#response.end(this.#reason())
    const timer = setTimeout(() => this.#response.destroy(), reasonMs).unref()
    this.#response.once('close', () => clearTimeout(timer))
  }
}

/**
 * A response that the operating system has not fully accepted. It is counted until the response is closed.
 */
class UnreadResponse implements Transfer {
  readonly isPaused = false
  readonly #options: UnreadResponsesOptions
  readonly #socket: Socket
  readonly #claim: MemoryClaim
  readonly #taken: TakenBytes

  constructor(response: ServedResponse, socket: Socket, options: UnreadResponsesOptions) {
    this.#options = options
    this.#socket = socket
    this.#taken = new TakenBytes(socket)
    this.#claim = options.holder.open(memoryOwnerOf(response), () => socket.destroy())
    options.transfers.add(this)
    response.once('close', () => {
      options.transfers.delete(this)
      this.#claim.release()
    })
  }

  get transferredBytes(): number {
    return this.#taken.bytes
  }

  count(bytes: number): void {
    this.#claim.set(bytes)
  }

  tooSlow(): void {
    const { workspaceId, address } = this.#claim.owner
    this.#options.tooSlow(workspaceId ?? address ?? '')
    this.#socket.destroy()
  }
}
