import type { Clock } from '../clock.ts'
import { type AwarenessEntry, type AwarenessText, writeAwareness } from '../update/awareness.ts'
import type { FrameEncoder, Member } from './member.ts'

interface Shown {
  clock: number
  /** JSON with the member's identity stamped in. */
  text: string
  member: Member
}

/** How a state that was taken away looks on the wire. */
const removedText = 'null'

/** Client ids of members that have left, whose clock is remembered; the oldest are forgotten first. */
const departedMax = 1_000
/** Of these, how many a client that catches up is told of. */
const departedShownMax = 200
/** How far a clock may run ahead at once: one that jumped near its end would silence its client. */
const clockJumpMax = 2 ** 20

interface Departed {
  /** Last clock shown. */
  readonly clock: number
  readonly userId: string
}

interface Change {
  readonly clock: number
  readonly text: string
  readonly member: Member
  /** Its author must see it too, because it bears a later clock than the author knows of. */
  readonly echo: boolean
}

/**
 * Who shows what in one room: the y-protocols awareness states of its members, at most one client id a member.
 * Changes go out at the end of the turn, then at most once a window: a cursor dragged at 100 Hz costs the others
 * 25 messages a second.
 */
export class AwarenessBoard {
  readonly #shown = new Map<number, Shown>()
  readonly #clientOf = new Map<Member, number>()
  readonly #ownerOf = new Map<number, Member>()
  readonly #changed = new Map<number, Change>()
  /** Clients that show nothing any more: others ignore a state whose clock isn't later, and nobody else may be them. */
  readonly #departed = new Map<number, Departed>()
  readonly #members: ReadonlySet<Member>
  readonly #clock: Clock
  readonly #windowMs: number
  #lastFlush = 0
  #cancelFlush: (() => void) | null = null

  constructor(members: ReadonlySet<Member>, clock: Clock, windowMs: number) {
    this.#members = members
    this.#clock = clock
    this.#windowMs = windowMs
  }

  /** Takes what `member` says. Entries about other clients are dropped: clients echo what they have heard. */
  receive(member: Member, entries: readonly AwarenessEntry[]): void {
    for (const entry of entries) if (this.#owns(member, entry)) this.#set(member, entry)
    if (this.#changed.size > 0) this.#schedule()
  }

  /** Removes what `member` showed, at once. */
  leave(member: Member): void {
    const client = this.#clientOf.get(member)
    this.#clientOf.delete(member)
    if (client === undefined || this.#ownerOf.get(client) !== member) return
    this.#ownerOf.delete(client)
    const shown = this.#shown.get(client)
    if (shown === undefined) return
    this.#remove(client, shown.clock + 1, member)
    this.#schedule()
  }

  /** One message with all states; null when nobody shows any. */
  all(): Uint8Array | null {
    if (this.#shown.size === 0) return null
    return writeAwareness(this.#states())
  }

  /** The same for somebody who has missed messages: also what is shown no more. */
  allAndDeparted(): Uint8Array | null {
    const departed = [...this.#departed].map(([clientId, { clock }]) => ({
      clientId,
      clock,
      text: removedText,
    }))
    const entries = [...this.#states(), ...departed.slice(-departedShownMax)]
    return entries.length === 0 ? null : writeAwareness(entries)
  }

  close(): void {
    this.#cancelFlush?.()
    this.#cancelFlush = null
  }

  #states(): AwarenessText[] {
    return [...this.#shown].map(([clientId, { clock, text }]) => ({ clientId, clock, text }))
  }

  /**
   * The first client id a member announces is its own for good. A known id passes over only to the same user: a
   * client that reconnects before its half-open socket was noticed.
   */
  #owns(member: Member, { clientId, clock, state }: AwarenessEntry): boolean {
    const own = this.#clientOf.get(member)
    if (own !== undefined) return own === clientId && clock <= this.#lastClock(clientId) + clockJumpMax
    if (state === null) return false
    const owner = this.#ownerOf.get(clientId)
    const userId = owner?.user.id ?? this.#departed.get(clientId)?.userId ?? member.user.id
    if (userId !== member.user.id) return false
    if (owner !== undefined) this.#clientOf.delete(owner)
    this.#clientOf.set(member, clientId)
    this.#ownerOf.set(clientId, member)
    return true
  }

  /** Without one, any: a client that has been editing for long has a clock of its own. */
  #lastClock(clientId: number): number {
    return this.#shown.get(clientId)?.clock ?? this.#departed.get(clientId)?.clock ?? Number.POSITIVE_INFINITY
  }

  #set(member: Member, entry: AwarenessEntry): void {
    const { clientId } = entry
    const known = this.#shown.get(clientId)
    if (known !== undefined && known.member === member && entry.clock < known.clock) return
    if (entry.state === null) return this.#remove(clientId, entry.clock, member)
    const departed = this.#departed.get(clientId)
    const echo = departed !== undefined && entry.clock <= departed.clock
    const clock = echo ? departed.clock + 1 : entry.clock
    this.#departed.delete(clientId)
    const text = stamped(entry.state, member)
    this.#shown.set(clientId, { clock, text, member })
    this.#changed.set(clientId, { clock, text, member, echo })
  }

  #remove(clientId: number, clock: number, member: Member): void {
    this.#shown.delete(clientId)
    this.#changed.set(clientId, { clock, text: removedText, member, echo: false })
    this.#departed.delete(clientId)
    this.#departed.set(clientId, { clock, userId: member.user.id })
    if (this.#departed.size <= departedMax) return
    for (const oldest of this.#departed.keys()) return void this.#departed.delete(oldest)
  }

  #schedule(): void {
    if (this.#cancelFlush !== null) return
    const wait = Math.max(0, this.#lastFlush + this.#windowMs - this.#clock.now())
    this.#cancelFlush = this.#clock.after(wait, () => this.#flush())
  }

  #flush(): void {
    this.#cancelFlush = null
    this.#lastFlush = this.#clock.now()
    const changed = [...this.#changed]
    this.#changed.clear()
    if (changed.length === 0) return
    const message = writeAwareness(changed.map(([clientId, { clock, text }]) => ({ clientId, clock, text })))
    const [first, second] = changed
    const only = second === undefined && first?.[1].echo === false ? first[1].member : undefined
    const frames = new Map<FrameEncoder, Uint8Array>()
    for (const member of this.#members) {
      const frame = frames.get(member.encoder) ?? member.encoder.awareness(message)
      frames.set(member.encoder, frame)
      member.deliverAwareness(frame, member === only)
    }
  }
}

/** Identity comes from the token, whatever the client says; colour and the like stay the client's. */
function stamped(state: Record<string, unknown>, member: Member): string {
  const claimed = Object.hasOwn(state, 'user') ? state.user : undefined
  const own = typeof claimed === 'object' && claimed !== null && !Array.isArray(claimed) ? claimed : {}
  return JSON.stringify({ ...state, user: { ...own, id: member.user.id, name: member.user.name } })
}
