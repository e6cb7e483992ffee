import type { StoredPage } from '../../core/store/engine.ts'
import { chunkName } from './manifest.ts'
import type { ObjectSealer } from './object-sealer.ts'
import type { ObjectStore } from './object-store.ts'
import { decodePairsInSlices } from './pair-slices.ts'

export type ObjectProblem = 'missing' | 'truncated' | 'changed'

type ChunkRead =
  | { readonly state: 'sound'; readonly pairs: StoredPage; readonly storedBytes: number }
  | { readonly state: 'damaged'; readonly problem: ObjectProblem }

/** Limits of the chunks that are read or written at the same time. */
export const chunkLimits = { countMax: 4, bytesMax: 16 * 2 ** 20 } as const

/** The chunks of a repository, by their digest. */
export class ChunkObjects {
  readonly #store: ObjectStore
  readonly #sealer: ObjectSealer

  constructor(store: ObjectStore, sealer: ObjectSealer) {
    this.#store = store
    this.#sealer = sealer
  }

  /**
   * Reads and checks a chunk. Its content is correct only if it has the digest.
   * @param storedBytes size of the object when it was written; 0 if unknown
   * @throws StorageError if the store cannot be used
   */
  async read(digest: string, storedBytes: number): Promise<ChunkRead> {
    const name = chunkName(digest)
    const bytes = await this.#store.get(name)
    if (bytes === null) return { state: 'damaged', problem: 'missing' }
    const content = await this.#sealer.unseal(name, bytes)
    if (content === null || (await this.#sealer.digestOf(content)) !== digest)
      return { state: 'damaged', problem: bytes.length < storedBytes ? 'truncated' : 'changed' }
    return { state: 'sound', pairs: await decodePairsInSlices(content), storedBytes: bytes.length }
  }

  /** Writes a chunk. Returns the size of the object. @throws StorageError */
  async write(digest: string, content: Uint8Array): Promise<number> {
    const name = chunkName(digest)
    const bytes = await this.#sealer.seal(name, content)
    await this.#store.put(name, bytes)
    return bytes.length
  }
}
