import type { Clock } from '../../clock.ts'
import { type AwarenessText, writeAwarenessMessages } from '../../update/awareness.ts'
import type { FrameEncoder, Member } from '../room/member.ts'

/** A state of a client that has not been sent to the members yet. */
export interface StateChange {
  readonly state: Pick<AwarenessText, 'clock' | 'text'>
  /**
   * The member that published the state; null if the server published it, so that the client itself must also
   * receive it.
   */
  readonly author: Member | null
}

/** When changes are sent: at the end of the tick, or when the broadcast window ends. */
export type BroadcastTiming = 'tick' | 'window'

interface PlannedBroadcast {
  readonly timing: BroadcastTiming
  readonly cancel: () => void
}

interface AwarenessBroadcasterOptions {
  readonly members: ReadonlySet<Member>
  readonly clock: Clock
  /** Minimum milliseconds between two messages. */
  readonly windowMs: number
  /** Called with the clients whose changes are sent. */
  readonly onBroadcast: (clientIds: readonly number[]) => void
}

/**
 * Sends state changes to the members: first at the end of the tick, then at most once per window. Each
 * broadcast contains only the last state of each client. Changes by a backend do not wait for the end of the
 * window; waiting changes are then sent with them.
 */
export class AwarenessBroadcaster {
  readonly #options: AwarenessBroadcasterOptions
  readonly #changed = new Map<number, StateChange>()
  #lastBroadcast = 0
  #planned: PlannedBroadcast | null = null

  constructor(options: AwarenessBroadcasterOptions) {
    this.#options = options
  }

  add(clientId: number, change: StateChange): void {
    this.#changed.set(clientId, change)
  }

  /** Schedules a broadcast. A broadcast that is planned for the end of the tick is not postponed. */
  schedule(timing: BroadcastTiming): void {
    const planned = this.#planned
    if (this.#changed.size === 0 || planned?.timing === 'tick' || planned?.timing === timing) return
    planned?.cancel()
    const { clock, windowMs } = this.#options
    const sinceMs = clock.now() - this.#lastBroadcast
    // If the system clock was set back, the wait does not get longer.
    const waitMs = timing === 'tick' || sinceMs >= windowMs ? 0 : windowMs - Math.max(0, sinceMs)
    this.#planned = { timing, cancel: clock.after(waitMs, () => this.#broadcast()) }
  }

  close(): void {
    this.#planned?.cancel()
    this.#planned = null
  }

  #broadcast(): void {
    this.#planned = null
    this.#lastBroadcast = this.#options.clock.now()
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#options.onBroadcast(changed.map(([clientId]) => clientId))
    const onlyAuthor = changed.length === 1 ? (changed[0]?.[1].author ?? null) : null
    for (const message of writeAwarenessMessages(changed.map(toText))) this.#send(message, onlyAuthor)
  }

  /** @param onlyAuthor the member that published all states of the message; null if there are several */
  #send(message: Uint8Array, onlyAuthor: Member | null): void {
    const frames = new Map<FrameEncoder, Uint8Array>()
    for (const member of this.#options.members) {
      const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
      frames.set(member.encoder, frame)
      member.deliverAwareness(frame, member === onlyAuthor)
    }
  }
}

/** Returns the state in the form in which it is written. */
const toText = ([clientId, { state }]: readonly [number, StateChange]): AwarenessText => ({
  clientId,
  clock: state.clock,
  text: state.text,
})
