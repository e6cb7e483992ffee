import type { Clock } from '../../clock.ts'
import { type AwarenessText, writeAwarenessMessages } from '../../update/awareness.ts'
import type { FrameEncoder, Member } from '../room/member.ts'

/** What is different of a client. */
export interface StateChange {
  readonly state: Pick<AwarenessText, 'clock' | 'text'>
  /** The member that knows it already; null: nobody does, its author must see it too. */
  readonly knownTo: Member | null
  /** `some`: the others have been told of it a moment ago, under an earlier clock. */
  readonly to: 'all' | 'some'
}

/** When changes go out: at the end of the turn, or when the window is over. */
export type BroadcastTiming = 'turn' | 'window'

interface Flushing {
  readonly due: BroadcastTiming
  readonly cancel: () => void
}

interface AwarenessBroadcasterOptions {
  readonly members: ReadonlySet<Member>
  readonly some: () => readonly Member[]
  readonly clock: Clock
  /** Shortest time between two messages. */
  readonly windowMs: number
  /** Before changes go out. */
  readonly telling: (clientIds: readonly number[]) => void
  /** They have gone out. */
  readonly told: (states: readonly AwarenessText[]) => void
}

/**
 * Tells the members of a room what is different: at the end of the turn, then at most once a window. What a backend says
 * never waits for the window, and takes along what does.
 */
export class AwarenessBroadcaster {
  readonly #parts: AwarenessBroadcasterOptions
  readonly #changed = new Map<number, StateChange>()
  #lastFlush = 0
  #flushing: Flushing | null = null

  constructor(parts: AwarenessBroadcasterOptions) {
    this.#parts = parts
  }

  note(clientId: number, change: StateChange): void {
    const to = this.#changed.get(clientId)?.to === 'all' ? 'all' : change.to
    this.#changed.set(clientId, { ...change, to })
  }

  /** What is due at the end of the turn is not put off again: who asks all the time would never get it. */
  schedule(due: BroadcastTiming): void {
    if (this.#changed.size === 0 || this.#flushing?.due === 'turn' || this.#flushing?.due === due) return
    this.#flushing?.cancel()
    const { clock, windowMs } = this.#parts
    const sinceMs = clock.now() - this.#lastFlush
    // A clock that has been set back is no reason to wait longer.
    const wait = due === 'turn' || sinceMs >= windowMs ? 0 : windowMs - Math.max(0, sinceMs)
    this.#flushing = { due, cancel: clock.after(wait, () => this.#flush()) }
  }

  close(): void {
    this.#flushing?.cancel()
    this.#flushing = null
  }

  #flush(): void {
    this.#flushing = null
    this.#lastFlush = this.#parts.clock.now()
    const changed = [...this.#changed]
    this.#changed.clear()
    this.#parts.telling(changed.map(([clientId]) => clientId))
    const forAll = changed.filter(([, { to }]) => to === 'all')
    const only = forAll.length === 1 ? (forAll[0]?.[1].knownTo ?? null) : null
    const states = forAll.map(textOf)
    this.#send(this.#parts.members, states, only)
    if (forAll.length < changed.length)
      this.#send(this.#parts.some(), changed.filter(([, { to }]) => to === 'some').map(textOf), null)
    this.#parts.told(states)
  }

  /** @param only whose own state it is, and nothing else */
  #send(members: Iterable<Member>, states: readonly AwarenessText[], only: Member | null): void {
    for (const message of writeAwarenessMessages(states)) this.#sendMessage(members, message, only)
  }

  #sendMessage(members: Iterable<Member>, message: Uint8Array, only: Member | null): void {
    const frames = new Map<FrameEncoder, Uint8Array>()
    for (const member of members) {
      const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
      frames.set(member.encoder, frame)
      member.deliverAwareness(frame, member === only)
    }
  }
}

/** The text of what is shown is made now. */
const textOf = ([clientId, { state }]: readonly [number, StateChange]): AwarenessText => ({
  clientId,
  clock: state.clock,
  text: state.text,
})
