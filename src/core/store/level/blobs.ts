import { withRecordName } from '../damaged-record.ts'
import type { Blobs, Key } from '../engine.ts'
import { decodeKey, encodeKey, keyRange } from '../key-encoding.ts'
import { inKeyspace, keyspaces } from '../pairs/keyspaces.ts'
import { addChecksum, checkChecksum } from '../pairs/record-codec.ts'
import type { LevelCore } from './store/level-core.ts'

const blobKey = (key: Key): Buffer => inKeyspace(keyspaces.blobs, encodeKey(key))

export class LevelBlobs implements Blobs {
  readonly #core: LevelCore

  constructor(core: LevelCore) {
    this.#core = core
  }

  put(key: Key, bytes: Uint8Array): Promise<void> {
    return this.#core.gate.run(async () => {
      this.#core.commit.admit()
      const at = blobKey(key)
      this.#core.commit.put(at, addChecksum(at, bytes))
      await this.#core.commit.durable()
    })
  }

  get(key: Key): Promise<Uint8Array | null> {
    const read = async () => {
      const at = blobKey(key)
      const value = await this.#core.disk.read((store) => store.get(at))
      return value === undefined ? null : checkChecksum(at, value)
    }
    return this.#core.gate.run(() => withRecordName('blob', key, read))
  }

  delete(key: Key): Promise<void> {
    return this.#core.gate.run(async () => {
      this.#core.commit.admit()
      this.#core.commit.delete(blobKey(key))
      await this.#core.commit.durable()
    })
  }

  list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return this.#core.gate.run(async () => {
      const range = keyRange(keyspaces.blobs, { prefix, after })
      return this.#core.disk.read(async (store) => {
        const found: Key[] = []
        if (limit <= 0) return found
        for await (const page of store.pages(range, { limit, values: false })) {
          for (const [key] of page) found.push(decodeKey(key.subarray(keyspaces.blobs.length)))
        }
        return found
      })
    })
  }
}
