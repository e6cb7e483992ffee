import type { Member } from '../../rooms/room/member.ts'
import type { Room } from '../../rooms/room/room.ts'

/** How a client comes: what it is told first of the others, and what it says to that. */
export class SessionHandshake {
  readonly #room: Room
  readonly #member: Member
  /** Has it answered what we have? */
  hasOffered = false
  /** Had it something of the document when it came? */
  #wasHere = false

  constructor(room: Room, member: Member) {
    this.#room = room
    this.#member = member
  }

  /** Before anything is asked for. Messages of awareness, and a question where the client does not tell back by itself. */
  say(tell: (frame: Uint8Array) => void): void {
    const { encoder } = this.#member
    for (const message of this.#room.awareness.greet(this.#member)) tell(encoder.awareness(message))
    if (!encoder.tellsBack) tell(encoder.awarenessQuery)
  }

  /** It says what it has, of so many authors. */
  has(authors: number): void {
    if (!this.hasOffered) this.#wasHere ||= authors > 0
  }

  /** Clients answer in order: it has told back of the others what it wants to. */
  offered(): void {
    this.hasOffered = true
    this.#room.awareness.answered(this.#member, this.#wasHere)
  }
}
