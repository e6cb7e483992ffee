import { crc32 } from 'node:zlib'
import { type ByteRange, keyEnd, rangeOf, writeNumber } from '../key-encoding.ts'
import { attributionNumber } from '../log-state.ts'

/** Returns the first byte of all keys under which records of one kind are stored. */
const space = (letter: string): Buffer => Buffer.from(letter, 'latin1')

export const keyspaces = {
  /** Format of the store. Also contains the key under which a reopened store writes a test value. */
  meta: space('m'),
  /** Heads: one record for each document with its epoch, its snapshots, and whether it is deleted. */
  heads: space('h'),
  snapshots: space('s'),
  /**
   * One record for each append. Key: the document and the sequence number of the first update of the append.
   */
  updates: space('u'),
  /** Values of the Kv. Key: partition, key. */
  kv: space('k'),
  /** Jobs that wait or are leased. Key: queue, id. */
  jobs: space('q'),
  /** Due times of jobs. Key: queue, time, id. */
  due: space('d'),
  /** Dead letters. Key: queue, id, lease. */
  deadLetters: space('x'),
  blobs: space('b'),
} as const

/** The kinds of records of which a log consists. */
export const logSpaces: readonly Buffer[] = [keyspaces.heads, keyspaces.snapshots, keyspaces.updates]

export const inKeyspace = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded])

const end = Buffer.of(keyEnd)

/**
 * Returns the prefix of all keys whose first part is exactly `encoded`. A key whose first part merely starts
 * with `encoded` does not have this prefix.
 */
export const under = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded, end])

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
