import { createHash } from 'node:crypto'
import type { AwarenessEntry } from '../../update/awareness.ts'
import type { Member } from '../room/member.ts'

/** States of the server that a client may send back; beyond, the oldest count as the client's own. */
const serverStatesMax = 32

type State = NonNullable<AwarenessEntry['state']>

/**
 * The state that one client publishes. If the server adds something, it gives the state a later clock than the client
 * has, so that all clients accept it, also the client itself. The client then sends this state back, although it has
 * not changed anything.
 */
export class ClientState {
  readonly member: Member
  /** Stamp: when the member took the client id. */
  readonly since: number
  clock: number
  /** Null: the client shows nothing. */
  state: State | null = null
  /** Digests of the states that the server has set for the client, by clock; null: a removal. */
  readonly #serverStates = new Map<number, string | null>()

  constructor(member: Member, since: number, clock: number) {
    this.member = member
    this.since = since
    this.clock = clock
  }

  /** Takes the next state of the client; its clock must not be earlier than before. */
  take(clock: number, state: State): 'change' | 'echo' {
    this.clock = clock
    const isEcho = this.#isEcho(clock, state)
    // Clients answer in order, so no answer with an earlier clock can follow.
    for (const sent of this.#serverStates.keys()) if (sent < clock - 1) this.#serverStates.delete(sent)
    if (isEcho) return 'echo'
    this.state = state
    return 'change'
  }

  clear(clock: number): void {
    this.clock = clock
    this.state = null
    this.#serverStates.clear()
  }

  /** The client receives this as its own state. */
  addServerState(clock: number, text: string | null): void {
    this.#serverStates.set(clock, text === null ? null : digestOf(text))
    if (this.#serverStates.size <= serverStatesMax) return
    for (const oldest of this.#serverStates.keys()) return void this.#serverStates.delete(oldest)
  }

  /** A removed client answers with its present state, one clock later. */
  #isEcho(clock: number, state: State): boolean {
    if (this.#serverStates.size === 0) return false
    const digest = digestOf(JSON.stringify(state))
    if (this.#serverStates.get(clock) === digest) return true
    return this.#serverStates.get(clock - 1) === null && [...this.#serverStates.values()].includes(digest)
  }
}

/** Stands for a state, whose text may be long. */
const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** The `user` member of a state. */
export function userOfState(state: State): Readonly<Record<string, unknown>> {
  const claimed = Object.hasOwn(state, 'user') ? state.user : undefined
  const isObject = typeof claimed === 'object' && claimed !== null && !Array.isArray(claimed)
  return isObject ? (claimed as Record<string, unknown>) : {}
}
