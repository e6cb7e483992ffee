import type { Clock } from '../base/clock.ts'
import { type CurrentTrace, currentTrace } from '../base/current-trace.ts'
import type { TraceContext } from '../base/trace-context.ts'
import { type DocumentScope, documentPrefix } from '../model/address.ts'
import { keyName } from '../store/key-encoding.ts'
import type { ActionUser } from './activity.ts'
import { DebounceWindows } from './debounce-windows.ts'
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
 * not returned for `awayMs`. A short stay is a visit as well. This class stores only the users who are away.
 */
export class VisitTracker implements VisitListener {
  readonly #clock: Clock
  /** Returns whether a webhook wants the events of visits. */
  readonly #wants: (document: DocumentScope) => boolean
  /** Sends the event of a join or leave. */
  readonly #tell: (event: OutboundEvent, change: VisitChange) => void
  /** Users who have left and may return. */
  readonly #away: DebounceWindows<VisitChange>
  #state: 'open' | 'ended' = 'open'

  /** @param awayMs time in ms for which a user may be away; a user who returns within this time continues the visit */
  constructor(
    clock: Clock,
    awayMs: number,
    wants: (document: DocumentScope) => boolean,
    tell: (event: OutboundEvent, change: VisitChange) => void,
  ) {
    this.#clock = clock
    this.#wants = wants
    this.#tell = tell
    this.#away = new DebounceWindows(clock, awayMs, (change) => this.#report('presence.leave', change), {
      endAt: (now) => now + awayMs,
      max: awayUsersMax,
    })
  }

  joined(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    if (this.#away.size > 0 && this.#away.forget(nameOf(document, visitor))) return
    this.#report('presence.join', this.#changeOf(document, visitor, currentTrace()))
  }

  left(document: DocumentScope, visitor: Visitor): void {
    if (this.#state === 'ended') return
    if (!this.#wants(document)) return
    // The server may close a websocket during a call of another user, for example to free memory.
    const trace = visitor.source === 'rest' ? currentTrace() : undefined
    const name = nameOf(document, visitor)
    this.#away.forget(name)
    this.#away.begin(name, this.#changeOf(document, visitor, trace))
  }

  /**
   * Ends the visits of all users who have left. Later leaves are ignored, because the process ends and the
   * users reconnect to another process.
   */
  end(): void {
    this.#state = 'ended'
    this.#away.end()
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
