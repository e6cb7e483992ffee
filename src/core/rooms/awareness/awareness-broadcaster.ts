import type { Clock } from '../../base/clock.ts'
import { type AwarenessText, writeAwarenessMessages } from '../../update/awareness.ts'
import type { BroadcastTiming } from '../presence/virtual-users.ts'
import type { FrameEncoder, Member } from '../updates/member.ts'

/** A new state of a client that has not been sent to the members yet. */
interface StateChange {
  readonly state: Pick<AwarenessText, 'clock' | 'text'>
  /**
   * The member that published the state. Null if the server set the state: then the client itself must also
   * receive it.
   */
  readonly author: Member | null
}

interface PlannedBroadcast {
  readonly timing: BroadcastTiming
  readonly cancel: () => void
}

/**
 * Sends state changes to the members. The first broadcast is sent at the end of the tick, and later ones at
 * most once per window. Each broadcast contains only the last state of each client. A change by a backend
 * does not wait for the end of the window; all waiting changes are then sent with it.
 */
export class AwarenessBroadcaster {
  readonly #members: ReadonlySet<Member>
  readonly #clock: Clock
  /** Length of the broadcast window: minimum milliseconds between two broadcasts. */
  readonly #windowMs: number
  /** Called before each broadcast. It may add changes. */
  readonly #beforeBroadcast: () => void
  readonly #changed = new Map<number, StateChange>()
  #lastBroadcast = 0
  #planned: PlannedBroadcast | null = null

  constructor(members: ReadonlySet<Member>, clock: Clock, windowMs: number, beforeBroadcast: () => void) {
    this.#members = members
    this.#clock = clock
    this.#windowMs = windowMs
    this.#beforeBroadcast = beforeBroadcast
  }

  add(clientId: number, change: StateChange): void {
    this.#changed.set(clientId, change)
  }

  /** Returns whether the next broadcast sends a change of the client. */
  sendsNext(clientId: number): boolean {
    return this.#changed.has(clientId)
  }

  /** Schedules a broadcast. A broadcast that is planned for the end of the tick is not postponed. */
  schedule(timing: BroadcastTiming): void {
    const planned = this.#planned
    if (this.#changed.size === 0 || planned?.timing === 'tick' || planned?.timing === timing) return
    planned?.cancel()

    const sinceMs = this.#clock.now() - this.#lastBroadcast
    // `sinceMs` is negative if the system clock was set back; the wait must not get longer then.
    const waitMs = timing === 'tick' || sinceMs >= this.#windowMs ? 0 : this.#windowMs - Math.max(0, sinceMs)
    this.#planned = { timing, cancel: this.#clock.after(waitMs, () => this.#broadcast()) }
  }

  close(): void {
    this.#planned?.cancel()
    this.#planned = null
  }

  #broadcast(): void {
    this.#planned = null
    this.#lastBroadcast = this.#clock.now()
    this.#beforeBroadcast()
    const changed = [...this.#changed]
    this.#changed.clear()
    const onlyAuthor = changed.length === 1 ? (changed[0]?.[1].author ?? null) : null
    for (const message of writeAwarenessMessages(changed.map(toText))) this.#send(message, onlyAuthor)
  }

  /**
   * @param onlyAuthor the member that published all states of the message; null if several members or the
   * server published them
   */
  #send(message: Uint8Array, onlyAuthor: Member | null): void {
    const frames = new Map<FrameEncoder, Uint8Array>()
    for (const member of this.#members) {
      const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
      frames.set(member.encoder, frame)
      member.deliverAwareness(frame, member === onlyAuthor)
    }
  }
}

/** Returns the form of a state change that `writeAwarenessMessages` accepts. */
const toText = ([clientId, { state }]: readonly [number, StateChange]): AwarenessText => ({
  clientId,
  clock: state.clock,
  text: state.text,
})
