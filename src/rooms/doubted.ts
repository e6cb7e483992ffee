import type { Member } from './room/member.ts'

/**
 * Members of which nobody knows who they are: they have said of a client of their user what others had been told of it.
 * Another connection's echo, or that client itself, come back before its old connection was noticed to be dead? When the
 * client has gone they are asked: who still shows it is it, and says so.
 */
export class Doubted {
  readonly #clientOf = new Map<Member, number>()
  readonly #asked = new WeakSet<Member>()

  /** @param isGone everybody has been told so already */
  note(member: Member, clientId: number, isGone: boolean): void {
    this.#clientOf.set(member, clientId)
    if (isGone && !this.#asked.has(member)) this.#ask(member)
  }

  /** It has said who it is, or has left. */
  forget(member: Member): void {
    this.#clientOf.delete(member)
  }

  /** @param gone clients of which everybody has just been told so */
  ask(gone: ReadonlySet<number>): void {
    for (const [member, clientId] of this.#clientOf) {
      if (!gone.has(clientId)) continue
      this.#clientOf.delete(member)
      this.#ask(member)
    }
  }

  #ask(member: Member): void {
    this.#asked.add(member)
    member.deliverAwareness(member.encoder.awarenessQuery, false)
  }
}
