import type { Clock } from '../../clock.ts'
import { type AwarenessText, writeAwarenessMessages } from '../../update/awareness.ts'
import type { FrameEncoder, Member } from '../room/member.ts'

/** A client's state that the members have not received yet. */
export interface StateChange {
  readonly state: Pick<AwarenessText, 'clock' | 'text'>
  /** The member that published it; null: the server did, and its client must receive it too. */
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
  /** Shortest time between two messages. */
  readonly windowMs: number
  /** Called when changes of these clients are sent. */
  readonly onBroadcast: (clientIds: readonly number[]) => void
}

/**
 * Fixed-window batching: sends changes to the members at the end of the tick, then at most once a window, and of each
 * client only its last state. Changes by a backend do not wait for the window, and waiting changes are sent with them.
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

  /** A broadcast at the end of the tick is not postponed again. */
  schedule(timing: BroadcastTiming): void {
    const planned = this.#planned
    if (this.#changed.size === 0 || planned?.timing === 'tick' || planned?.timing === timing) return
    planned?.cancel()
    const { clock, windowMs } = this.#options
    const sinceMs = clock.now() - this.#lastBroadcast
    // A clock that was set back does not extend the wait.
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

  /** @param onlyAuthor the member that published all of the message */
  #send(message: Uint8Array, onlyAuthor: Member | null): void {
    const frames = new Map<FrameEncoder, Uint8Array>()
    for (const member of this.#options.members) {
      const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
      frames.set(member.encoder, frame)
      member.deliverAwareness(frame, member === onlyAuthor)
    }
  }
}

/** Builds the text of the state. */
const toText = ([clientId, { state }]: readonly [number, StateChange]): AwarenessText => ({
  clientId,
  clock: state.clock,
  text: state.text,
})
