import { type Close, close } from '../../model/close.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'
import type { LimitName } from '../../quota/limits.ts'
import type { RateLimiter } from '../../quota/rate-limiter.ts'

/**
 * Maximum number of rejected connections that wait for the close frame of their client. Further connections
 * are terminated without a reason.
 */
const rejectionsMax = 500

export interface AdmissionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  /** For this and the following limits, 0 means no limit. */
  readonly connectionsPerWorkspaceMax: number
  /** Maximum number of connections that have requested an upgrade and are not authenticated. */
  readonly unauthenticatedPerAddressMax: number
  /** Limits the rate of new connections; null: no limit. */
  readonly connects: RateLimiter | null
}

/**
 * The counters in which a connection is included; null: it is not included yet. A ticket has no functions, to
 * save memory: it exists as long as the connection.
 */
export interface AdmissionTicket {
  address: string | null
  workspaceId: string | null
}

/** Removes a connection from a count. Further calls do nothing. */
type Release = () => void

/**
 * Counts connections in total, by client address and by workspace, starting with the upgrade request.
 * Connections are counted by workspace and not by API key, because a workspace can create any number of keys.
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
   * Counts a new connection from `address`, even if it is rejected later. Returns the close reason if the
   * rate is exceeded; otherwise null.
   */
  takeConnect(address: string): Close | null {
    const { connects } = this.#limits
    if (connects === null || connects.take(address) === 0) return null
    const limit = 'connectsPerAddress'
    const problem = `too many new connections from this address: ${limit} is ${connects.perSecond} per second`
    return close('tryAgainLater', problem, limit)
  }

  /** Returns the close reason if a connection from `address` would exceed a limit; otherwise null. */
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

  /**
   * Returns the close reason if another connection of the workspace would exceed its limit; otherwise null.
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
   * Counts a rejected connection. The returned function ends the count. Returns null if there are too many
   * rejected connections.
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

  /** Counts a connection until its client is authenticated. */
  countUnauthenticated(address: string): Release {
    return this.#unauthenticated.enter(address)
  }

  /** Counts a connection by its workspace. */
  countWorkspace(ticket: AdmissionTicket, workspaceId: string): void {
    this.#byWorkspace.add(workspaceId)
    ticket.workspaceId = workspaceId
  }

  /** Removes a connection from all its counts. Call it once. */
  release({ address, workspaceId }: AdmissionTicket): void {
    if (address !== null) {
      this.#total -= 1
      this.#byAddress.remove(address)
    }
    if (workspaceId !== null) this.#byWorkspace.remove(workspaceId)
  }
}

/**
 * Returns the close reason for an exceeded limit. It is transient, because other connections will be closed.
 */
const full = (what: string, limit: LimitName, value: number): Close =>
  close('tryAgainLater', `${what}: ${limit} is ${value}`, limit)
