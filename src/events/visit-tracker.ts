import type { Clock } from '../clock.ts'
import { keyName } from '../engine/key-encoding.ts'
import { type DocumentScope, documentPrefix } from '../model/address.ts'
import type { ActionUser } from './activity.ts'
import type { EventType, OutboundEvent } from './outbound-event.ts'

/** A user on a document. */
export interface Visitor {
  readonly user: ActionUser
  /** `rest`: only a backend reports the user as present. */
  readonly source: 'socket' | 'rest'
}

/** Receives the users who join and leave documents. */
export interface VisitListener {
  /** Called when a user joins a document. */
  joined(document: DocumentScope, visitor: Visitor): void
  /** Called when a user leaves a document. */
  left(document: DocumentScope, visitor: Visitor): void
}

/** The events of a visit. */
export type VisitEventType = Extract<EventType, `presence.${string}`>

export interface VisitsOptions {
  readonly clock: Clock
  /** A user who returns within this time has not left, in ms. */
  readonly awayMs: number
  /** Returns whether a webhook wants the events of visits. */
  readonly wants: (document: DocumentScope) => boolean
  /** @param at time of the join or leave: epoch milliseconds */
  readonly tell: (document: DocumentScope, event: OutboundEvent, visitor: Visitor, at: number) => void
}

interface Away {
  readonly document: DocumentScope
  readonly visitor: Visitor
  /** Epoch milliseconds of the end of the visit, unless its user returns in time. */
  readonly wentAt: number
}

/** Maximum number of users whose return is awaited. Beyond it, the earliest visits end early. */
export const awayUsersMax = 100_000

/**
 * Converts joins and leaves of sessions to visits. A visit begins at once, and ends when its user has not
 * returned for some time. A short stay is also a visit. Only users who left a moment ago are kept here, in
 * one queue with one timer.
 */
export class VisitTracker implements VisitListener {
  readonly #options: VisitsOptions
  /** In the order of their ends. */
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
   * Ends the visits of users who have left. Later leaves are ignored: the process ends, and users return to
   * the next one.
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
    const { user, source } = visitor
    const event = { type, documentId: document.documentId, actionUser: user, data: { user, source } }
    tell(document, event, visitor, at)
  }
}

const nameOf = (document: DocumentScope, { user }: Visitor): string =>
  keyName([...documentPrefix(document, document.documentId), user.userId])
