import { type Close, close } from '../../model/close.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'
import type { LimitName } from '../../quota/limits.ts'
import type { RateLimiter } from '../../quota/rate-limiter.ts'

/**
 * Maximum number of rejected connections that wait for their close frame. Further ones are terminated without a
 * reason.
 */
const rejectionsMax = 500

export interface AdmissionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  /** 0: no limit, here and below. */
  readonly connectionsPerWorkspaceMax: number
  /** Connections that have requested an upgrade and are not authenticated. */
  readonly unauthenticatedPerAddressMax: number
  /** Rate of new connections; null: no limit. */
  readonly connects: RateLimiter | null
}

/**
 * The counters that include a connection; null: not counted yet. It lives as long as the connection, so it has no
 * functions.
 */
export interface AdmissionTicket {
  address: string | null
  workspaceId: string | null
}

/** Ends a count. Further calls do nothing. */
type Release = () => void

/**
 * Counts connections: in total, by client address and by workspace, from their upgrade request on. The count is by
 * workspace and not by API key, because a workspace can create any number of keys.
 */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #byAddress: KeyedCounter
  readonly #byWorkspace: KeyedCounter
  readonly #unauthenticated: KeyedCounter
  #total = 0
  #rejections = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
    this.#byAddress = new KeyedCounter(limits.connectionsPerAddressMax)
    this.#byWorkspace = new KeyedCounter(limits.connectionsPerWorkspaceMax)
    this.#unauthenticated = new KeyedCounter(limits.unauthenticatedPerAddressMax)
  }

  /**
   * Counts a new connection from `address`, also if it is rejected later. Returns the reason if the rate is
   * exceeded, or null.
   */
  takeConnect(address: string): Close | null {
    const { connects } = this.#limits
    if (connects === null || connects.take(address) === 0) return null
    return full(
      'too many new connections from this address',
      'connectsPerAddressPerSecond',
      connects.perSecond,
    )
  }

  /** Returns the limit that a connection from `address` would exceed; null: none. */
  connectionProblem(address: string): Close | null {
    const { connectionsMax, connectionsPerAddressMax, unauthenticatedPerAddressMax } = this.#limits
    if (this.#total >= connectionsMax) return full('too many connections', 'maxConnections', connectionsMax)
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

  /** Returns the limit that a connection of a workspace would exceed; null: none. */
  workspaceProblem(workspaceId: string): Close | null {
    if (!this.#byWorkspace.isFull(workspaceId)) return null
    const { connectionsPerWorkspaceMax } = this.#limits
    return full(
      'too many connections of this workspace',
      'maxConnectionsPerWorkspace',
      connectionsPerWorkspaceMax,
    )
  }

  /** Counts a rejected connection until it closes; null: there are too many. */
  countRejected(): Release | null {
    if (this.#rejections >= rejectionsMax) return null
    this.#rejections += 1
    return () => {
      this.#rejections -= 1
    }
  }

  /** Counts a connection. */
  countConnection(ticket: AdmissionTicket, address: string): void {
    this.#total += 1
    this.#byAddress.add(address)
    ticket.address = address
  }

  /** Counts a connection until its client is authenticated. */
  countUnauthenticated(address: string): Release {
    return this.#unauthenticated.enter(address)
  }

  /** Counts a connection of a workspace. */
  countWorkspace(ticket: AdmissionTicket, workspaceId: string): void {
    this.#byWorkspace.add(workspaceId)
    ticket.workspaceId = workspaceId
  }

  /** Ends the counts of a connection. Call it once. */
  release({ address, workspaceId }: AdmissionTicket): void {
    if (address !== null) {
      this.#total -= 1
      this.#byAddress.remove(address)
    }
    if (workspaceId !== null) this.#byWorkspace.remove(workspaceId)
  }
}

/** The rejection is transient: other connections will close. */
const full = (what: string, limit: LimitName, value: number): Close =>
  close('tryAgainLater', `${what}: ${limit} is ${value}`, limit)
