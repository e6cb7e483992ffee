import type { UnreadFrames } from '../socket/unread-socket.ts'
import type { EncodedMessage } from './encoded-messages.ts'

/**
 * The messages to one client that the client has not acknowledged, in their order. The first message of a session
 * has the number 1.
 */
export class EventQueue {
  readonly #messages: EncodedMessage[] = []
  #acknowledged = 0
  #bytes = 0

  /** Number of the last message. */
  get last(): number {
    return this.#acknowledged + this.#messages.length
  }

  /** Number of the last message that the client has acknowledged. */
  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Number of bytes that are not acknowledged. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds messages, and counts their memory. */
  add(messages: readonly EncodedMessage[], memory: UnreadFrames): void {
    for (const message of messages) {
      this.#messages.push(message)
      this.#bytes += message.length
      memory.add(message)
    }
    memory.update(this.#bytes)
  }

  /**
   * Returns a message that is not acknowledged.
   * @param number from `acknowledged + 1` to `last`
   */
  at(number: number): EncodedMessage {
    return this.#messages[number - this.#acknowledged - 1] as EncodedMessage
  }

  /** Removes the messages up to `position`. Returns false if there is nothing to remove. */
  acknowledge(position: number, memory: UnreadFrames): boolean {
    if (position <= this.#acknowledged || position > this.last) return false
    const removed = this.#messages.splice(0, position - this.#acknowledged)
    this.#acknowledged = position
    for (const { length } of removed) this.#bytes -= length
    memory.update(this.#bytes)
    return true
  }

  /** Removes all messages, and releases their memory. */
  clear(memory: UnreadFrames): void {
    this.acknowledge(this.last, memory)
  }
}
