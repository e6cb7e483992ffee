import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Caller, isInTenant } from '../../core/access/credentials/authenticator.ts'
import { isJsonObject } from '../../core/base/json.ts'
import { memoized } from '../../core/base/maps.ts'
import type { UsageCounts, UsageSource } from '../../core/directory/usage-counts.ts'

/** The calls in progress on one connection. */
interface ConnectionCalls {
  count: number
  /** Number of sent bytes that are already counted, or that belong to no call. */
  countedBytes: number
}

/**
 * Calls by connection. With HTTP pipelining, a connection has several, and their responses follow each other.
 * Each sent byte then counts for one of them.
 */
const connections = new WeakMap<Socket, ConnectionCalls>()

/**
 * Counts one call when it is accepted, and the bytes of its response when the response ends. Both count for
 * the workspace, and for an organization if the call names one and succeeds.
 */
export class CallUsage {
  readonly #source: UsageSource
  #counts: UsageCounts

  /** @param socket connection of the request */
  constructor(source: UsageSource, workspaceId: string, socket: Socket, response: ServerResponse) {
    this.#source = source
    this.#counts = source.holdRest(workspaceId)
    this.#counts.calls += 1
    const calls = memoized(connections, socket, () => ({ count: 0, countedBytes: sentBytes(socket) }))
    calls.count += 1
    response.once('close', () => {
      const sent = sentBytes(socket)
      this.#counts.bytesSent += sent - calls.countedBytes
      calls.countedBytes = sent
      calls.count -= 1
      if (calls.count === 0) connections.delete(socket)
      this.#counts.release()
    })
  }

  /** Moves the call to the counts of its organization. Call before the response is sent. */
  succeeded(caller: Caller, data: unknown): void {
    if (!isInTenant(caller) || !isJsonObject(data) || typeof data.organizationId !== 'string') return
    const counts = this.#source.hold({ ...caller.tenant, organizationId: data.organizationId })
    this.#counts.calls -= 1
    counts.calls += 1
    this.#counts.release()
    this.#counts = counts
  }
}

/** Returns the bytes that were written to a connection, with those that wait in this process. */
const sentBytes = ({ bytesWritten }: Socket): number => bytesWritten ?? 0
