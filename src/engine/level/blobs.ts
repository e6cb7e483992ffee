import type { Blobs, Key } from '../engine.ts'
import type { Gate } from '../gate.ts'
import { decodeKey, encodeKey, keyRange } from '../keys.ts'
import { named } from '../named-damage.ts'
import type { GroupCommit } from './commit.ts'
import type { Disk } from './disk.ts'
import { sealed, unseal } from './records.ts'
import { inSpace, spaces } from './spaces.ts'

const blobKey = (key: Key): Buffer => inSpace(spaces.blobs, encodeKey(key))

export class LevelBlobs implements Blobs {
  readonly #gate: Gate
  readonly #disk: Disk
  readonly #commit: GroupCommit

  constructor({ gate, disk, commit }: { gate: Gate; disk: Disk; commit: GroupCommit }) {
    this.#gate = gate
    this.#disk = disk
    this.#commit = commit
  }

  put(key: Key, bytes: Uint8Array): Promise<void> {
    return this.#gate.run(async () => {
      this.#commit.admit()
      const at = blobKey(key)
      this.#commit.put(at, sealed(at, bytes))
      await this.#commit.durable()
    })
  }

  get(key: Key): Promise<Uint8Array | null> {
    const read = async () => {
      const at = blobKey(key)
      const value = await this.#disk.read((store) => store.get(at))
      return value === undefined ? null : unseal(at, value)
    }
    return this.#gate.run(() => named('blob', key, read))
  }

  delete(key: Key): Promise<void> {
    return this.#gate.run(async () => {
      this.#commit.admit()
      this.#commit.delete(blobKey(key))
      await this.#commit.durable()
    })
  }

  list(prefix: Key, { after, limit }: { after?: Key; limit: number }): Promise<readonly Key[]> {
    return this.#gate.run(async () => {
      const range = keyRange(spaces.blobs, { prefix, after })
      return this.#disk.read(async (store) => {
        const found: Key[] = []
        if (limit <= 0) return found
        for await (const page of store.pages(range, { limit, values: false })) {
          for (const [key] of page) found.push(decodeKey(key.subarray(spaces.blobs.length)))
        }
        return found
      })
    })
  }
}
