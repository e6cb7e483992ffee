import { createHash } from 'node:crypto'
import type { StoredPage } from '../engine/engine.ts'

/** SHA-256 over pairs: the lengths (4 bytes each, big endian), key and value of each pair. */
export class PairSum {
  readonly #hash = createHash('sha256')
  readonly #lengths = Buffer.alloc(8)
  pairs = 0

  add(page: StoredPage): void {
    for (const [key, value] of page) {
      this.#lengths.writeUInt32BE(key.length, 0)
      this.#lengths.writeUInt32BE(value.length, 4)
      this.#hash.update(this.#lengths).update(key).update(value)
      this.pairs += 1
    }
  }

  /** Returns the sum as 64 hexadecimal digits. Nothing can be added afterwards. */
  end(): string {
    return this.#hash.digest('hex')
  }
}
