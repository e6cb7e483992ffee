import type { PublishedUser } from '../presence/document-presence.ts'
import type { ClientRecord } from '../presence/presence-records.ts'
import { userOfState } from './client-state.ts'

/** The state that a room shows of a client. Its text is built when it is sent: a window sends only the last state. */
export class PublishedState {
  readonly clock: number
  readonly userId: string
  /** The record of the node that has the client; null: it is a client here, or a virtual user. */
  readonly remote: ClientRecord | null
  #text: string | (() => string)

  constructor(
    clock: number,
    userId: string,
    text: string | (() => string),
    remote: ClientRecord | null = null,
  ) {
    this.clock = clock
    this.userId = userId
    this.#text = text
    this.remote = remote
  }

  /** JSON with the identity of the user stamped in. */
  get text(): string {
    if (typeof this.#text !== 'string') this.#text = this.#text()
    return this.#text
  }
}

/** Identity comes from the token. The color and other members stay as the client publishes them. */
export function withTokenIdentity(state: Readonly<Record<string, unknown>>, user: PublishedUser): string {
  return JSON.stringify({ ...state, user: { ...userOfState(state), ...user } })
}
