/**
 * Number of topics whose last number is cached. An evicted topic causes one unnecessary loss notification.
 */
const topicsMax = 100_000
/** Number of publishers that are remembered for each topic: each start of a node is one. */
const publishersMax = 1000

function remember<K, V>(map: Map<K, V>, key: K, value: V, countMax: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.size > countMax ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}

/** The sequence numbers of one publisher. */
export class SequenceCounter {
  #number = 0
  readonly #last = new Map<string, number>()

  /** Also counts a message that is not sent afterwards, so that its absence is detected. */
  next(topic: string): { readonly number: number; readonly previous: number } {
    const previous = this.#last.get(topic) ?? 0
    this.#number += 1
    remember(this.#last, topic, this.#number, topicsMax)
    return { number: this.#number, previous }
  }
}

/** The sequence numbers that were received on one topic. */
export class SequenceTracker {
  readonly #last = new Map<string, number>()

  /**
   * Returns false if a message of this publisher is missing before this one. Messages before the first one
   * are unknown.
   */
  follows(publisher: string, number: number, previous: number): boolean {
    const last = this.#last.get(publisher)
    if (last !== undefined && number <= last) return true
    remember(this.#last, publisher, number, publishersMax)
    return last === undefined || previous === last
  }
}
