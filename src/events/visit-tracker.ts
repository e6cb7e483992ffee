import type { Clock } from '../clock.ts'
import { keyName } from '../engine/key-encoding.ts'
import { type DocumentScope, documentPrefix } from '../model/address.ts'
import type { ActionUser } from './activity.ts'
import type { EventType, OutboundEvent } from './outbound-event.ts'

/** A user on a document. */
export interface Visitor {
  readonly user: ActionUser
  /** `agent`: the user is a program. */
  readonly kind: 'user' | 'agent'
  /**
   * How the user is present: with a websocket (`socket`), or only because a backend has added the user by
   * REST (`rest`).
   */
  readonly source: 'socket' | 'rest'
}

/** Receives a call when a user joins or leaves a document. */
export interface VisitListener {
  /** Called when a user joins a document. */
  joined(document: DocumentScope, visitor: Visitor): void
  /** Called when a user leaves a document. */
  left(document: DocumentScope, visitor: Visitor): void
}

/** Types of the events of a visit. */
export type VisitEventType = Extract<EventType, `presence.${string}`>

export interface VisitsOptions {
  readonly clock: Clock
  /** Time in ms for which a user may be away. If the user returns within this time, the visit continues. */
  readonly awayMs: number
  /** Returns whether a webhook wants the events of visits. */
  readonly wants: (document: DocumentScope) => boolean
  /**
   * Sends an event.
   * @param at time of the join or leave, in epoch milliseconds
   */
  readonly tell: (document: DocumentScope, event: OutboundEvent, visitor: Visitor, at: number) => void
}

interface Away {
  readonly document: DocumentScope
  readonly visitor: Visitor
  /**
   * Time at which the user left, in epoch milliseconds. The visit ends at this time if the user does not
   * return.
   */
  readonly wentAt: number
}

/**
 * Maximum number of users who have left and may still return. If this number is exceeded, the visit of the
 * user who left first ends immediately.
 */
export const awayUsersMax = 100_000

/**
 * Converts the joins and leaves of sessions to visits. A visit begins immediately, and ends when its user has
 * not returned for `awayMs`. A short stay is a visit as well. This class stores only the users who are away,
 * in one queue with one timer.
 */
export class VisitTracker implements VisitListener {
  readonly #options: VisitsOptions
  /** Users who have left, in the order in which their visits end. */
  readonly #away = new Map<string, Away>()
  #cancelTimer: (() => void) | null = null
  #state: 'open' | 'ended' = 'open'

  constructor(options: VisitsOptions) {
    this.#options = options
  }

  joined(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    if (this.#away.size > 0 && this.#away.delete(nameOf(document, visitor))) return
    this.#tell('presence.join', document, visitor, this.#options.clock.now())
  }

  left(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    const { clock, wants } = this.#options
    if (!wants(document)) return
    this.#away.set(nameOf(document, visitor), { document, visitor, wentAt: clock.now() })
    if (this.#away.size > awayUsersMax) this.#endFirst()
    this.#schedule()
  }

  /**
   * Ends the visits of all users who have left. Later leaves are ignored, because the process ends and the
   * users reconnect to another process.
   */
  end(): void {
    this.#state = 'ended'
    this.#cancelTimer?.()
    while (this.#away.size > 0) this.#endFirst()
  }

  #schedule(): void {
    if (this.#cancelTimer !== null) return
    const { clock, awayMs } = this.#options
    for (const { wentAt } of this.#away.values()) {
      this.#cancelTimer = clock.after(Math.max(0, wentAt + awayMs - clock.now()), () => this.#tick())
      return
    }
  }

  #tick(): void {
    this.#cancelTimer = null
    const { clock, awayMs } = this.#options
    const now = clock.now()
    for (const { wentAt } of this.#away.values()) {
      if (wentAt + awayMs > now) break
      this.#endFirst()
    }
    this.#schedule()
  }

  #endFirst(): void {
    for (const [name, { document, visitor, wentAt }] of this.#away) {
      this.#away.delete(name)
      return this.#tell('presence.leave', document, visitor, wentAt)
    }
  }

  #tell(type: VisitEventType, document: DocumentScope, visitor: Visitor, at: number): void {
    const { wants, tell } = this.#options
    if (!wants(document)) return
    const { user, kind, source } = visitor
    const event = { type, documentId: document.documentId, actionUser: user, data: { user, kind, source } }
    tell(document, event, visitor, at)
  }
}

const nameOf = (document: DocumentScope, { user }: Visitor): string =>
  keyName([...documentPrefix(document, document.documentId), user.userId])
