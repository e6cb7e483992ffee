import { type Close, close } from '../../model/close.ts'
import { KeyedCounter } from '../../quota/keyed-counter.ts'
import type { LimitName } from '../../quota/limits.ts'
import type { RateLimiter } from '../../quota/rate-limiter.ts'

/** Refused connections that are being told why, at once; beyond it they are cut off without a word. */
const rejectionsMax = 500

export interface AdmissionLimits {
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  /** 0 is no limit, as below. */
  readonly connectionsPerWorkspaceMax: number
  /** Those that have asked to be upgraded and have not been authenticated. */
  readonly unauthenticatedPerAddressMax: number
  /** New ones; null: no limit. */
  readonly connects: RateLimiter | null
}

/** Where a connection has been counted; null: not yet. Kept for as long as it, so no functions. */
export interface AdmissionTicket {
  address: string | null
  workspaceId: string | null
}

/** Takes a count back; calling it again changes nothing. */
type Release = () => void

/**
 * Counts connections, in all, by client address and by workspace, from the moment they ask to be upgraded. By
 * workspace and not by API key: a workspace makes as many keys as it likes, and would make itself room with them.
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

  /** Counts a new connection from `address`, whatever becomes of it; why it comes too soon, or null. */
  rateProblem(address: string): Close | null {
    const { connects } = this.#limits
    if (connects === null || connects.take(address) === 0) return null
    return full(
      'too many new connections from this address',
      'connectsPerAddressPerSecond',
      connects.perSecond,
    )
  }

  /** Why no connection from `address` is taken now; null when there is room. */
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

  /** Why no connection of a workspace is taken now; null when there is room. */
  workspaceProblem(workspaceId: string): Close | null {
    if (!this.#byWorkspace.isFull(workspaceId)) return null
    const { connectionsPerWorkspaceMax } = this.#limits
    return full(
      'too many connections of this workspace',
      'maxConnectionsPerWorkspace',
      connectionsPerWorkspaceMax,
    )
  }

  /** Counts a connection that will be refused politely; null when there are too many of them. */
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

  /** Counts a connection until it is known whose it is. */
  countUnauthenticated(address: string): Release {
    return this.#unauthenticated.enter(address)
  }

  /** Counts a connection of a workspace. */
  countWorkspace(ticket: AdmissionTicket, workspaceId: string): void {
    this.#byWorkspace.add(workspaceId)
    ticket.workspaceId = workspaceId
  }

  /** Takes back what has been counted of a connection, once. */
  release({ address, workspaceId }: AdmissionTicket): void {
    if (address !== null) {
      this.#total -= 1
      this.#byAddress.remove(address)
    }
    if (workspaceId !== null) this.#byWorkspace.remove(workspaceId)
  }
}

/** For the moment: there is room again when others leave. */
const full = (what: string, limit: LimitName, value: number): Close =>
  close('tryAgainLater', `${what}: ${limit} is ${value}`, limit)
