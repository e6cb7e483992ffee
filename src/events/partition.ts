import type { Job, Key, KvEntry, KvRange } from '../engine/engine.ts'

/** Reads an organization's partition. */
export interface PartitionReader {
  /** The records at `keys`, in their order; null where there is none. */
  getAll<R extends object>(keys: readonly Key[]): Promise<readonly (R | null)[]>
  scan(range: KvRange): Promise<readonly KvEntry[]>
}

/** Writes with the transaction of which this is a part: all or nothing, and only if what was read is the same. */
export interface PartitionWriter extends PartitionReader {
  put(key: Key, record: object): void
  delete(key: Key): void
  /** Enqueues a job with the commit. */
  enqueue(job: Job): void
}

/** What is stored at an entry; the caller knows the kind by the key. */
export const storedIn = ({ value }: KvEntry): unknown =>
  JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString())
