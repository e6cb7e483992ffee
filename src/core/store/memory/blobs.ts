import type { Blobs, Key } from '../engine.ts'
import { decodeKey, encodeKey, keyRange } from '../key-encoding.ts'
import type { OpenCalls } from '../open-calls.ts'
import { SortedMap } from '../sorted-map.ts'

const noSpace = Buffer.alloc(0)

export class MemoryBlobs implements Blobs {
  readonly #gate: OpenCalls
  readonly #blobs = new SortedMap<Uint8Array>()

  constructor(gate: OpenCalls) {
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

  storedBytes(prefixes: readonly Key[]): number {
    let sum = 0
    for (const prefix of prefixes)
      for (const [key, bytes] of this.#blobs.range(keyRange(noSpace, { prefix })))
        sum += key.length + bytes.length
    return sum
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
