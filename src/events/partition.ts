import type { Job, Key, KvEntry, KvRange } from '../engine/engine.ts'

/** Reads an organization's partition. */
export interface PartitionReader {
  /** Returns the records at `keys`, in their order; null if a record does not exist. */
  getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]>
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/** Writes as part of a transaction: all or nothing, and only if the values that were read are unchanged. */
export interface PartitionWriter extends PartitionReader {
  put(key: Key, record: object): void
  delete(key: Key): void
  /** Enqueues a job with the commit. */
  enqueue(job: Job): void
}

/** Decodes the value of an entry. The key determines its type. */
export const storedIn = ({ value }: KvEntry): unknown =>
  JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString())
