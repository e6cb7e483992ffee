import { keyEnd } from '../key-encoding.ts'

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
