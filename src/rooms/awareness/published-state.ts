import type { PublishedUser } from '../presence/document-presence.ts'
import { type ClientState, userOfState } from './client-state.ts'

/** What a client shows. Its text is made when it is sent: of states that follow each other fast only the last is. */
export class PublishedState {
  readonly clock: number
  readonly userId: string
  /** When everybody was told of it. */
  toldAt = 0
  #text: string | (() => string)

  constructor(clock: number, userId: string, text: string | (() => string)) {
    this.clock = clock
    this.userId = userId
    this.#text = text
  }

  /** JSON with the identity of the user stamped in. */
  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text()
    return this.#text
  }
}

/** Identity comes from the token, whatever the client says; colour and the like stay the client's. */
export function withTokenIdentity(state: ClientState['state'], user: PublishedUser): string {
  return JSON.stringify({ ...state, user: { ...userOfState(state), ...user } })
}
