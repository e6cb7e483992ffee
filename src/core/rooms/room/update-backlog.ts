import type { MemoryClaim } from '../../quota/memory-account.ts'
import type { ClientChange, Member } from '../updates/change.ts'
import { memoryOfUpdate } from '../updates/pending-updates.ts'

/**
 * Maximum bytes of memory that the waiting updates of a sender take while its socket is read. Above this
 * number, the socket is no longer read.
 */
const readBytesMax = 65_536

interface Sender {
  readonly claim: MemoryClaim
  bytes: number
  isPaused: boolean
}

/**
 * Counts the memory of the updates that a room cannot apply yet, by sender. If the updates of a sender take
 * too many bytes, its socket is not read until they are applied. If the updates of all senders take too much
 * memory, the sender with the most bytes is disconnected.
 */
export class UpdateBacklog {
  readonly #open: (from: Member) => MemoryClaim
  /** The senders with waiting updates; null while no update waits. */
  #senders: Map<Member, Sender> | null = null

  /**
   * @param open opens the memory claim of a sender. The backlog releases the claim when no update of the
   * sender waits any more.
   */
  constructor(open: (from: Member) => MemoryClaim) {
    this.#open = open
  }

  get isEmpty(): boolean {
    return this.#senders === null
  }

  has(from: Member): boolean {
    return this.#senders?.has(from) ?? false
  }

  /** Counts one more waiting update. */
  add(incoming: ClientChange): void {
    const sender = this.#senderOf(incoming.from)
    sender.bytes += memoryOfUpdate(incoming)
    this.#count(incoming.from, sender)
  }

  /** Replaces all counts: afterwards, exactly the updates in `waiting` are counted. */
  set(waiting: readonly ClientChange[]): void {
    if (this.#senders === null && waiting.length === 0) return
    for (const sender of this.#senders?.values() ?? []) sender.bytes = 0
    for (const incoming of waiting) this.#senderOf(incoming.from).bytes += memoryOfUpdate(incoming)
    const rested = this.#takeRested()
    for (const [from, sender] of this.#senders ?? []) this.#count(from, sender)
    // This must be the last step: a sender that is read again may have more updates in its read buffer, and
    // these are counted immediately.
    for (const [from, { isPaused }] of rested) if (isPaused) from.resumeReading?.()
  }

  /** Stops counting the updates of a sender, because they are dropped. */
  forget(from: Member): void {
    this.#senders?.get(from)?.claim.release()
    this.#senders?.delete(from)
    if (this.#senders?.size === 0) this.#senders = null
  }

  /**
   * Reduces the claims of senders whose updates take fewer bytes than before. Removes and returns the senders
   * without waiting updates.
   */
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
