import type { AwarenessEntry } from '../update/awareness.ts'
import type { Member } from './member.ts'

/** States that the server has made up and a client may send back; of more, the oldest are taken for the client's own. */
const madeMax = 32

/**
 * What one client says of itself. Where the server adds something it gives the state a later clock than the client
 * has, so that everybody takes it over, the client too, which then sends it back: that says nothing new.
 */
export class Said {
  readonly member: Member
  clock: number
  state: Readonly<Record<string, unknown>>
  /** By their clocks, the states that the client has not chosen itself. */
  readonly #made = new Map<number, string>()

  constructor(member: Member, clock: number, state: Said['state']) {
    this.member = member
    this.clock = clock
    this.state = state
  }

  /** Takes what the client says next; its clock must not be earlier than before. False when it is an answer of ours. */
  take(clock: number, state: Said['state']): boolean {
    this.clock = clock
    // Clients answer in order: what is older will not come any more.
    for (const made of this.#made.keys()) if (made < clock) this.#made.delete(made)
    if (this.#made.get(clock) === JSON.stringify(state)) return false
    this.state = state
    return true
  }

  /** The client will be told this as its own state. */
  madeUp(clock: number, text: string): void {
    this.#made.set(clock, text)
    if (this.#made.size <= madeMax) return
    for (const oldest of this.#made.keys()) return void this.#made.delete(oldest)
  }
}

/** What a state says of its user. */
export function userIn(state: NonNullable<AwarenessEntry['state']>): Readonly<Record<string, unknown>> {
  const claimed = Object.hasOwn(state, 'user') ? state.user : undefined
  const isObject = typeof claimed === 'object' && claimed !== null && !Array.isArray(claimed)
  return isObject ? (claimed as Record<string, unknown>) : {}
}
