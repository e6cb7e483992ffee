import type { Clock } from '../../core/base/clock.ts'
import type { Engine, Key, Kv } from '../../core/store/engine.ts'
import { keyName } from '../../core/store/key-encoding.ts'
import { entryPages } from '../../core/store/pages.ts'
import { readRecord } from '../../core/store/stored-record.ts'
import { bytesOfCall, callKeys, expiryOf, expiryRecordType } from './call-records.ts'

const pageMax = 1_000

/** Time in ms after which a count is read again, if other processes can change it. */
const countedMs = 60_000
/** Maximum age in ms of a count that rejects a call. An older count is read again first. */
const refusingMs = 2_000

/** Maximum number of callers whose counts are kept. Beyond it, the oldest count is evicted, and read again when needed. */
export const countedCallersMax = 10_000

interface UsedBytes {
  calls: number
  bytes: number
}

/**
 * Number of stored calls and bytes of each caller. The numbers are read from the store, then maintained in
 * memory. They are read again only if other processes can change them.
 */
export class IdempotencyUsage {
  readonly #kv: Kv
  readonly #clock: Clock
  readonly #maxAgeMs: number
  readonly #max: UsedBytes
  readonly #used = new Map<string, { readonly used: Promise<UsedBytes>; readonly at: number }>()

  constructor({ kv, foreignChanges }: Engine, clock: Clock, max: Readonly<UsedBytes>) {
    this.#kv = kv
    this.#clock = clock
    this.#maxAgeMs = foreignChanges.maxAgeMs
    this.#max = max
  }

  /**
   * Reserves one call. Returns null on success. If a limit is reached, returns the earliest expiry of a
   * stored call, in epoch milliseconds.
   */
  async take(part: Key): Promise<number | null> {
    const isFull = ({ calls, bytes }: UsedBytes): boolean =>
      calls >= this.#max.calls || bytes + bytesOfCall > this.#max.bytes
    let used = await this.#usedBy(part)
    if (isFull(used)) used = await this.#usedBy(part, refusingMs)
    if (isFull(used)) return this.#firstEnd(part)
    used.calls += 1
    used.bytes += bytesOfCall
    return null
  }

  /**
   * Reserves bytes for a response. Returns false if a limit is reached, or if the usage is unknown: then the
   * response must not be stored.
   */
  async takeBytes(part: Key, bytes: number): Promise<boolean> {
    const used = await this.#usedBy(part).catch(() => null)
    if (used === null || used.bytes + bytes > this.#max.bytes) return false
    used.bytes += bytes
    return true
  }

  /** Adds to the counts of stored calls and bytes; negative values subtract. */
  async add(part: Key, { calls, bytes }: Readonly<UsedBytes>): Promise<void> {
    const used = await this.#used.get(keyName(part))?.used
    if (used === undefined) return
    used.calls = Math.max(0, used.calls + calls)
    used.bytes = Math.max(0, used.bytes + bytes)
  }

  #usedBy(part: Key, oldMs = countedMs): Promise<UsedBytes> {
    const name = keyName(part)
    const known = this.#used.get(name)
    const now = this.#clock.now()
    if (known !== undefined && now - known.at < Math.max(oldMs, this.#maxAgeMs)) return known.used
    const counted = { used: this.#count(part), at: now }
    this.#used.delete(name)
    this.#used.set(name, counted)
    const [oldest] = this.#used.keys()
    if (this.#used.size > countedCallersMax && oldest !== undefined) this.#used.delete(oldest)
    // After an error, the next call reads the counts again.
    counted.used.catch(() => this.#used.get(name) === counted && this.#used.delete(name))
    return counted.used
  }

  async #count(part: Key): Promise<UsedBytes> {
    const used = { calls: 0, bytes: 0 }
    const ends = { prefix: callKeys.ends, limit: pageMax }
    for await (const page of entryPages((range) => this.#kv.scan(part, range), ends)) {
      used.calls += page.length
      for (const entry of page) used.bytes += readRecord(expiryRecordType, entry).bytes
    }
    return used
  }

  async #firstEnd(part: Key): Promise<number> {
    const [first] = await this.#kv.scan(part, { prefix: callKeys.ends, limit: 1 })
    return first === undefined ? 0 : expiryOf(first.key)
  }
}
