import { MalformedUpdate } from './malformed.ts'

/**
 * Values that Yjs may copy while it joins the neighbouring runs of values of one update into one. It keeps every
 * copy until the transaction ends, so 40,000 single values in a row (240 KB) exhaust the memory of a process. A
 * client's own Yjs has joined them before it sends. Allows 6,300 single values in a row.
 */
export const joinedValuesMax = 20_000_000

/** Counts what joining will copy. Yjs joins a run with the one before if that is its origin, from the last to the first. */
export class ValueRow {
  #kind = 0
  #client = -1
  #end = -1
  #runs = 0
  #copied = 0

  /**
   * @param kind of content
   * @param follows whether the origin is the element just before
   * @throws MalformedUpdate when it becomes too much
   */
  add(kind: number, client: number, clock: number, length: number, follows: boolean): void {
    const joins = follows && clock === this.#end && client === this.#client && kind === this.#kind
    if (joins) this.#copied += this.#runs * length
    if (this.#copied > joinedValuesMax) throw new MalformedUpdate('too many single values in a row')
    this.#runs = joins ? this.#runs + 1 : 1
    this.#kind = kind
    this.#client = client
    this.#end = clock + length
  }
}
