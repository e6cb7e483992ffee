/** Topics whose last number is remembered. Of one that is forgotten those who listen are told a loss too many. */
const topicsMax = 100_000
/** Publishers of a topic that are remembered: each start of a node is one. */
const publishersMax = 1000

function remember<K, V>(map: Map<K, V>, key: K, value: V, countMax: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.size > countMax ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}

/** The numbers of what one publisher says. */
export class SequenceCounter {
  #number = 0
  readonly #last = new Map<string, number>()

  /** Also of a message that is not sent after all: so that its absence is noticed. */
  next(topic: string): { readonly number: number; readonly previous: number } {
    const previous = this.#last.get(topic) ?? 0
    this.#number += 1
    remember(this.#last, topic, this.#number, topicsMax)
    return { number: this.#number, previous }
  }
}

/** The numbers that have been heard on one topic. */
export class SequenceTracker {
  readonly #last = new Map<string, number>()

  /** False where a message of this publisher is missing before this one. Of what was before the first nothing is known. */
  follows(publisher: string, number: number, previous: number): boolean {
    const last = this.#last.get(publisher)
    if (last !== undefined && number <= last) return true
    remember(this.#last, publisher, number, publishersMax)
    return last === undefined || previous === last
  }
}
