import { decodeRecord } from '../../directory/records.ts'
import type { Key, Kv } from '../../engine/engine.ts'
import { keyName } from '../../engine/keys.ts'
import { bytesOfCall, callKeys, type EndRecord, endOf } from './records.ts'

const pageMax = 1_000

interface Used {
  calls: number
  bytes: number
}

/** How much is remembered for each caller: counted once from what is stored, and then kept up to date in memory. */
export class Usage {
  readonly #kv: Kv
  readonly #max: Used
  readonly #used = new Map<string, Promise<Used>>()

  constructor(kv: Kv, max: Readonly<Used>) {
    this.#kv = kv
    this.#max = max
  }

  /** Takes the place of one call. Null when it is taken; else when the first place is free again, in epoch milliseconds. */
  async take(part: Key): Promise<number | null> {
    const used = await this.#usedBy(part)
    if (used.calls >= this.#max.calls || used.bytes + bytesOfCall > this.#max.bytes)
      return this.#firstEnd(part)
    used.calls += 1
    used.bytes += bytesOfCall
    return null
  }

  /** Takes the place of an answer. False when there is none, or it cannot be known: then the answer is not to be kept. */
  async takeBytes(part: Key, bytes: number): Promise<boolean> {
    const used = await this.#usedBy(part).catch(() => null)
    if (used === null || used.bytes + bytes > this.#max.bytes) return false
    used.bytes += bytes
    return true
  }

  /** What is remembered has become so much more, or less. */
  async add(part: Key, { calls, bytes }: Readonly<Used>): Promise<void> {
    const used = await this.#used.get(keyName(part))
    if (used === undefined) return
    used.calls = Math.max(0, used.calls + calls)
    used.bytes = Math.max(0, used.bytes + bytes)
  }

  #usedBy(part: Key): Promise<Used> {
    const name = keyName(part)
    const known = this.#used.get(name)
    if (known !== undefined) return known
    const counted = this.#count(part)
    this.#used.set(name, counted)
    // What could not be read is read again by the next call.
    counted.catch(() => this.#used.delete(name))
    return counted
  }

  async #count(part: Key): Promise<Used> {
    const used = { calls: 0, bytes: 0 }
    let after: Key | undefined
    do {
      const page = await this.#kv.scan(part, {
        prefix: callKeys.ends,
        limit: pageMax,
        ...(after && { after }),
      })
      used.calls += page.length
      for (const { value } of page) used.bytes += (decodeRecord(value) as EndRecord).bytes
      after = page.at(-1)?.key
    } while (after !== undefined)
    return used
  }

  async #firstEnd(part: Key): Promise<number> {
    const [first] = await this.#kv.scan(part, { prefix: callKeys.ends, limit: 1 })
    return first === undefined ? 0 : endOf(first.key)
  }
}
