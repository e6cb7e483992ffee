import { deletionsIn, type StructRun, writeUpdate } from '../../update/join-updates.ts'
import { pushVarUint } from '../../update/state-vector.ts'
import type { UpdateSummary } from '../../update/summary.ts'

/** Initial capacity of the buffer in bytes. */
const firstBytes = 1_024
/**
 * Number of entries in `#blocks` for each block: client, first clock, clock after the last item, number of
 * structs, start and end of the bytes.
 */
const blockNumbers = 6

/**
 * The updates of one document that wait to be applied, in one buffer instead of one object for each update.
 * The garbage collector would move each such object twice before its short life ends. The updates are applied
 * as one joined update: Yjs then needs a third of the time that it needs to apply the same keystrokes one by
 * one in one transaction.
 */
export class IncomingBuffer {
  #bytes: Buffer | null = null
  #used = 0
  #count = 0
  readonly #blocks: number[] = []
  /**
   * Number of clients with deletions, summed over the updates. `#deletions` has pairs of offsets: start and
   * end of the deleted ranges of each update in the bytes.
   */
  #deletingClients = 0
  readonly #deletions: number[] = []

  get count(): number {
    return this.#count
  }

  /**
   * Adds a copy of an update.
   * @param update an update that continues exactly at the end of the document and of the updates that were
   * added before (`isPlain`)
   */
  add(update: Uint8Array, { clients, structsEnd, deletes }: UpdateSummary): void {
    const start = this.#used
    this.#used += update.length
    this.#bytes = withRoom(this.#bytes, start, this.#used)
    this.#bytes.set(update, start)
    this.#count += 1
    for (const { client, from, to, structs, start: begin, end } of clients)
      this.#blocks.push(client, from, to, structs, start + begin, start + end)
    if (deletes === 0) return
    const deletions = deletionsIn(update, structsEnd)
    this.#deletingClients += deletions.clients
    this.#deletions.push(start + deletions.start, this.#used)
  }

  /** Returns all updates as one update. */
  joined(): Uint8Array {
    const bytes = this.#bytes ?? Buffer.alloc(0)
    const runs = new Map<number, StructRun>()
    for (let at = 0; at < this.#blocks.length; at += blockNumbers) {
      const [client = 0, from = 0, to = 0, structs = 0, start, end] = this.#blocks.slice(
        at,
        at + blockNumbers,
      )
      const run = runs.get(client) ?? { from, to, structs: 0, parts: [] }
      runs.set(client, run)
      run.to = to
      run.structs += structs
      run.parts.push(bytes.subarray(start, end))
    }
    return writeUpdate(runs, this.#joinedDeletions(bytes))
  }

  clear(): void {
    this.#bytes = null
    this.#used = 0
    this.#count = 0
    this.#blocks.length = 0
    this.#deletingClients = 0
    this.#deletions.length = 0
  }

  #joinedDeletions(bytes: Buffer): Uint8Array {
    const head: number[] = []
    pushVarUint(head, this.#deletingClients)
    const parts: Uint8Array[] = [Uint8Array.from(head)]
    for (let at = 0; at < this.#deletions.length; at += 2)
      parts.push(bytes.subarray(this.#deletions[at], this.#deletions[at + 1]))
    return Buffer.concat(parts)
  }
}

/** Returns a buffer with the first `used` bytes of `bytes` and a capacity of at least `end`. */
function withRoom(bytes: Buffer | null, used: number, end: number): Buffer {
  if (bytes !== null && bytes.length >= end) return bytes
  // `allocUnsafeSlow` does not use the shared pool of Node: a slice of the pool would keep the whole pool in
  // memory.
  const larger = Buffer.allocUnsafeSlow(Math.max(firstBytes, used * 2, end))
  if (bytes !== null) larger.set(bytes.subarray(0, used))
  return larger
}
