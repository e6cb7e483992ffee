import { createHash } from 'node:crypto'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { StoredPage } from '../../core/store/engine.ts'
import { pageParts, sliceMax } from './pair-slices.ts'
import { encodePairs } from './storage/backup-file.ts'

/** SHA-256 over pairs: the lengths (4 bytes each, big endian), key and value of each pair. */
export class PairSum {
  readonly #hash = createHash('sha256')
  pairs = 0

  /** Adds pairs in slices, each in one tick. One call at a time is possible. */
  async add(page: StoredPage): Promise<void> {
    for (const part of pageParts(page)) await this.#addBytes(encodePairs(part))
    this.pairs += page.length
  }

  /** Returns the sum as 64 hexadecimal digits. Nothing can be added afterwards. */
  end(): string {
    return this.#hash.digest('hex')
  }

  async #addBytes(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; at += sliceMax.bytes) {
      this.#hash.update(bytes.subarray(at, at + sliceMax.bytes))
      await nextTick()
    }
  }
}
