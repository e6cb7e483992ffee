import type { PublishedUser } from '../presence/document-presence.ts'
import type { ClientRecord } from '../presence/presence-records.ts'
import { userOfState } from './client-state.ts'

/**
 * The state of a client as the room shows it to its members. The text is built only when it is first read,
 * because only the last state in a broadcast window is sent.
 */
export class PublishedState {
  readonly clock: number
  readonly userId: string
  /**
   * The record of the node to which the client is connected; null for a client of this node, and for a
   * virtual user.
   */
  readonly remote: ClientRecord | null
  /** Time of the last broadcast to all members, in milliseconds of the caller's clock. */
  readonly sentAt: number
  #text: string | (() => string)

  /** @param sentAt see `sentAt` */
  constructor(
    clock: number,
    userId: string,
    text: string | (() => string),
    sentAt: number,
    remote: ClientRecord | null = null,
  ) {
    this.clock = clock
    this.userId = userId
    this.#text = text
    this.sentAt = sentAt
    this.remote = remote
  }

  /** Returns the same state with the next clock. */
  renewed(sentAt = this.sentAt): PublishedState {
    return new PublishedState(this.clock + 1, this.userId, () => this.text, sentAt, this.remote)
  }

  /** JSON of the state, with the identity of the user from the token. */
  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text()
    return this.#text
  }
}

/**
 * Returns the JSON of a state in which the identity from the token replaces the identity that the client
 * claims. The color and all other members stay as the client has published them.
 */
export function withTokenIdentity(state: Readonly<Record<string, unknown>>, user: PublishedUser): string {
  return JSON.stringify({ ...state, user: { ...userOfState(state), ...user } })
}
