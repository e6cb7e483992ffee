import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { forwardedRequests } from '../../access/forwarded-requests.ts'
import { loopbackViolation } from '../../access/loopback-guard.ts'
import { type Close, close } from '../../model/close.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'
import type { LimitName } from '../../quota/limits.ts'
import type { RateLimiter } from '../../quota/rate-limiter.ts'
import type { SyncRequest } from './sync-request.ts'

/**
 * Maximum number of rejected connections that wait for the close frames of their clients. Further rejected
 * connections are terminated without a reason.
 */
const rejectionsMax = 500

export interface AdmissionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  /** Maximum number of connections of one workspace; 0: no limit. */
  readonly connectionsPerWorkspaceMax: number
  /**
   * Maximum number of connections from one address that have requested an upgrade and are not authenticated
   * yet; 0: no limit.
   */
  readonly unauthenticatedPerAddressMax: number
  /** Limits the rate of new connections; null: no limit. */
  readonly connects: RateLimiter | null
}

/**
 * The keys under which a connection is counted: its client address and its workspace. Null: the connection is
 * not counted there yet. A ticket exists as long as its connection, so it has keys instead of release
 * functions, to save memory.
 */
export interface AdmissionTicket {
  address: string | null
  workspaceId: string | null
}

/**
 * Stands for the addresses of clients whose requests other nodes have forwarded. Those nodes have counted the addresses.
 */
const countedElsewhere = ''

/** Returns the address under which a connection is counted. */
export const countedAddress = (request: IncomingMessage, address: string): string =>
  forwardedRequests.has(request) ? countedElsewhere : address

/** Removes a connection from a count. */
type Release = () => void

/**
 * The checks of a new client before its token is read, for websockets and sessions over HTTP.
 * Counts connections in total, by client address and by workspace, from the upgrade request on. The limits
 * are per workspace instead of per API key, because a workspace can create any number of keys.
 */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #loopbackOnly: boolean
  readonly #byAddress: KeyedCounter
  readonly #byWorkspace: KeyedCounter
  readonly #unauthenticated: KeyedCounter
  #total = 0
  #rejections = 0
  #draining: Close | null = null

  /** @param loopbackOnly true if only loopback hosts and origins may connect */
  constructor(limits: AdmissionLimits, loopbackOnly: boolean) {
    this.#limits = limits
    this.#loopbackOnly = loopbackOnly
    this.#byAddress = new KeyedCounter(limits.connectionsPerAddressMax)
    this.#byWorkspace = new KeyedCounter(limits.connectionsPerWorkspaceMax)
    this.#unauthenticated = new KeyedCounter(limits.unauthenticatedPerAddressMax)
  }

  /**
   * Counts a new connection from `address` for the rate limit, even if the connection is rejected later.
   * Returns the close reason if the rate is exceeded; otherwise null.
   */
  takeConnect(address: string): Close | null {
    const { connects } = this.#limits
    if (address === countedElsewhere || connects === null || connects.take(address) === 0) return null
    const limit = 'connectsPerAddress'
    const problem = `too many new connections from this address: ${limit} is ${connects.perSecond} per second`
    return close('tryAgainLater', problem, limit)
  }

  /** The reason with which new clients are rejected; null if they are accepted. */
  get draining(): Close | null {
    return this.#draining
  }

  /** Rejects new clients with this reason from now on. */
  drain(reason: Close): void {
    this.#draining = reason
  }

  /**
   * Counts a new client. Returns the reason if it must be rejected; otherwise null.
   * @param address as `countedAddress` returns it, here and in the other methods
   */
  problemOf(headers: IncomingHttpHeaders, address: string, requested: SyncRequest): Close | null {
    if (this.#draining !== null) return this.#draining
    const tooSoon = this.takeConnect(address)
    if (tooSoon !== null) return tooSoon
    if (requested.kind === 'invalid') return close('badRequest', requested.reason)
    const problem = this.#loopbackOnly ? loopbackViolation(headers) : null
    if (problem !== null) return close('unauthenticated', problem)
    return this.#connectionProblem(address)
  }

  /** Returns the close reason if a connection from `address` would exceed a limit; otherwise null. */
  #connectionProblem(address: string): Close | null {
    const { connectionsMax, connectionsPerAddressMax, unauthenticatedPerAddressMax } = this.#limits
    if (this.#total >= connectionsMax) return full('too many connections', 'maxConnections', connectionsMax)
    if (address === countedElsewhere) return null
    if (this.#byAddress.isFull(address)) {
      return full(
        'too many connections from this address',
        'maxConnectionsPerAddress',
        connectionsPerAddressMax,
      )
    }
    if (this.#unauthenticated.isFull(address)) {
      return full(
        'too many connections from this address at once',
        'maxUnauthenticatedPerAddress',
        unauthenticatedPerAddressMax,
      )
    }
    return null
  }

  /**
   * Returns the close reason if another connection of the workspace would exceed the limit; otherwise null.
   */
  workspaceProblem(workspaceId: string): Close | null {
    if (!this.#byWorkspace.isFull(workspaceId)) return null
    const { connectionsPerWorkspaceMax } = this.#limits
    return full(
      'too many connections of this workspace',
      'maxConnectionsPerWorkspace',
      connectionsPerWorkspaceMax,
    )
  }

  /**
   * Counts a rejected connection. Returns a function that removes the connection from the count. Returns null
   * if there are too many rejected connections.
   */
  countRejected(): Release | null {
    if (this.#rejections >= rejectionsMax) return null
    this.#rejections += 1
    return () => {
      this.#rejections -= 1
    }
  }

  /** Counts a connection in total and by its address. */
  countConnection(ticket: AdmissionTicket, address: string): void {
    this.#total += 1
    this.#byAddress.add(address)
    ticket.address = address
  }

  /**
   * Counts an unauthenticated connection. Returns a function that removes the connection from the count; call
   * it when the client is authenticated. Further calls of that function do nothing.
   */
  countUnauthenticated(address: string): Release {
    return this.#unauthenticated.enter(address)
  }

  countWorkspace(ticket: AdmissionTicket, workspaceId: string): void {
    this.#byWorkspace.add(workspaceId)
    ticket.workspaceId = workspaceId
  }

  /** Removes a connection from all counts in its ticket. Call it once for each connection. */
  release({ address, workspaceId }: AdmissionTicket): void {
    if (address !== null) {
      this.#total -= 1
      this.#byAddress.remove(address)
    }
    if (workspaceId !== null) this.#byWorkspace.remove(workspaceId)
  }
}

/**
 * Returns the close reason for an exceeded limit. The close is transient, because there will be space when
 * other connections are closed.
 */
const full = (what: string, limit: LimitName, value: number): Close =>
  close('tryAgainLater', `${what}: ${limit} is ${value}`, limit)
