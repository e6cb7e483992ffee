import type { Clock } from '../base/clock.ts'
import { type CurrentTrace, currentTrace } from '../base/current-trace.ts'
import type { TraceContext } from '../base/trace-context.ts'
import { type DocumentScope, documentPrefix } from '../model/address.ts'
import { keyName } from '../store/key-encoding.ts'
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

type VisitEventType = Extract<EventType, `presence.${string}`>

/** A user has joined or left a document. */
export interface VisitChange {
  readonly document: DocumentScope
  readonly visitor: Visitor
  /** Time of the join or leave, in epoch milliseconds. */
  readonly at: number
  /** Trace of the call that caused the join or leave; null if there was none. */
  readonly trace: TraceContext | null
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
  readonly #clock: Clock
  /** Time in ms for which a user may be away. If the user returns within this time, the visit continues. */
  readonly #awayMs: number
  /** Returns whether a webhook wants the events of visits. */
  readonly #wants: (document: DocumentScope) => boolean
  /** Sends the event of a join or leave. */
  readonly #tell: (event: OutboundEvent, change: VisitChange) => void
  /** Users who have left and may return, in the order in which their visits end. */
  readonly #away = new Map<string, VisitChange>()
  #cancelTimer: (() => void) | null = null
  #state: 'open' | 'ended' = 'open'

  constructor(
    clock: Clock,
    awayMs: number,
    wants: (document: DocumentScope) => boolean,
    tell: (event: OutboundEvent, change: VisitChange) => void,
  ) {
    this.#clock = clock
    this.#awayMs = awayMs
    this.#wants = wants
    this.#tell = tell
  }

  joined(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    if (this.#away.size > 0 && this.#away.delete(nameOf(document, visitor))) return
    this.#report('presence.join', this.#changeOf(document, visitor, currentTrace()))
  }

  left(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    if (!this.#wants(document)) return
    // The server may close a websocket during a call of another user, for example to free memory.
    const trace = visitor.source === 'rest' ? currentTrace() : undefined
    this.#away.set(nameOf(document, visitor), this.#changeOf(document, visitor, trace))
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
    for (const { at } of this.#away.values()) {
      this.#cancelTimer = this.#clock.after(Math.max(0, at + this.#awayMs - this.#clock.now()), () =>
        this.#tick(),
      )
      return
    }
  }

  #tick(): void {
    this.#cancelTimer = null
    const now = this.#clock.now()
    for (const { at } of this.#away.values()) {
      if (at + this.#awayMs > now) break
      this.#endFirst()
    }
    this.#schedule()
  }

  #endFirst(): void {
    for (const [name, away] of this.#away) {
      this.#away.delete(name)
      return this.#report('presence.leave', away)
    }
  }

  #changeOf(document: DocumentScope, visitor: Visitor, trace: CurrentTrace | undefined): VisitChange {
    return { document, visitor, at: this.#clock.now(), trace: trace?.context ?? null }
  }

  #report(type: VisitEventType, change: VisitChange): void {
    const { document, visitor } = change
    if (!this.#wants(document)) return
    const { user, kind, source } = visitor
    this.#tell(
      { type, documentId: document.documentId, actionUser: user, data: { user, kind, source } },
      change,
    )
  }
}

const nameOf = (document: DocumentScope, { user }: Visitor): string =>
  keyName([...documentPrefix(document, document.documentId), user.userId])
