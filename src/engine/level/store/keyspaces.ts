import { keyEnd } from '../../key-encoding.ts'

/** The first byte of every stored key: what kind of record it is. */
const space = (letter: string): Buffer => Buffer.from(letter, 'latin1')

export const keyspaces = {
  /** Format of the store, and the probe. */
  meta: space('m'),
  /** One a document: epoch, base, whether it is deleted. */
  heads: space('h'),
  snapshots: space('s'),
  /** One an append: (document, number of its first update). */
  updates: space('u'),
  /** (partition, key). */
  kv: space('k'),
  /** (queue, id): jobs that wait or are leased. */
  jobs: space('q'),
  /** (queue, time, id): when jobs are due. */
  due: space('d'),
  /** (queue, id, lease): jobs put aside for good. */
  buried: space('x'),
  blobs: space('b'),
} as const

export const inKeyspace = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded])

const end = Buffer.of(keyEnd)

/** What lies under a whole key and under no longer one. */
export const under = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded, end])
