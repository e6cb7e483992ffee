import type { Blobs, Key } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { decodeKey, encodeKey, keyRange } from '../keys.ts'
import { SortedMap } from './sorted.ts'

const noSpace = Buffer.alloc(0)

export class MemoryBlobs implements Blobs {
  readonly #gate: Gate
  readonly #blobs = new SortedMap<Uint8Array>()

  constructor(gate: Gate) {
    this.#gate = gate
  }

  async put(key: Key, bytes: Uint8Array): Promise<void> {
    this.#gate.pass()
    this.#blobs.set(encodeKey(key), new Uint8Array(bytes))
  }

  async get(key: Key): Promise<Uint8Array | null> {
    this.#gate.pass()
    return this.#blobs.get(encodeKey(key)) ?? null
  }

  async delete(key: Key): Promise<void> {
    this.#gate.pass()
    this.#blobs.delete(encodeKey(key))
  }

  async list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    this.#gate.pass()
    const keys: Key[] = []
    for (const [key] of this.#blobs.range(keyRange(noSpace, { prefix, after }))) {
      if (keys.length >= limit) break
      keys.push(decodeKey(key))
    }
    return keys
  }
}
