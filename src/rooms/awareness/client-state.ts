import type { AwarenessEntry } from '../../update/awareness.ts'
import { requestRenewal } from '../farewell.ts'
import type { Member } from '../room/member.ts'

/** States that the server has made up and a client may send back; of more, the oldest are taken for the client's own. */
const madeMax = 32

/**
 * What one client says of itself. Where the server adds something it gives the state a later clock than the client
 * has, so that everybody takes it over, the client too, which then sends it back: that says nothing new.
 */
export class ClientState {
  readonly member: Member
  clock: number
  state: Readonly<Record<string, unknown>>
  /** By their clocks, the states that the client has not chosen itself; null: it was told that it shows nothing. */
  readonly #made = new Map<number, string | null>()
  /** Under this clock the client was asked what it shows. */
  #askedAt = -1

  constructor(member: Member, clock: number, state: ClientState['state']) {
    this.member = member
    this.clock = clock
    this.state = state
  }

  /** Takes what the client says next; its clock must not be earlier than before. */
  take(clock: number, state: ClientState['state']): 'news' | 'answer' {
    this.clock = clock
    const isAnswer = this.#isAnswer(clock, state)
    // Clients answer in order: what is older will not come any more.
    for (const made of this.#made.keys()) if (made < clock - 1) this.#made.delete(made)
    if (isAnswer) return 'answer'
    this.state = state
    return 'news'
  }

  /**
   * Asks the client what it shows, once, however often it says what is too early.
   * @param told as of `requestRenewal`
   * @returns has it been asked?
   */
  askAnew(clientId: number, told: number): boolean {
    if (told >= this.#askedAt) this.#askedAt = requestRenewal(this.member, clientId, told) ?? -1
    return this.#askedAt > told
  }

  /** The client will be told this as its own state. */
  madeUp(clock: number, text: string | null): void {
    this.#made.set(clock, text)
    if (this.#made.size <= madeMax) return
    for (const oldest of this.#made.keys()) return void this.#made.delete(oldest)
  }

  /** A client that is told that it shows nothing answers with what it has, one clock later. */
  #isAnswer(clock: number, state: ClientState['state']): boolean {
    if (this.#made.size === 0) return false
    const text = JSON.stringify(state)
    if (this.#made.get(clock) === text) return true
    return this.#made.get(clock - 1) === null && [...this.#made.values()].includes(text)
  }
}

/** What a state says of its user. */
export function userOfState(state: NonNullable<AwarenessEntry['state']>): Readonly<Record<string, unknown>> {
  const claimed = Object.hasOwn(state, 'user') ? state.user : undefined
  const isObject = typeof claimed === 'object' && claimed !== null && !Array.isArray(claimed)
  return isObject ? (claimed as Record<string, unknown>) : {}
}
