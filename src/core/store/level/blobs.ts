import type { Blobs, Key } from '../engine.ts'
import { decodeKey, encodeKey, keyRange } from '../key-encoding.ts'
import type { OpenCalls } from '../open-calls.ts'
import { inKeyspace, keyspaces } from '../pairs/keyspaces.ts'
import { addChecksum, checkChecksum } from '../pairs/record-codec.ts'
import { withRecordName } from '../stored-record.ts'
import type { GroupCommit } from './store/group-commit.ts'
import type { ReopeningStore } from './store/reopening-store.ts'

const blobKey = (key: Key): Buffer => inKeyspace(keyspaces.blobs, encodeKey(key))

export class LevelBlobs implements Blobs {
  readonly #gate: OpenCalls
  readonly #disk: ReopeningStore
  readonly #commit: GroupCommit

  constructor({ gate, disk, commit }: { gate: OpenCalls; disk: ReopeningStore; commit: GroupCommit }) {
    this.#gate = gate
    this.#disk = disk
    this.#commit = commit
  }

  put(key: Key, bytes: Uint8Array): Promise<void> {
    return this.#gate.run(async () => {
      this.#commit.admit()
      const at = blobKey(key)
      this.#commit.put(at, addChecksum(at, bytes))
      await this.#commit.durable()
    })
  }

  get(key: Key): Promise<Uint8Array | null> {
    const read = async () => {
      const at = blobKey(key)
      const value = await this.#disk.read((store) => store.get(at))
      return value === undefined ? null : checkChecksum(at, value)
    }
    return this.#gate.run(() => withRecordName('blob', key, read))
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
      const range = keyRange(keyspaces.blobs, { prefix, after })
      return this.#disk.read(async (store) => {
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
