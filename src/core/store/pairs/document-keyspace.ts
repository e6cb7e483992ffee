import { crc32 } from 'node:zlib'
import { type ByteRange, rangeOf, writeNumber } from '../key-encoding.ts'
import { attributionNumber } from '../snapshot-list.ts'
import { inKeyspace, keyspaces, under } from './keyspaces.ts'

/** The keys under which one document is stored. */
export class DocumentKeyspace {
  /**
   * Prefix of the keys of the updates. The key of an append consists of this prefix and the number of its
   * first update.
   */
  readonly updates: Buffer
  /** CRC-32 of the prefix `updates`, with which the checksums of updates start. */
  readonly updatesCrc: number

  /** @param encoded the key of the document, as `encodeKey` returns it */
  constructor(encoded: Buffer) {
    const updates = under(keyspaces.updates, encoded)
    // This buffer lives long. If it were a slice of the shared pool, the 8 KB of the pool would stay
    // allocated as long as the buffer.
    this.updates = Buffer.allocUnsafeSlow(updates.length)
    this.updates.set(updates)
    this.updatesCrc = crc32(this.updates)
  }

  get head(): Buffer {
    return inKeyspace(keyspaces.heads, this.#encoded)
  }

  /** Key ranges that contain all stored data of the document except its head. */
  get ranges(): readonly ByteRange[] {
    return [rangeOf(this.updates), rangeOf(this.#snapshots)]
  }

  get #snapshots(): Buffer {
    return under(keyspaces.snapshots, this.#encoded)
  }

  get #encoded(): Buffer {
    return this.updates.subarray(keyspaces.updates.length, -1)
  }

  update(first: number): Buffer {
    return numberedKey(this.updates, first)
  }

  /** Returns the key of the attribution of the entries that the newest snapshot covers. */
  get attribution(): Buffer {
    return this.snapshot(attributionNumber)
  }

  /** Returns the key of the snapshot that covers everything up to `seq`. */
  snapshot(seq: number): Buffer {
    return numberedKey(this.#snapshots, seq)
  }
}

function numberedKey(of: Buffer, number: number): Buffer {
  const key = Buffer.allocUnsafe(of.length + 8)
  key.set(of)
  writeNumber(key, number, of.length)
  return key
}
