import { keyEnd } from '../../key-encoding.ts'

/** The first byte of every stored key: the kind of the record. */
const space = (letter: string): Buffer => Buffer.from(letter, 'latin1')

export const keyspaces = {
  /** Format of the store, and the probe of a reopened store. */
  meta: space('m'),
  /** One for each document: epoch, base, whether it is deleted. */
  heads: space('h'),
  snapshots: space('s'),
  /** One for each append: (document, number of its first update). */
  updates: space('u'),
  /** (partition, key). */
  kv: space('k'),
  /** (queue, id): jobs that wait or are leased. */
  jobs: space('q'),
  /** (queue, time, id): due times of jobs. */
  due: space('d'),
  /** (queue, id, lease): dead letters. */
  deadLetters: space('x'),
  blobs: space('b'),
} as const

export const inKeyspace = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded])

const end = Buffer.of(keyEnd)

/** Returns the prefix of the keys below a whole key; it excludes those below longer keys. */
export const under = (of: Buffer, encoded: Buffer): Buffer => Buffer.concat([of, encoded, end])
