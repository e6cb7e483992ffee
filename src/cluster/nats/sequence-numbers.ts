/**
 * Maximum number of topics whose last sequence number is kept. If a topic was evicted, its next message
 * causes one unnecessary loss notification.
 */
const topicsMax = 100_000
/** Maximum number of publishers that are kept for each topic. A node is a new publisher after each start. */
const publishersMax = 1000

function remember<K, V>(map: Map<K, V>, key: K, value: V, countMax: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.size > countMax ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}

/** Assigns the sequence numbers to the messages of one publisher. */
export class SequenceCounter {
  #number = 0
  readonly #last = new Map<string, number>()

  /**
   * Returns the numbers for the next message on a topic. Call this method even if the message is then not
   * sent, so that the receivers detect that it is lost.
   */
  next(topic: string): { readonly number: number; readonly previous: number } {
    const previous = this.#last.get(topic) ?? 0
    this.#number += 1
    remember(this.#last, topic, this.#number, topicsMax)
    return { number: this.#number, previous }
  }
}

/** Checks the sequence numbers of the messages that arrive on one topic, to detect lost messages. */
export class SequenceTracker {
  readonly #last = new Map<string, number>()

  /**
   * Returns false if messages of this publisher were lost between the last received message and this message.
   * Cannot detect losses before the first received message.
   */
  follows(publisher: string, number: number, previous: number): boolean {
    const last = this.#last.get(publisher)
    if (last !== undefined && number <= last) return true
    remember(this.#last, publisher, number, publishersMax)
    return last === undefined || previous === last
  }
}
