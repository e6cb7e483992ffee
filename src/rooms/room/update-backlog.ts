import type { MemoryClaim } from '../../quota/memory-account.ts'
import type { Member } from './member.ts'
import { type IncomingUpdate, memoryOfUpdate } from './pending-updates.ts'

/** Bytes of waiting updates from which the socket of their sender is not read. */
const readBytesMax = 65_536

interface Sender {
  readonly claim: MemoryClaim
  bytes: number
  isPaused: boolean
}

/**
 * Counts the updates that a room cannot apply yet, by sender. The socket of a sender with many of them is not read
 * until they are applied. When all of them take too much memory, the sender that keeps the most is ended.
 */
export class UpdateBacklog {
  readonly #open: (from: Member) => MemoryClaim
  /** Null while nothing waits. */
  #senders: Map<Member, Sender> | null = null

  /** @param open opens the claim of a sender, which is ended by a call of `forget` */
  constructor(open: (from: Member) => MemoryClaim) {
    this.#open = open
  }

  get isEmpty(): boolean {
    return this.#senders === null
  }

  has(from: Member): boolean {
    return this.#senders?.has(from) ?? false
  }

  /** Counts one more update, which waits already. */
  add(incoming: IncomingUpdate): void {
    const sender = this.#senderOf(incoming.from)
    sender.bytes += memoryOfUpdate(incoming)
    this.#count(incoming.from, sender)
  }

  /** Replaces all counts: these updates wait, and no others. */
  set(waiting: readonly IncomingUpdate[]): void {
    if (this.#senders === null && waiting.length === 0) return
    for (const sender of this.#senders?.values() ?? []) sender.bytes = 0
    for (const incoming of waiting) this.#senderOf(incoming.from).bytes += memoryOfUpdate(incoming)
    const rested = this.#takeRested()
    for (const [from, sender] of this.#senders ?? []) this.#count(from, sender)
    // Last: a sender may have more that was read already, and waits here again.
    for (const [from, { isPaused }] of rested) if (isPaused) from.resumeReading?.()
  }

  /** Stops counting the updates of a sender, because they are dropped. */
  forget(from: Member): void {
    this.#senders?.get(from)?.claim.release()
    this.#senders?.delete(from)
    if (this.#senders?.size === 0) this.#senders = null
  }

  /** Releases the memory of senders without waiting updates, and of those with less than before. */
  #takeRested(): readonly (readonly [Member, Sender])[] {
    const rested: (readonly [Member, Sender])[] = []
    for (const [from, sender] of this.#senders ?? []) {
      if (sender.bytes < sender.claim.bytes) sender.claim.set(sender.bytes)
      if (sender.bytes > 0) continue
      rested.push([from, sender])
      this.forget(from)
    }
    return rested
  }

  #senderOf(from: Member): Sender {
    this.#senders ??= new Map()
    const sender = this.#senders.get(from) ?? { claim: this.#open(from), bytes: 0, isPaused: false }
    this.#senders.set(from, sender)
    return sender
  }

  #count(from: Member, sender: Sender): void {
    if (!sender.isPaused && sender.bytes > readBytesMax) {
      sender.isPaused = true
      from.pauseReading?.()
    }
    sender.claim.set(sender.bytes)
  }
}
